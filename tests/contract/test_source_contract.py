"""What every source of history promises, whichever file, server or fake it is."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from features.series import COLUMNS
from features.sources.demand_table import DemandTable
from features.sources.job_table import JobTable
from features.sources.protocol import Source
from tests.fakes.demand import FRAGMENT, MONDAY, WHOLE, tidal_series
from tests.fakes.sources import RecordedSource

STEP = 300
DAY = 86_400

SourceMaker = Callable[[Path, int], Source]


def job_table(directory: Path, until_seconds: int) -> Source:
    """A log of 400 jobs of three days; those submitted later than `until` are not in it."""
    random = np.random.default_rng(11)
    submit = MONDAY + np.sort(random.integers(0, 3 * DAY, 400))
    start = submit + random.integers(0, 900, 400)
    end = start + random.integers(1, 4 * 3600, 400)
    jobs = pd.DataFrame(
        {
            "submit": submit,
            "start": start,
            "end": end,
            "gpus": random.choice([0.5, 1, 2, 5, 8, 16], 400),
            "node_gpus": 8,
            "gpu_type": random.choice(["a100", "h100"], 400),
        }
    )
    path = directory / f"jobs-{until_seconds}.parquet"
    if not path.exists():
        jobs[submit < until_seconds].to_parquet(path)
    return JobTable(path)


def demand_table(directory: Path, until_seconds: int) -> Source:
    """Two pools of three days with a gap, as far as they were known at `until`."""
    path = directory / f"demand-{until_seconds}.parquet"
    if not path.exists():
        frames = [
            tidal_series(pool, days=3).between(0, until_seconds).to_frame().assign(pool=str(pool))
            for pool in (WHOLE, FRAGMENT)
        ]
        pd.concat([frame.drop(index=range(50, 60)) for frame in frames]).to_parquet(path)
    return DemandTable(path)


def recorded(directory: Path, until_seconds: int) -> Source:
    """The fake that other tests lean on."""
    pools = (tidal_series(pool, days=3) for pool in (WHOLE, FRAGMENT))
    return RecordedSource([one.between(0, until_seconds) for one in pools])


every_source = pytest.mark.parametrize("make", [job_table, demand_table, recorded])
spans = st.tuples(
    st.integers(MONDAY - DAY, MONDAY + 4 * DAY), st.integers(MONDAY - DAY, MONDAY + 4 * DAY)
).map(sorted)
with_a_directory = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@every_source
@given(span=spans)
@with_a_directory
def test_answers_lie_on_the_grid_inside_the_span(
    tmp_path: Path, make: SourceMaker, span: list[int]
) -> None:
    """No row begins before the span or closes after it, and each pool comes once."""
    start, end = span
    answer = make(tmp_path, MONDAY + 9 * DAY).demand(start, end, STEP)
    for series in answer.series:
        assert STEP == series.step_seconds
        assert start <= series.start_seconds
        assert series.end_seconds <= end
        assert len(series) > 0
    pools = [series.pool for series in answer.series]
    assert sorted(set(pools)) == sorted(pools)


@every_source
@given(span=spans, share=st.floats(0, 1))
@with_a_directory
def test_two_halves_say_what_the_whole_says(
    tmp_path: Path, make: SourceMaker, span: list[int], share: float
) -> None:
    """Where a span is cut makes no difference to its rows."""
    start, end = span
    cut = max(start, int(start + share * (end - start)) // STEP * STEP)
    source = make(tmp_path, MONDAY + 9 * DAY)
    halves = [*source.demand(start, cut, STEP).series, *source.demand(cut, end, STEP).series]
    for whole in source.demand(start, end, STEP).series:
        parts = [half.to_frame() for half in halves if half.pool == whole.pool]
        pd.testing.assert_frame_equal(whole.to_frame(), pd.concat(parts, ignore_index=True))


@every_source
@given(hours=st.integers(6, 60))
@with_a_directory
def test_a_row_says_only_what_was_known_when_it_closed(
    tmp_path: Path, make: SourceMaker, hours: int
) -> None:
    """What comes later changes no row of before."""
    until = MONDAY + hours * 3600
    later = make(tmp_path, MONDAY + 9 * DAY).demand(MONDAY, until, STEP)
    then = make(tmp_path, until).demand(MONDAY, until, STEP)
    assert then.series
    known_later = {series.pool: series for series in later.series}
    for series in then.series:
        whole = known_later[series.pool].between(series.start_seconds, series.end_seconds)
        for name in COLUMNS:
            np.testing.assert_array_equal(getattr(series, name), getattr(whole, name), name)


@every_source
def test_time_that_the_source_does_not_know_has_no_rows(tmp_path: Path, make: SourceMaker) -> None:
    """Before and after its own time a source says nothing, and never zero."""
    source = make(tmp_path, MONDAY + 9 * DAY)
    assert () == source.demand(MONDAY - 9 * DAY, MONDAY - DAY, STEP).series
    assert () == source.demand(MONDAY + 8 * DAY, MONDAY + 9 * DAY, STEP).series
    assert source.name
