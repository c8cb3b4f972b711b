"""Demand of jobs: a second-by-second oracle, the traces' own script, and cases by hand."""

import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from features.job_demand import Jobs, demand_of_jobs, starts_of_jobs
from features.packing import nodes_for_fragments, nodes_for_whole_jobs
from features.pool import Pool, Shape
from features.series import DemandSeries

TRACES = Path(__file__).parents[3] / "../shared/traces"
LAST_SECOND = 60


@dataclass(frozen=True)
class Job:
    submit: int
    start: int
    end: int
    gpus: float
    node_gpus: int = 8
    gpu_type: str = "a100"

    @property
    def pool(self) -> Pool:
        whole = self.gpus >= self.node_gpus
        return Pool(self.gpu_type, Shape.WHOLE_NODE if whole else Shape.FRAGMENT)


@st.composite
def jobs_of_a_minute(draw: st.DrawFn) -> Job:
    submit, start, end = sorted(draw(st.tuples(*[st.integers(0, LAST_SECOND)] * 3)))
    return Job(
        submit,
        start,
        end,
        gpus=draw(st.sampled_from([0.25, 0.5, 1, 2, 3, 5, 7, 8, 12, 16])),
        node_gpus=draw(st.sampled_from([4, 8])),
        gpu_type=draw(st.sampled_from(["a100", "h100"])),
    )


def arrays_of(jobs: list[Job]) -> Jobs:
    def column(name: str) -> np.ndarray:
        return np.array([getattr(job, name) for job in jobs], dtype=np.float64)

    return Jobs(
        submit_seconds=column("submit"),
        start_seconds=column("start"),
        end_seconds=column("end"),
        gpus=column("gpus"),
        node_gpus=column("node_gpus"),
        gpu_type=np.array([job.gpu_type for job in jobs], dtype=object),
    )


def nodes_of(jobs: list[Job]) -> int:
    nodes = 0
    for size in {job.node_gpus for job in jobs}:
        alike = [job.gpus for job in jobs if job.node_gpus == size]
        whole = jobs[0].pool.shape is Shape.WHOLE_NODE
        nodes += (nodes_for_whole_jobs if whole else nodes_for_fragments)(alike, size)
    return nodes


def row_of(jobs: list[Job], begins: int, step: int) -> list[float]:
    """One row, found by looking at every second (a job is there in [submit, end))."""

    def at(second: int) -> list[Job]:
        return [job for job in jobs if job.submit <= second < job.end]

    seconds = range(begins - 1, begins + step)  # the level at which the step opens counts
    closing = at(begins + step - 1)
    waiting = [job for job in closing if job.start > begins + step - 1]
    submitted = [job for job in jobs if begins <= job.submit < begins + step]
    return [
        max(sum(job.gpus for job in at(second)) for second in seconds),
        sum(job.gpus for job in closing if job not in waiting),
        sum(job.gpus for job in waiting),
        len(waiting),
        len(submitted),
        sum(job.gpus for job in submitted),
        max(nodes_of(at(second)) for second in seconds),
    ]


def rows_of(series: DemandSeries) -> list[list[float]]:
    names = (
        "demand_gpus",
        "running_gpus",
        "pending_gpus",
        "queued_jobs",
        "submitted_jobs",
        "submitted_gpus",
        "demand_nodes",
    )
    return np.stack([getattr(series, name) for name in names], axis=1).tolist()


@given(
    st.lists(jobs_of_a_minute(), min_size=1, max_size=12),
    st.sampled_from([1, 5, 7, 60]),
    st.integers(0, 30),
    st.integers(30, 80),
)
def test_every_row_is_what_one_sees_second_by_second(
    jobs: list[Job], step: int, begin: int, stop: int
) -> None:
    """For any jobs, step and span, each row equals a look at each of its seconds."""
    found = demand_of_jobs(arrays_of(jobs), begin, stop, step)
    grid = range(-(-begin // step) * step, stop // step * step, step)
    expected = {
        pool: [row_of([job for job in jobs if job.pool == pool], row, step) for row in grid]
        for pool in sorted({job.pool for job in jobs})
        if len(grid)
    }
    assert expected == {series.pool: rows_of(series) for series in found}
    assert all(series.start_seconds == grid[0] for series in found)


def test_a_minute_by_hand() -> None:
    """One job waits 20 s and runs 60 s; another runs beside it for a moment."""
    jobs = arrays_of([Job(10, 30, 90, 5), Job(40, 40, 50, 4)])
    (series,) = demand_of_jobs(jobs, 0, 120, 30)
    assert Pool("a100", Shape.FRAGMENT) == series.pool
    assert [5, 9, 5, 5] == series.demand_gpus.tolist()
    assert [1, 2, 1, 1] == series.demand_nodes.tolist()
    assert [0, 5, 5, 0] == series.running_gpus.tolist()
    assert [5, 0, 0, 0] == series.pending_gpus.tolist()
    assert [1, 0, 0, 0] == series.queued_jobs.tolist()
    assert [1, 1, 0, 0] == series.submitted_jobs.tolist()
    assert [5, 4, 0, 0] == series.submitted_gpus.tolist()


def test_three_fives_need_three_nodes() -> None:
    """Fragments are counted in nodes after packing, not by their sum."""
    (series,) = demand_of_jobs(arrays_of([Job(0, 0, 60, 5)] * 3), 0, 60, 60)
    assert [15] == series.demand_gpus.tolist()
    assert [3] == series.demand_nodes.tolist()


def test_jobs_that_began_before_the_span_count() -> None:
    """Cutting the span does not cut the jobs."""
    (series,) = demand_of_jobs(arrays_of([Job(0, 0, 1_000, 16)]), 300, 900, 300)
    assert [16, 16] == series.demand_gpus.tolist()
    assert [2, 2] == series.demand_nodes.tolist()
    assert [0, 0] == series.submitted_jobs.tolist()


def test_a_span_without_a_whole_step_has_no_rows() -> None:
    """A step that is not wholly inside is not told of."""
    assert () == demand_of_jobs(arrays_of([Job(0, 0, 600, 1)]), 301, 599, 300)


def test_fractions_leave_no_dust_behind() -> None:
    """Once the last shared GPU is given back the demand is exactly zero."""
    jobs = arrays_of([Job(0, 0, 10 + end, 0.1, node_gpus=1) for end in range(10)])
    (series,) = demand_of_jobs(jobs, 0, 120, 60)
    assert [1.0, 0.0] == series.demand_gpus.tolist()
    assert [1.0, 0.0] == series.demand_nodes.tolist()


def test_a_job_begins_when_submitted_unless_it_never_ran() -> None:
    """What a log leaves out about the start is filled as the docstring says."""
    submit, end = np.full(5, 100.0), np.full(5, 200.0)
    start = np.array([150.0, np.nan, np.nan, 50.0, 250.0])
    duration = np.array([50.0, 100.0, np.nan, np.nan, np.nan])
    assert [150, 100, 200, 100, 200] == starts_of_jobs(submit, start, end, duration).tolist()


def traces_script() -> ModuleType:
    path = TRACES / "make_demand.py"
    if not path.is_file():
        pytest.skip("the traces are not beside the project")
    spec = importlib.util.spec_from_file_location("make_demand", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    writes_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    spec.loader.exec_module(module)
    sys.dont_write_bytecode = writes_bytecode
    return module


@pytest.mark.parametrize("trace", ["jobs_philly", "jobs_itp"])
@pytest.mark.parametrize("step_seconds", [300, 3600])
def test_real_jobs_have_the_demand_that_the_traces_own_script_finds(
    trace: str, step_seconds: int
) -> None:
    """Both public traces agree with an independent script, column by column."""
    script = traces_script()
    table = pd.read_parquet(TRACES / f"{trace}.parquet")
    expected = script.demand(table, step_seconds)

    def column(name: str) -> np.ndarray:
        return table[name].to_numpy(np.float64, na_value=np.nan)

    times = (column("submit"), column("start"), column("end"))
    jobs = Jobs(
        submit_seconds=times[0],
        start_seconds=starts_of_jobs(*times, column("duration")),
        end_seconds=times[2],
        gpus=column("gpus"),
        node_gpus=column("node_gpus"),
        gpu_type=np.full(len(table), "gpu", dtype=object),
    )
    first = int(expected["t"].iloc[0])
    last = int(expected["t"].iloc[-1]) + step_seconds
    fragment, whole = demand_of_jobs(jobs, first, last, step_seconds)
    for series, prefix in ((fragment, "frag"), (whole, "whole")):
        for name, theirs in (
            ("demand_gpus", "demand_max"),
            ("running_gpus", "running"),
            ("pending_gpus", "pending"),
            ("queued_jobs", "queue"),
            ("submitted_jobs", "submissions"),
            ("submitted_gpus", "gpus_submitted"),
        ):
            np.testing.assert_allclose(
                getattr(series, name), expected[f"{prefix}_{theirs}"], atol=1e-5, err_msg=name
            )
    assert np.all(whole.demand_nodes >= expected["whole_nodes"])
    assert np.all(fragment.demand_nodes >= fragment.demand_gpus / 8)
