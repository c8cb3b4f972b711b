"""When a job is due: every so many seconds on a fixed grid, or by a cron line in a zone.

Due times are moments of Unix time that follow from the schedule alone, not from when the last run
was: whoever asks, whenever, in whichever process, finds the same ones. Changes of the clocks move
the local times of a cron line as cron does: what is skipped runs after the gap, once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Protocol
from zoneinfo import ZoneInfo

from features.calendar_zone import checked_zone
from features.errors import BadInput

CRON_FIELDS = 5
_DAY_SECONDS = 86_400
LOOK_BACK_SECONDS = (3_600, 2 * _DAY_SECONDS, 40 * _DAY_SECONDS, 1_500 * _DAY_SECONDS)
"""How far back a cron line's last time is looked for, widening until one is found."""


class Schedule(Protocol):
    """Says when a job is due."""

    def last_due(self, now_seconds: int) -> int | None:
        """The newest due time at or before a moment; None if there is none."""
        ...

    def next_due(self, now_seconds: int) -> int:
        """The first due time after a moment."""
        ...

    def __str__(self) -> str:
        """For people."""
        ...


@dataclass(frozen=True)
class Every:
    """At every multiple of a period, a little after it.

    Attributes:
        period_seconds: from one due time to the next.
        offset_seconds: how long after the multiple; less than the period.

    Raises:
        BadInput: at construction, when there is no such grid.
    """

    period_seconds: int
    offset_seconds: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.offset_seconds < self.period_seconds:
            raise BadInput(
                f"schedule: {self.offset_seconds} s after every {self.period_seconds} s; the "
                "offset must be shorter than the period, and neither below zero"
            )

    def last_due(self, now_seconds: int) -> int:
        """The newest due time at or before a moment."""
        periods = (now_seconds - self.offset_seconds) // self.period_seconds
        return periods * self.period_seconds + self.offset_seconds

    def next_due(self, now_seconds: int) -> int:
        """The first due time after a moment."""
        return self.last_due(now_seconds) + self.period_seconds

    def __str__(self) -> str:
        """For people."""
        return f"every {self.period_seconds} s"


@dataclass(frozen=True)
class Cron:
    """By five cron fields in a time zone.

    Attributes:
        line: the five fields.
        time_zone: IANA name of the zone.

    Raises:
        BadInput: at construction, for a line or a zone that there is not, or a line that never
            comes.
    """

    line: str
    time_zone: str = "UTC"

    def __post_init__(self) -> None:
        checked_zone(self.time_zone)
        if len(self.line.split()) != CRON_FIELDS:
            raise _no_line(self.line, "it has not five fields")
        self.next_due(0)

    def last_due(self, now_seconds: int) -> int | None:
        """The newest due time at or before a moment; None if there was none in four years."""
        return _last_due(self.line, self.time_zone, _minute(now_seconds))

    def next_due(self, now_seconds: int) -> int:
        """The first due time after a moment."""
        return _next_due(self.line, self.time_zone, _minute(now_seconds))

    def __str__(self) -> str:
        """For people."""
        return f"{self.line} ({self.time_zone})"


def _minute(seconds: int) -> int:
    """The minute that a moment lies in: nothing is due within it but at its beginning."""
    return seconds // 60 * 60


@lru_cache(maxsize=1024)
def _last_due(line: str, time_zone: str, minute_seconds: int) -> int | None:
    for back_seconds in LOOK_BACK_SECONDS:
        newest = None
        for seconds in _times(line, time_zone, minute_seconds - back_seconds):
            if seconds > minute_seconds:
                break
            newest = seconds
        if newest is not None:
            return newest
    return None


@lru_cache(maxsize=1024)
def _next_due(line: str, time_zone: str, minute_seconds: int) -> int:
    for seconds in _times(line, time_zone, minute_seconds):
        if seconds > minute_seconds:
            return seconds
    raise BadInput(f"schedule: '{line}' never comes; write one that does")


def _times(line: str, time_zone: str, since_seconds: int) -> Iterator[int]:
    """Times after a moment; right after a change of the clocks some may lie before it."""
    from cronsim import CronSim, CronSimError

    since = datetime.fromtimestamp(since_seconds, ZoneInfo(time_zone))
    try:
        times = CronSim(line, since)
    except CronSimError as error:
        raise _no_line(line, str(error)) from error
    return (int(moment.timestamp()) for moment in times)


def _no_line(line: str, problem: str) -> BadInput:
    return BadInput(
        f"schedule: '{line}' is no cron line: {problem}; write five fields such as 30 3 * * *"
    )
