"""An announcement as a row: its version, what it came by, and when it is over for good.

Values and their way into the table and back; asking and changing is `announcements`' alone.
"""

import json
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import to_json
from sqlalchemy import Row

from forecaster.announcements.announcement import Announcement
from forecaster.announcements.recurrence import MOST_TIMES

_CENTURY_SECONDS = 100 * 366 * 86_400


class AnnouncementStanding(StrEnum):
    """Whether an announcement was called off."""

    ACTIVE = "active"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class KeptAnnouncement:
    """An announcement as it is kept.

    Attributes:
        announcement: what was announced.
        version: 1 at first, one more with each change; what If-Match is held against.
        source: what it came by: `person`, a calendar, the cluster.
        ends_seconds: Unix time at which it is over for good; None if it recurs without an end.
    """

    announcement: Announcement
    version: int
    source: str
    ends_seconds: int | None

    @classmethod
    def of(cls, announcement: Announcement, source: str, version: int = 1) -> "KeptAnnouncement":
        """An announcement that is to be kept."""
        return cls(announcement, version, source, ends_seconds(announcement))

    @property
    def standing(self) -> AnnouncementStanding:
        """Whether it was called off."""
        if self.announcement.cancelled_seconds is None:
            return AnnouncementStanding.ACTIVE
        return AnnouncementStanding.CANCELLED

    def is_active(self, now_seconds: int) -> bool:
        """Whether it has not been called off and is not over for good."""
        over = self.ends_seconds is not None and self.ends_seconds <= now_seconds
        return self.standing is AnnouncementStanding.ACTIVE and not over

    def says(self, announcement: Announcement) -> bool:
        """Whether it says just that, whenever it was said."""
        own = self.announcement
        return replace(announcement, announced_seconds=own.announced_seconds) == own


def ends_seconds(announcement: Announcement) -> int | None:
    """When an announcement is over for good; None where it recurs without an end in sight."""
    natural = _natural_end_seconds(announcement)
    called_off = announcement.cancelled_seconds
    if called_off is None or natural is None:
        return natural if called_off is None else called_off
    return min(natural, called_off)


def row_of(kept: KeptAnnouncement) -> dict[str, object]:
    """The columns of an announcement."""
    one = kept.announcement
    return {
        "identifier": one.identifier,
        "pool": one.pool,
        "standing": kept.standing.value,
        "source": kept.source,
        "owner": one.owner,
        "begins_seconds": one.start_seconds,
        "ends_seconds": kept.ends_seconds,
        "made_seconds": one.announced_seconds,
        "version": kept.version,
        "document": json.loads(to_json(one)),
    }


def kept_in(row: Row[Any]) -> KeptAnnouncement:
    """The announcement of a row."""
    said = _adapter().validate_python(row.document)
    return KeptAnnouncement(said, row.version, row.source, row.ends_seconds)


@cache
def _adapter() -> TypeAdapter[Announcement]:
    return TypeAdapter(Announcement)


def _natural_end_seconds(one: Announcement) -> int | None:
    if one.recurrence is None:
        return one.end_seconds
    if not any(end in one.recurrence.rule.upper() for end in ("UNTIL=", "COUNT=")):
        return None
    begin = one.start_seconds
    starts = one.recurrence.starts(begin, begin, begin + _CENTURY_SECONDS, lambda _: False)
    if len(starts) >= MOST_TIMES:
        return None
    return (starts[-1] if starts else begin) + one.lasts_seconds
