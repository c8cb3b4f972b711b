"""Two public traces, as they are, through the command line, checked against a count of their jobs.

The files lie beside the project; without them these tests are skipped.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from features.pool import Pool
from forecaster.cli import run
from forecaster.history import HistoryStore

TRACES = Path(__file__).parents[2] / ".." / "shared" / "traces"
STEP_SECONDS = 300


@dataclass(frozen=True)
class Trace:
    """One trace with its usable window.

    Attributes:
        file: its job table.
        cluster: the cluster that is taken, or all of them.
        since: first day of the window.
        until: the day after its last.
    """

    file: str
    cluster: str | None
    since: str
    until: str

    @property
    def steps(self) -> int:
        """Steps in the window."""
        return (seconds(self.until) - seconds(self.since)) // STEP_SECONDS


PHILLY = Trace("jobs_philly.parquet", None, "2017-10-03", "2017-11-19")
ITP = Trace("jobs_itp.parquet", "cluster07", "2021-03-11", "2021-04-26")


def seconds(day: str) -> int:
    """Unix time at which a day begins in UTC."""
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp())


def highest_demand(trace: Trace, whole_node: bool, start: int) -> float:
    """The highest demand within a step, counted job by job at every second a job begins or ends."""
    jobs = [
        (row["submit"], row["end"], row["gpus"])
        for row in pq.read_table(TRACES / trace.file).to_pylist()
        if (trace.cluster in {None, row["cluster"]})
        and (row["gpus"] >= row["node_gpus"]) == whole_node
        and row["submit"] < start + STEP_SECONDS
        and row["end"] > start
    ]
    moments = {start, *(submit for submit, _, _ in jobs if submit > start)}
    return max(
        sum(gpus for submit, end, gpus in jobs if submit <= moment < end) for moment in moments
    )


@pytest.mark.parametrize("trace", [PHILLY, ITP], ids=["philly", "itp"])
def test_a_public_trace_goes_the_whole_way(
    trace: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Import with its usable window, demand as counted by hand, forecast and backtest."""
    if not (TRACES / trace.file).exists():
        pytest.skip(f"{trace.file} is not beside the project")
    file = str((TRACES / trace.file).resolve())
    monkeypatch.chdir(tmp_path)
    select = ["--select", f"cluster={trace.cluster}"] if trace.cluster else []
    window = ["--since", trace.since, "--until", trace.until]
    assert 0 == run(["history", "import", file, *select, *window, "--gpu-type", "v100"])
    for series in HistoryStore(Path("tidecast-data/history")).series():
        assert (seconds(trace.since), trace.steps) == (series.start_seconds, len(series))
        assert series.observed.all()
        whole_node = series.pool == Pool.parse("v100/whole-node")
        for row in (0, 1000, trace.steps // 2, trace.steps - 1):
            start = series.start_seconds + row * STEP_SECONDS
            assert highest_demand(trace, whole_node, start) == series.demand_gpus[row]
    assert 0 == run(["forecast", "--model", "seasonal-naive"])
    assert 0 == run(["backtest", "--days", "1", "--models", "persistence"])
