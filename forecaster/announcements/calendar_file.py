"""Announcements from a calendar: events of an iCalendar file that say how many GPUs they need.

An event is an announcement when its summary or its description holds `GPUS=64`, `GPUS=+64` or
`GPUS=x1.5`, with `POOL=a100/whole-node` beside it, or no pool for all of them, and
`CERTAINTY=0.8` where it is not certain. Other events are somebody's lunch and are left alone.
Recurrence, exceptions and moved dates are worked out by the calendar library; each time becomes an
announcement of its own.
"""

import re
from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from features.errors import BadInput
from features.events import EventKind
from forecaster.announcements.announcement import Announcement, Origin

if TYPE_CHECKING:
    from icalendar import Event

MOST_BYTES = 1_000_000
MOST_EVENTS = 1_000
_GPUS = re.compile(r"\bGPUS\s*=\s*(?P<sign>[+x]?)(?P<amount>\d+(?:\.\d+)?)", re.IGNORECASE)
_POOL = re.compile(r"\bPOOL\s*=\s*(?P<pool>[^\s;,]+)", re.IGNORECASE)
_CERTAINTY = re.compile(r"\bCERTAINTY\s*=\s*(?P<certainty>[01](?:\.\d+)?)", re.IGNORECASE)
_KINDS = {"": EventKind.ABSOLUTE, "+": EventKind.EXTRA, "x": EventKind.FACTOR}


def announcements_in(
    content: bytes, zone: ZoneInfo, since_seconds: int, until_seconds: int, now_seconds: int
) -> tuple[Announcement, ...]:
    """The announcements of a calendar that touch [since, until), in the order of time.

    Args:
        content: the iCalendar file.
        zone: the zone of times that name none, and of whole days.
        since_seconds: Unix time.
        until_seconds: Unix time.
        now_seconds: Unix time from which they are known.

    Raises:
        BadInput: it is no calendar, too large, or an event asks for what cannot be.
    """
    import recurring_ical_events
    from icalendar import Calendar

    if len(content) > MOST_BYTES:
        raise BadInput(f"the calendar is larger than {MOST_BYTES} bytes; give one of announcements")
    try:
        calendar = Calendar.from_ical(content)
        between = (_moment(since_seconds), _moment(until_seconds))
        events = recurring_ical_events.of(calendar, skip_bad_series=True).between(*between)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise BadInput(f"the calendar cannot be read as iCalendar (RFC 5545): {error}") from error
    if len(events) > MOST_EVENTS:
        raise BadInput(f"the calendar has more than {MOST_EVENTS} events in the time asked for")
    made = [one for event in events if (one := _announcement(event, zone, now_seconds))]
    return tuple(sorted(made, key=lambda one: (one.start_seconds, one.identifier)))


def _announcement(event: "Event", zone: ZoneInfo, now_seconds: int) -> Announcement | None:
    """The event as an announcement; None where it asks for no GPUs."""
    summary = str(event.get("SUMMARY", ""))
    text = f"{summary}\n{event.get('DESCRIPTION', '')}"
    gpus = _GPUS.search(text)
    if gpus is None or str(event.get("STATUS", "")).upper() == "CANCELLED":
        return None
    pool, certainty = _POOL.search(text), _CERTAINTY.search(text)
    start, end = _seconds(event.start, zone), _seconds(event.end, zone)
    owner = str(event.get("ORGANIZER", "")).removeprefix("mailto:").removeprefix("MAILTO:")
    return Announcement(
        identifier=f"{event.get('UID', summary)}@{start}",
        pool=pool["pool"] if pool else None,
        start_seconds=start,
        end_seconds=end,
        kind=_KINDS[gpus["sign"].lower()],
        amount=float(gpus["amount"]),
        reason=summary[:200],
        owner=owner or "calendar",
        announced_seconds=now_seconds,
        certainty=float(certainty["certainty"]) if certainty else 1.0,
        origin=Origin.CALENDAR,
    )


def _seconds(moment: date | datetime, zone: ZoneInfo) -> int:
    if not isinstance(moment, datetime):
        moment = datetime.combine(moment, time(), zone)
    return int((moment if moment.tzinfo else moment.replace(tzinfo=zone)).timestamp())


def _moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
