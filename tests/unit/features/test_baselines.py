"""Seasonal baselines: robust, on the local clock, and blind to the future."""

from datetime import UTC, datetime

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from features.baselines import (
    DAILY,
    WEEKLY,
    Season,
    same_time_mean,
    same_time_rows,
    seasonal_baseline,
    seasonal_change,
)
from features.calendar import CalendarSettings, ClusterCalendar
from features.panel import DemandPanel
from features.series import DemandSeries
from tests.fakes.demand import MONDAY, WHOLE

UTC_CALENDAR = ClusterCalendar(CalendarSettings())
BERLIN = ClusterCalendar(CalendarSettings(time_zone="Europe/Berlin"))


def hourly(demand, start=MONDAY):
    return DemandPanel.of([DemandSeries(WHOLE, start, 3600, np.array(demand, dtype=float))])


def test_median_of_days_ignores_an_outage_and_a_flood():
    """One day of zeros and one of a thousand do not move the usual level."""
    days = np.tile(np.arange(24.0), 9)
    days[24:48] = 0
    days[72:96] = 1000
    panel = hourly(days)
    origin = np.array([9 * 24])
    level = seasonal_baseline(panel, origin, np.array([1, 12, 24]), DAILY, UTC_CALENDAR)
    np.testing.assert_array_equal(level, [[[0, 11, 23]]])


def test_change_is_relative_to_the_same_time():
    """The expected change is the baseline then minus the baseline now."""
    panel = hourly(np.tile(np.arange(24.0), 5))
    change = seasonal_change(panel, np.array([100]), np.array([1, 2]), DAILY, UTC_CALENDAR)
    # origin 100 follows the row of 3 o'clock
    np.testing.assert_array_equal(change, [[[1, 2]]])


def test_week_looks_at_the_same_day_only():
    """The weekly baseline of a Monday knows only Mondays."""
    days = np.repeat(np.tile(np.arange(7.0), 4), 24)
    panel = hourly(days)
    level = seasonal_baseline(panel, np.array([28 * 24]), np.array([1]), WEEKLY, UTC_CALENDAR)
    np.testing.assert_array_equal(level, [[[0.0]]])


def test_no_history_is_unknown():
    """Before the first day has passed there is no baseline."""
    panel = hourly(np.arange(20.0))
    level = seasonal_baseline(panel, np.array([20]), np.array([1]), DAILY, UTC_CALENDAR)
    assert np.isnan(level).all()


def test_what_lies_more_than_a_day_ahead_is_unknown_not_read_from_the_future():
    """Twenty-six hours ahead, yesterday's row of that time has not come yet."""
    panel = hourly(np.arange(100.0))
    season = Season("yesterday", (1,))
    level = seasonal_baseline(panel, np.array([60]), np.array([24, 26]), season, UTC_CALENDAR)
    np.testing.assert_array_equal(level, [[[59.0, np.nan]]])


def local_hours(panel, rows, calendar):
    # a row closes one step after it begins
    return calendar.local_seconds_of_day(panel.seconds_at(rows + 1)) // 3600


@given(st.integers(8 * 24, 60 * 24), st.sampled_from(["Europe/Berlin", "America/New_York"]))
@settings(max_examples=60)
def test_same_time_is_the_same_wall_clock_across_clock_changes(origin, zone):
    """Nine o'clock is compared with nine o'clock, whatever the clocks did in between."""
    calendar = ClusterCalendar(CalendarSettings(time_zone=zone))
    start = int(datetime(2026, 2, 20, tzinfo=UTC).timestamp())
    panel = hourly(np.zeros(70 * 24), start)
    season = Season("some", (1, 2, 3, 7))
    rows = same_time_rows(panel, np.array([origin]), season, calendar)[0]
    here = local_hours(panel, np.array([origin - 1]), calendar)[0]
    assert len(set(rows)) == len(rows)
    for row, days in zip(rows, season.days_back, strict=True):
        there = local_hours(panel, np.array([row]), calendar)[0]
        # an hour that the clocks left out has no twin; its neighbour stands in
        assert there == here or (there - here) % 24 == 1
        assert abs((origin - 1 - row) - 24 * days) <= 1


@given(st.integers(30, 200), st.integers(0, 3))
@settings(max_examples=40)
def test_future_changes_no_baseline(origin, seed):
    """Rows from the origin on have no influence on any baseline."""
    demand = np.random.default_rng(seed).integers(0, 90, 220).astype(float)
    changed = demand.copy()
    changed[origin:] = 5000
    ahead = np.array([1, 6, 24])
    for season in (DAILY, WEEKLY):
        both = [
            seasonal_baseline(hourly(values), np.array([origin]), ahead, season, BERLIN)
            for values in (demand, changed)
        ]
        np.testing.assert_array_equal(*both)
        means = [
            same_time_mean(
                values[None, :],
                hourly(values),
                np.array([origin]),
                ahead_rows=np.array([3, 6]),
                season=season,
                calendar=BERLIN,
            )
            for values in (demand, changed)
        ]
        np.testing.assert_array_equal(*means)
