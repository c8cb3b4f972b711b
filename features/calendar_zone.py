"""Wall-clock time of a zone, for whole arrays of instants at once.

The time-zone database answers one instant at a time; here its answers are laid out as a table of
offset changes, so that a year of steps costs one look-up. Every instant has exactly one local
time: a clock that goes back repeats an hour of wall time, but never drops or doubles a step.
"""

import difflib
import itertools
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

import numpy as np

from features.errors import BadInput
from features.series import CALENDAR_BEGINS_SECONDS, IntArray

_TABLE_ENDS_SECONDS = 4_102_444_800  # 2100-01-01; later instants keep the last offset
_PROBE_SECONDS = 7 * 86_400  # since 2000 every zone has kept an offset for at least a week


def checked_zone(name: str) -> str:
    """The name of a time zone, once the database knows it.

    Raises:
        BadInput: it does not.
    """
    try:
        ZoneInfo(name)
    except (OSError, ValueError, LookupError) as error:
        raise BadInput(
            f"unknown time zone '{name}'; use an IANA name such as 'Europe/Berlin'"
            f"{did_you_mean(name, sorted(available_timezones()))}"
        ) from error
    return name


def did_you_mean(text: str, known: list[str]) -> str:
    """The end of a message that offers the closest known names, or nothing."""
    by_folded = {name.casefold(): name for name in known}
    close = difflib.get_close_matches(text.casefold(), list(by_folded), n=3)
    return f" (did you mean {' or '.join(by_folded[name] for name in close)}?)" if close else ""


def local_seconds(times_seconds: IntArray, zone: str) -> IntArray:
    """Wall-clock time, as seconds since 1970-01-01 00:00 on the zone's own clocks.

    Args:
        times_seconds: Unix times, any shape.
        zone: IANA name that `checked_zone` accepted.

    Returns:
        The same shape. Before 2000 and after 2099 the nearest known offset is used.
    """
    times = np.asarray(times_seconds, dtype=np.int64)
    changes, offsets = _offset_table(zone)
    return times + offsets[np.searchsorted(changes, times, side="right")]


@lru_cache(maxsize=32)
def _offset_table(zone: str) -> tuple[IntArray, IntArray]:
    """Instants at which the offset from UTC changes, and the offsets before, between and after."""
    clock = ZoneInfo(zone)
    probes = range(CALENDAR_BEGINS_SECONDS, _TABLE_ENDS_SECONDS + 1, _PROBE_SECONDS)
    offsets = [_offset(clock, probes[0])]
    changes = []
    for before, after in itertools.pairwise(probes):
        if _offset(clock, after) != offsets[-1]:
            changes.append(_change_between(clock, before, after))
            offsets.append(_offset(clock, after))
    return np.array(changes, dtype=np.int64), np.array(offsets, dtype=np.int64)


def _offset(clock: ZoneInfo, seconds: int) -> int:
    offset = datetime.fromtimestamp(seconds, tz=UTC).astimezone(clock).utcoffset()
    return round((offset or timedelta()).total_seconds())


def _change_between(clock: ZoneInfo, before: int, after: int) -> int:
    """First second at which the offset is no longer what it was before, by bisection."""
    start = _offset(clock, before)
    while after - before > 1:
        middle = (before + after) // 2
        if _offset(clock, middle) == start:
            before = middle
        else:
            after = middle
    return after
