"""When something comes again: an RRULE (RFC 5545) or a cron line, less the days that are left out.

Local times stay local: nine o'clock stays nine o'clock on both sides of a change of the clocks. A
start that the clocks skip moves to the first moment after the gap; one that comes twice counts
once. A rule that says when it ends, ends then; nothing here runs for ever.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

from features.calendar_zone import checked_zone
from features.errors import BadInput

MOST_TIMES = 2_000
TOO_OFTEN = ("SECONDLY", "MINUTELY")
ENDS = ("COUNT=", "UNTIL=")
LATE_YEARS = range(9_961, 9_989)
"""One for each calendar there is."""

_NO_INTERVAL = re.compile(r"INTERVAL=\s*(-.*|\+?0*)")


@dataclass(frozen=True)
class Recurrence:
    """When something comes again.

    Attributes:
        rule: `FREQ=WEEKLY;BYDAY=FR` and the like, with or without `RRULE:`; or five cron fields.
        time_zone: IANA name of the zone that its local times are in.
        excluded_dates: local dates on which it does not begin.
        on_holidays: whether it also begins on public holidays.

    Raises:
        BadInput: at construction, for a rule or a zone that there is not.
    """

    rule: str
    time_zone: str = "UTC"
    excluded_dates: tuple[date, ...] = ()
    on_holidays: bool = True

    def __post_init__(self) -> None:
        zone = ZoneInfo(checked_zone(self.time_zone))
        next(_local_starts(self.rule, datetime(2026, 1, 1, tzinfo=zone)), None)

    def starts(
        self,
        first_seconds: int,
        since_seconds: int,
        until_seconds: int,
        is_holiday: Callable[[date], bool],
    ) -> tuple[int, ...]:
        """Unix times at which it begins in [since, until), ascending, at most `MOST_TIMES`.

        Args:
            first_seconds: Unix time at which it begins for the first time.
            since_seconds: Unix time from which starts are wanted.
            until_seconds: Unix time before which they lie.
            is_holiday: whether a local date is a public holiday.
        """
        return tuple(
            seconds
            for seconds, day in _starts(
                self.rule, self.time_zone, first_seconds, since_seconds, until_seconds
            )
            if day not in self.excluded_dates and (self.on_holidays or not is_holiday(day))
        )


@lru_cache(maxsize=4096)
def _starts(
    rule: str, time_zone: str, first_seconds: int, since_seconds: int, until_seconds: int
) -> tuple[tuple[int, date], ...]:
    """Starts in [since, until) with their local dates, before any day is left out."""
    zone = ZoneInfo(time_zone)
    found: dict[int, date] = {}
    begin = datetime.fromtimestamp(first_seconds, zone)
    since = datetime.fromtimestamp(since_seconds, zone)
    for local in _local_starts(rule, begin, since):
        seconds = int(local.astimezone(UTC).timestamp())
        if seconds >= until_seconds or len(found) >= MOST_TIMES:
            break
        if seconds >= max(first_seconds, since_seconds):
            found.setdefault(seconds, local.date())
    return tuple(sorted(found.items()))


def _local_starts(rule: str, begin: datetime, since: datetime | None = None) -> Iterator[datetime]:
    """Local times with their zone, from the first on, or from shortly before `since` on.

    Raises:
        BadInput: it is neither a rule nor a cron line.
    """
    if "=" in rule:
        return _by_rule(rule, begin, since)
    return _by_cron(rule, begin if since is None else max(begin, since))


def _by_rule(rule: str, begin: datetime, since: datetime | None) -> Iterator[datetime]:
    from dateutil.rrule import rrulestr

    zone, naive = begin.tzinfo, begin.replace(tzinfo=None)
    text = rule.strip().removeprefix("RRULE:")
    if (
        not text.upper().startswith("FREQ=")
        or "\n" in text
        or text.upper()[5:].startswith(TOO_OFTEN)
    ):
        raise BadInput(
            f"recurrence: '{rule}' is no RRULE; write FREQ=WEEKLY;BYDAY=FR or a cron line"
        )
    try:
        every = rrulestr(_until_local(text, zone), dtstart=naive)
        if not _comes(text, naive):
            raise BadInput(f"recurrence: '{rule}' never comes; write one that does")
    except (ValueError, TypeError, KeyError) as error:
        raise BadInput(f"recurrence: '{rule}' is no RRULE: {error}") from error
    found = every if since is None else every.xafter(since.replace(tzinfo=None), inc=True)
    return (local.replace(tzinfo=zone) for local in found)


@lru_cache(maxsize=4096)
def _comes(text: str, begin: datetime) -> bool:
    """Whether a rule ever comes; one that never does is searched until the last year there is.

    So it is looked at in a late year of the same calendar, from which that is not far.
    """
    from dateutil.rrule import rrulestr

    parts = [part for part in text.upper().split(";") if not part.startswith(ENDS)]
    if any(_NO_INTERVAL.fullmatch(part) for part in parts):
        return False
    late = next(year for year in LATE_YEARS if _calendar(year) == _calendar(begin.year))
    rule = rrulestr(";".join(parts), dtstart=begin.replace(year=late))
    return next(iter(rule), None) is not None


def _calendar(year: int) -> tuple[int, int]:
    """What days of the week and leap years follow from, within one century."""
    return year % 4, date(year, 1, 1).weekday()


def _until_local(text: str, zone: object) -> str:
    """The rule with an UNTIL in UTC turned into local time, in which its starts are."""
    parts = dict(part.split("=", 1) for part in text.upper().rstrip(";").split(";") if "=" in part)
    until = parts.get("UNTIL", "")
    if not until.endswith("Z") or not isinstance(zone, ZoneInfo):
        return text
    moment = datetime.strptime(until, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).astimezone(zone)
    parts["UNTIL"] = moment.strftime("%Y%m%dT%H%M%S")
    return ";".join(f"{name}={value}" for name, value in parts.items())


def _by_cron(line: str, since: datetime) -> Iterator[datetime]:
    from cronsim import CronSim, CronSimError

    try:
        # a moment exactly at `since` counts as well, so the search begins a minute before it
        begin = datetime.fromtimestamp(since.timestamp() - 60, since.tzinfo)
        return iter(CronSim(line, begin))
    except CronSimError as error:
        raise BadInput(
            f"recurrence: '{line}' is no cron line: {error}; write five fields such as 0 9 * * 1-5"
        ) from error
