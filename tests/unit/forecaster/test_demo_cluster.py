"""The made-up cluster: repeatable, within its nodes, and with the tide it promises."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from features.calendar import ClusterCalendar, DayFlag
from features.pool import Pool
from features.series import DemandSeries, FloatArray, IntArray
from forecaster.demo_cluster import (
    DEMO_DAYS,
    DEMO_END_SECONDS,
    DEMO_SEED,
    NODE_GPUS,
    NODES,
    demo_calendar,
    demo_jobs,
    demo_outage,
    demo_series,
    with_outage,
)

BEGIN_SECONDS = DEMO_END_SECONDS - DEMO_DAYS * 86_400
COLUMNS = (
    *("job_id", "submit", "start", "end", "duration", "gpus", "nodes", "node_gpus"),
    *("gpu_type", "user", "cluster", "kind", "status"),
)


@cache
def jobs() -> pd.DataFrame:
    return demo_jobs(DEMO_SEED, DEMO_END_SECONDS)


@cache
def hourly() -> tuple[IntArray, FloatArray]:
    """GPUs of waiting and running jobs just before each full hour, counted job by job."""
    times = np.arange(BEGIN_SECONDS, DEMO_END_SECONDS, 3600)
    demand = np.zeros(len(times))
    for submit, end, gpus in jobs()[["submit", "end", "gpus"]].itertuples(index=False):
        demand[(times > submit) & (times <= end)] += gpus
    return times, demand


def test_the_table_has_the_columns_of_a_job_table() -> None:
    """Every column of the format is there, filled, and one row is one job."""
    assert list(COLUMNS) == list(jobs().columns)
    assert not jobs().isna().any().any()
    assert jobs()["job_id"].is_unique
    assert jobs()["user"].nunique() >= 20


def test_a_seed_gives_the_same_bytes_and_another_seed_does_not() -> None:
    """The demo's numbers repeat."""
    again = demo_jobs(DEMO_SEED, DEMO_END_SECONDS).to_csv()
    assert again == jobs().to_csv()
    assert again != demo_jobs(DEMO_SEED + 1, DEMO_END_SECONDS).to_csv()


def test_times_are_in_order_and_inside_the_span() -> None:
    """No job starts before it is submitted, ends early, or is submitted after the end."""
    table = jobs()
    assert table["submit"].is_monotonic_increasing
    assert (table["start"] >= table["submit"]).all()
    assert (table["end"] == table["start"] + table["duration"]).all()
    assert (table["duration"] >= 60).all()
    assert table["submit"].max() < DEMO_END_SECONDS
    assert table["end"].min() > BEGIN_SECONDS


def test_running_jobs_never_exceed_the_cluster() -> None:
    """At no start of a job do running jobs hold more GPUs, or whole nodes, than there are."""
    table = jobs()
    start, end = table["start"].to_numpy(), table["end"].to_numpy()
    gpus = table["gpus"].to_numpy()
    for moment in np.unique(start):
        running = (start <= moment) & (moment < end)
        assert gpus[running].sum() <= NODES * NODE_GPUS
        assert gpus[running & (gpus >= NODE_GPUS)].sum() <= NODES * NODE_GPUS


def test_some_jobs_wait_for_a_full_cluster_and_most_do_not() -> None:
    """The queue is real, and is the exception."""
    waits = (jobs()["start"] > jobs()["submit"]).mean()
    assert 0.01 < waits < 0.2


def test_working_hours_of_working_days_need_40_to_96_gpus() -> None:
    """On plain working days the mean demand from 10 to 24 o'clock lies inside the promise."""
    times, demand = hourly()
    calendar = ClusterCalendar(demo_calendar())
    hours = calendar.local_seconds_of_day(times) // 3600
    busy = demand[calendar.is_working_day(times) & (hours >= 10)]
    assert 40 <= busy.mean() <= 96
    assert np.mean((busy >= 40) & (busy <= 96)) > 0.7


def test_the_tide_follows_the_clock_of_the_team() -> None:
    """Small jobs come from nine to eleven, sweeps in the afternoon, gangs in the evening."""
    calendar = ClusterCalendar(demo_calendar())
    table = jobs()
    hours = calendar.local_seconds_of_day(table["submit"].to_numpy()) / 3600
    expected = {"small": (9, 11), "sweep": (12.5, 17.6), "training": (17, 21)}
    shares = {
        kind: ((hours >= first) & (hours < last))[table["kind"] == kind].mean()
        for kind, (first, last) in expected.items()
    }
    assert shares["small"] > 0.4
    assert shares["sweep"] == pytest.approx(1.0)
    assert shares["training"] == pytest.approx(1.0)
    assert table["gpus"][table["kind"] == "training"].max() > NODE_GPUS


def test_days_off_are_quiet_and_a_rush_comes_before_the_holiday() -> None:
    """Submissions of days off are a fraction, those of Maundy Thursday more than usual."""
    calendar = ClusterCalendar(demo_calendar())
    submits = jobs()["submit"].to_numpy()
    submits = submits[submits >= BEGIN_SECONDS]
    days = calendar.local_day(submits)
    worked = calendar.is_working_day(submits)
    before = calendar.flags(submits)[DayFlag.BEFORE_HOLIDAY]
    per_day = {
        name: where.sum() / len(np.unique(days[where]))
        for name, where in {"plain": worked & ~before, "off": ~worked, "rush": before}.items()
    }
    assert per_day["off"] < 0.3 * per_day["plain"]
    assert per_day["rush"] > 1.2 * per_day["plain"]


def test_the_outage_is_one_span_of_working_hours_in_the_middle() -> None:
    """It lies on a working day, inside the history, before the last two weeks."""
    start, end = demo_outage(DEMO_END_SECONDS)
    calendar = ClusterCalendar(demo_calendar())
    span = np.arange(start, end, 300)
    assert 36 == len(span)
    assert calendar.is_working_day(span).all()
    assert BEGIN_SECONDS < start < end < DEMO_END_SECONDS - 14 * 86_400


def test_an_outage_makes_rows_unknown_and_leaves_the_rest() -> None:
    """Every row that touches the span is a gap in all columns; no other row changes."""
    zeros = np.zeros(6)
    series = DemandSeries(
        pool=Pool.parse("a100/fragment"),
        start_seconds=3000,
        step_seconds=300,
        demand_gpus=np.arange(6.0),
        submitted_jobs=zeros,
        capped=np.ones(6, dtype=np.bool_),
    )
    masked = with_outage(series, 3301, 3900)
    np.testing.assert_array_equal([0, np.nan, np.nan, 3, 4, 5], masked.demand_gpus)
    np.testing.assert_array_equal([0, np.nan, np.nan, 0, 0, 0], masked.submitted_jobs)
    assert [True, False, False, True, True, True] == masked.capped.tolist()


def test_the_series_are_two_pools_over_35_days_with_one_gap() -> None:
    """Both shapes of one GPU type on one grid, known everywhere but in the outage."""
    series = demo_series(DEMO_SEED, DEMO_END_SECONDS)
    assert ["a100/fragment", "a100/whole-node"] == [str(one.pool) for one in series]
    start, end = demo_outage(DEMO_END_SECONDS)
    for one in series:
        assert (BEGIN_SECONDS, DEMO_END_SECONDS) == (one.start_seconds, one.end_seconds)
        lost = (one.times_seconds >= start) & (one.times_seconds < end)
        np.testing.assert_array_equal(lost, ~one.observed)


def test_the_series_count_the_jobs_of_the_table() -> None:
    """As each known hour closes, both pools together hold the jobs waiting or running."""
    series = demo_series(DEMO_SEED, DEMO_END_SECONDS)
    closing = np.sum([one.closing_gpus for one in series], axis=0)
    times, demand = hourly()
    rows = (times[1:] - BEGIN_SECONDS) // 300 - 1
    known = ~np.isnan(closing[rows])
    assert known.sum() > 800
    np.testing.assert_allclose(demand[1:][known], closing[rows][known])
