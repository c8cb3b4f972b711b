"""Announcements from the command line: made, listed, called off, or taken from a calendar.

An announcement is named after what it says, so that saying it twice is saying it once.
"""

import hashlib
from dataclasses import replace
from pathlib import Path

from features.errors import BadInput
from forecaster.announcements.announcement import Announcement, Origin
from forecaster.database.announcements import AnnouncementFilter, Announcements
from forecaster.database.kept_announcements import KeptAnnouncement
from forecaster.database.refusals import NotThere
from forecaster.json_shapes import AnnouncementAnswer, AnnouncementsAnswer, CalendarAnswer
from forecaster.tasks.calendars import source_of, take_calendar
from forecaster.wiring import Workspace

IDENTIFIER_LENGTH = 12
PERSON = Origin.PERSON.value


def announce(workspace: Workspace, said: Announcement, now_seconds: int) -> AnnouncementAnswer:
    """Keep an announcement; one that says the same and still stands is left as it is.

    Args:
        workspace: settings and data directory.
        said: what is announced; its identifier does not count, it is given one.
        now_seconds: Unix time.

    Raises:
        BadInput: it is over already.
        TooMany: as many as may be are active already.
    """
    if not KeptAnnouncement.of(said, PERSON).is_active(now_seconds):
        raise BadInput("announcement: it is over already; give an end in the future")
    with workspace.open_database() as database:
        announcements = Announcements(database)
        attempt = 1
        while _is_spent(announcements, _identifier(said, attempt), now_seconds):
            attempt += 1
        named = replace(said, identifier=_identifier(said, attempt))
        kept = announcements.create(named, PERSON)
    return _shape(kept, _pool_warnings(workspace, said.pool))


def list_announcements(
    workspace: Workspace, wanted: AnnouncementFilter, cursor: str | None, limit: int
) -> AnnouncementsAnswer:
    """Some announcements, newest first.

    Raises:
        BadInput: the cursor is none, or the limit is out of range.
    """
    with workspace.open_database() as database:
        page = Announcements(database).page(wanted, cursor, limit)
    shapes = [_shape(one, []) for one in page.announcements]
    return AnnouncementsAnswer(announcements=shapes, cursor=page.cursor)


def cancel_announcement(
    workspace: Workspace, identifier: str, now_seconds: int
) -> AnnouncementAnswer:
    """Call an announcement off.

    Raises:
        NotThere: there is none of that name.
    """
    with workspace.open_database() as database:
        return _shape(Announcements(database).cancel(identifier, now_seconds), [])


def import_calendar(workspace: Workspace, file: Path, now_seconds: int) -> CalendarAnswer:
    """Take over all that a calendar file announces.

    Raises:
        BadInput: it is no calendar, or asks for what cannot be.
    """
    with workspace.open_database() as database:
        done = take_calendar(workspace, database, str(file), now_seconds)
    return CalendarAnswer(
        source=source_of(str(file)),
        added=list(done.added),
        changed=list(done.changed),
        cancelled=list(done.cancelled),
    )


def _is_spent(announcements: Announcements, identifier: str, now_seconds: int) -> bool:
    """Whether an announcement of this name was called off: its name is not given again."""
    try:
        return not announcements.get(identifier).is_active(now_seconds)
    except NotThere:
        return False


def _identifier(said: Announcement, attempt: int) -> str:
    """A name that follows from what is said, and from how often it was said and called off."""
    what = replace(said, identifier="", announced_seconds=0)
    return hashlib.sha256(f"{attempt} {what!r}".encode()).hexdigest()[:IDENTIFIER_LENGTH]


def _pool_warnings(workspace: Workspace, pool: str | None) -> list[str]:
    known = {name for one in workspace.store.pools() for name in (str(one), one.gpu_type)}
    if pool is None or pool in known:
        return []
    return [f"the history has no pool '{pool}' yet; the announcement counts once it has"]


def _shape(kept: KeptAnnouncement, warnings: list[str]) -> AnnouncementAnswer:
    one = kept.announcement
    return AnnouncementAnswer(
        identifier=one.identifier,
        pool=one.pool,
        start_seconds=one.start_seconds,
        end_seconds=one.end_seconds,
        kind=one.kind.value,
        amount=one.amount,
        reason=one.reason,
        owner=one.owner,
        certainty=one.certainty,
        recurrence=None if one.recurrence is None else one.recurrence.rule,
        source=kept.source,
        announced_seconds=one.announced_seconds,
        ends_seconds=kept.ends_seconds,
        cancelled_seconds=one.cancelled_seconds,
        version=kept.version,
        warnings=warnings,
    )
