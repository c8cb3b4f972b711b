"""The least nodes by the time of the week, in the cluster's time zone.

A window begins when its cron expression says so on the clock on the wall there, so it moves with
daylight saving; a time that does not exist on a day is the first that does, and of a time that
comes twice the first counts, as in Debian's cron. How long it lasts is real time. No model and no
feature is imported.
"""

from collections.abc import Callable
from datetime import date, datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

from cronsim import CronSim

from actuator.floors import NO_FLOOR, Floor
from actuator.plan import Reason
from actuator.policy import PoolPolicy, ScheduledFloor

_DAY_SECONDS = 86_400
_LARGEST_SHIFT_SECONDS = 3 * 3600  # clocks are put on or back by less


def scheduled_floor(
    pool: PoolPolicy,
    zone: ZoneInfo,
    is_holiday: Callable[[date], bool],
    lead_seconds: int,
    now_seconds: int,
) -> Floor:
    """The highest floor of the pool's schedule that holds now or within the lead time.

    Args:
        pool: its schedule.
        zone: the cluster's time zone.
        is_holiday: whether a day there is a public holiday; asked for the day a window begins on.
        lead_seconds: how long before a need its nodes have to be asked for.
        now_seconds: Unix time of the decision.
    """
    highest = NO_FLOOR
    for one in pool.schedule:
        if one.least_nodes > highest.nodes and _holds(
            one, zone, is_holiday, lead_seconds, now_seconds
        ):
            text = f"the schedule '{one.cron}' asks for {one.least_nodes} nodes"
            highest = Floor(one.least_nodes, Reason("schedule", text))
    return highest


def _holds(
    floor: ScheduledFloor,
    zone: ZoneInfo,
    is_holiday: Callable[[date], bool],
    lead_seconds: int,
    now_seconds: int,
) -> bool:
    """Whether one of its windows has begun by the end of the lead time and is not over yet."""
    latest_seconds = now_seconds + lead_seconds
    over_seconds = now_seconds - floor.duration_seconds  # begun by then, a window is over
    for day in range(latest_seconds // _DAY_SECONDS, over_seconds // _DAY_SECONDS - 1, -1):
        for start_seconds, begins_on in _starts_of_day(floor.cron, zone, day):
            if start_seconds <= over_seconds:
                return False
            if start_seconds <= latest_seconds and (floor.on_holidays or not is_holiday(begins_on)):
                return True
    return False


@lru_cache(maxsize=8192)
def _starts_of_day(cron: str, zone: ZoneInfo, day: int) -> tuple[tuple[int, date], ...]:
    """When windows begin on a UTC day, latest first: Unix time, and the date there.

    By the day and not by the moment, so that pools with many lead times share the work.

    Args:
        cron: when they begin, five fields.
        zone: where.
        day: days since 1970.
    """
    first_seconds = day * _DAY_SECONDS
    last_seconds = first_seconds + _DAY_SECONDS - 1
    starts = set()
    before = datetime.fromtimestamp(first_seconds - _LARGEST_SHIFT_SECONDS, zone)
    for start in CronSim(cron, before):
        start_seconds = int(start.timestamp())
        if start_seconds > last_seconds + _LARGEST_SHIFT_SECONDS:
            break
        if first_seconds <= start_seconds <= last_seconds:
            starts.add((start_seconds, start.date()))
    return tuple(sorted(starts, reverse=True))
