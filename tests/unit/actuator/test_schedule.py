"""The schedule: least nodes by the clock on the wall, across nights, weeks and clock changes."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim
from hypothesis import given
from hypothesis import strategies as st

from actuator.floors import NO_FLOOR
from actuator.policy import ScheduledFloor
from actuator.schedule import scheduled_floor
from tests.fakes.pool_views import WHOLE

BERLIN = ZoneInfo("Europe/Berlin")
LEAD = 1200
HOUR = 3600
CRONS = ("0 9 * * 1-5", "30 2 * * *", "15 */6 * * *", "0 22 * * 5", "*/30 1-3 * * *", "0 0 1 * *")


def never(_: date) -> bool:
    """No day is a holiday."""
    return False


def seconds(text: str) -> int:
    """Unix time of a moment in Berlin; with an offset where it comes twice."""
    moment = datetime.fromisoformat(text)
    return int((moment if moment.tzinfo else moment.replace(tzinfo=BERLIN)).timestamp())


def nodes_at(
    at: str,
    *schedule: ScheduledFloor,
    is_holiday: Callable[[date], bool] = never,
    lead_seconds: int = LEAD,
) -> int:
    """Nodes of the floor at a moment in Berlin."""
    pool = replace(WHOLE, schedule=schedule)
    return scheduled_floor(pool, BERLIN, is_holiday, lead_seconds, seconds(at)).nodes


def floor(cron: str, hours: float, nodes: int = 5, *, on_holidays: bool = True) -> ScheduledFloor:
    """So many nodes for so many hours from when the expression says."""
    return ScheduledFloor(cron, int(hours * HOUR), nodes, on_holidays)


@pytest.mark.parametrize(
    ("at", "nodes"),
    [
        ("2026-01-05T08:39:59", 0),
        ("2026-01-05T08:40:00", 5),
        ("2026-01-05T12:59:59", 5),
        ("2026-01-05T13:00:00", 0),
        ("2026-01-03T10:00:00", 0),
    ],
)
def test_a_window_holds_from_a_lead_time_before_it_begins_until_its_end(
    at: str, nodes: int
) -> None:
    """Weekdays from nine to one; the third of January is a Saturday."""
    assert nodes == nodes_at(at, floor("0 9 * * 1-5", hours=4))


@pytest.mark.parametrize(
    ("cron", "hours", "inside", "outside"),
    [
        ("0 22 * * *", 8, "2026-01-06T05:59:59", "2026-01-06T06:00:00"),
        ("0 18 * * 0", 12, "2026-01-05T05:59:00", "2026-01-05T06:00:00"),
        ("0 12 31 12 *", 24, "2026-01-01T11:59:00", "2026-01-01T12:00:00"),
        ("0 8 * * 1", 10 * 24, "2026-01-15T07:00:00", "2026-01-01T08:00:00"),
    ],
)
def test_a_window_crosses_midnight_and_the_ends_of_week_and_year(
    cron: str, hours: float, inside: str, outside: str
) -> None:
    """And may be longer than the time between two; the last then never ends."""
    one = floor(cron, hours)
    assert 5 == nodes_at(inside, one)
    expected = 5 if hours > 7 * 24 else 0
    assert expected == nodes_at(outside, one)


@pytest.mark.parametrize(
    ("cron", "day", "begins_utc"),
    [
        ("0 9 * * *", "2026-03-28", "08:00"),
        ("0 9 * * *", "2026-03-29", "07:00"),
        ("30 2 * * *", "2026-03-29", "01:00"),
        ("0 9 * * *", "2026-10-24", "07:00"),
        ("0 9 * * *", "2026-10-25", "08:00"),
        ("30 2 * * *", "2026-10-25", "00:30"),
    ],
)
def test_a_window_begins_by_the_clock_on_the_wall(cron: str, day: str, begins_utc: str) -> None:
    """On 29 March 2026 half past two is missing, on 25 October it comes twice.

    What is missing begins at the first moment after, what comes twice at the first of the two.
    """
    begins = datetime.fromisoformat(f"{day}T{begins_utc}+00:00")
    before = (begins - timedelta(seconds=1)).isoformat()
    one = floor(cron, hours=1)
    assert 0 == nodes_at(before, one, lead_seconds=0)
    assert 5 == nodes_at(begins.isoformat(), one, lead_seconds=0)


@pytest.mark.parametrize("day", ["2026-03-28T20:00:00", "2026-10-24T20:00:00"])
def test_a_window_lasts_real_time_over_a_clock_change(day: str) -> None:
    """Ten hours are ten hours, not until six on the clock."""
    end_seconds = seconds(day) + 10 * HOUR
    one = floor("0 20 * * 6", hours=10)
    last = datetime.fromtimestamp(end_seconds - 1, BERLIN).isoformat()
    over = datetime.fromtimestamp(end_seconds, BERLIN).isoformat()
    assert (5, 0) == (nodes_at(last, one), nodes_at(over, one))


def test_a_window_that_begins_on_a_holiday_is_left_out_where_it_says_so() -> None:
    """By the date on which it begins, there: the night into a holiday counts, the one out not."""

    def is_holiday(day: date) -> bool:
        return day == date(2026, 1, 6)

    nightly = floor("30 23 * * *", hours=8, on_holidays=False)
    assert 5 == nodes_at("2026-01-06T07:00:00", nightly, is_holiday=is_holiday)
    assert 0 == nodes_at("2026-01-07T07:00:00", nightly, is_holiday=is_holiday)
    assert 5 == nodes_at("2026-01-07T07:00:00", floor("30 23 * * *", 8), is_holiday=is_holiday)


def test_a_window_from_before_a_holiday_still_holds_on_it() -> None:
    """The holiday's own is left out, the longer one of the day before is not."""
    daily = floor("0 9 * * *", hours=30, on_holidays=False)

    def is_holiday(day: date) -> bool:
        return day == date(2026, 1, 6)

    assert 5 == nodes_at("2026-01-06T14:59:00", daily, is_holiday=is_holiday)
    assert 0 == nodes_at("2026-01-06T15:00:00", daily, is_holiday=is_holiday)


def test_the_highest_floor_that_holds_counts_and_is_named() -> None:
    """Others that are lower, or do not hold, do not."""
    schedule = (
        floor("0 9 * * *", 4, nodes=3),
        floor("0 10 * * *", 1, nodes=7),
        floor("0 20 * * *", 1, nodes=9),
    )
    pool = replace(WHOLE, schedule=schedule)
    found = scheduled_floor(pool, BERLIN, never, LEAD, seconds("2026-01-05T10:30:00"))
    assert 7 == found.nodes
    assert ("schedule", True) == (found.reason.code, "'0 10 * * *'" in found.reason.text)


def test_without_a_schedule_there_is_no_floor() -> None:
    """Nothing is asked for."""
    assert NO_FLOOR is scheduled_floor(WHOLE, BERLIN, never, LEAD, 0)


@given(
    st.sampled_from(CRONS),
    st.integers(60, 40 * HOUR),
    st.integers(0, HOUR),
    st.sampled_from(["2026-03-27", "2026-10-23", "2026-12-30"]),
    st.integers(0, 5 * 24 * HOUR),
)
def test_it_holds_what_counting_all_windows_holds(
    cron: str, duration_seconds: int, lead_seconds: int, since: str, offset_seconds: int
) -> None:
    """Every window of the days around, one after another, says the same."""
    now_seconds = seconds(f"{since}T00:00:00") + offset_seconds
    starts = []
    for start in CronSim(
        cron, datetime.fromisoformat(since).replace(tzinfo=BERLIN) - timedelta(40)
    ):
        if start.timestamp() > now_seconds + 2 * HOUR:
            break
        starts.append(start.timestamp())
    expected = any(
        start - lead_seconds <= now_seconds < start + duration_seconds for start in starts
    )
    pool = replace(WHOLE, schedule=(ScheduledFloor(cron, duration_seconds, 1),))
    found = scheduled_floor(pool, BERLIN, never, lead_seconds, now_seconds)
    assert expected == (1 == found.nodes)
