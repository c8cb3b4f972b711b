"""A first pull of 35 days out of a Prometheus into the store, and what that costs either side.

Each pull has a process of its own, as a command has, so that its memory is its own. The yardstick
is `prometheus-api-client` alone: the same questions, asked in the same run, made into data frames.
"""

import gc
import json
import re
import shutil
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.clusters import START_SECONDS, STEP_SECONDS, panel
from benchmarks.measuring import Row, Timing, peak_memory_mb, seconds
from features.series import FloatArray
from features.sources.query_plan import STALE_AFTER_SECONDS, Exported

POOLS, DAYS = 20, 35
END_SECONDS = START_SECONDS + DAYS * 86_400
RULE_SECONDS = 60
EVALUATED_AT_SECONDS = 13
"""Rules are evaluated some seconds past the minute."""
RUNS = 3


def rows() -> list[Row]:
    """Times and memory of the first pull, of the same again, and the ratio to the client alone."""
    if not (shutil.which("prometheus") and shutil.which("promtool")):
        return [Row("not measured: prometheus and promtool are not installed", "")]
    from tests.fakes.real_prometheus import RealPrometheus, seed

    with TemporaryDirectory() as directory:
        server = RealPrometheus(seed(Path(directory), "".join(recorded())))
        server.start()
        try:
            pull, again, bare = (_measured(what, server.url) for what in MEASURED)
        finally:
            server.stop()
    data = f"{DAYS} days x {POOLS} pools at 5 minutes"
    ours, theirs = (one["wall"] for one in (pull, bare))
    return [
        Row(f"pull of {data}", seconds(_timing(pull)), "<= 3 s"),
        Row("of that, CPU of the server", f"{pull['server_cpu']:.2f} s"),
        Row("memory of the pull at its peak", f"{pull['memory_mb']:.0f} MB", "<= 250 MB"),
        Row("the same pull again", seconds(_timing(again)), "<= 0.3 s"),
        Row("prometheus-api-client into data frames", seconds(_timing(bare))),
        Row("of that, CPU of the server", f"{bare['server_cpu']:.2f} s"),
        Row("its memory at its peak", f"{bare['memory_mb']:.0f} MB"),
        Row("pull / prometheus-api-client", f"{ours / theirs:.2f} x", "<= 1 x"),
    ]


def recorded() -> Iterator[str]:
    """What `deploy/prometheus/rules.yaml` would have recorded: at every minute, but for held jobs.

    A quota holds some in the tenth of the time in which the pool has pending jobs.
    """
    made = panel(POOLS, DAYS)
    by_column = {
        "demand_gpus": made.demand_gpus,
        "running_gpus": made.closing_gpus - made.pending_gpus,
        "pending_gpus": made.pending_gpus,
        "queued_jobs": made.pending_gpus / 8,
        "submitted_jobs": made.submitted_jobs,
        "submitted_gpus": made.submitted_gpus,
        "held_jobs": np.where(made.pending_gpus > 0, made.pending_gpus / 8, np.nan),
    }
    for column, values in by_column.items():
        yield f"# TYPE tidecast:{column} gauge\n"
        for pool, of_pool in zip(made.pools, values, strict=True):
            labels = f'gpu_type="{pool.gpu_type}",shape="{pool.shape}"'
            yield _samples(column, labels, of_pool.repeat(STEP_SECONDS // RULE_SECONDS))
    minutes = DAYS * 86_400 // RULE_SECONDS
    yield "# TYPE tidecast:capacity_gpus gauge\n"
    for pool in made.pools:
        yield _samples("capacity_gpus", f'gpu_type="{pool.gpu_type}"', np.full(minutes, 512.0))
    scraped = START_SECONDS + RULE_SECONDS * np.arange(minutes, dtype=np.float64)
    for column, values in {
        "guessed_gpus": np.full(minutes, 2.0),
        "last_scrape_timestamp_seconds": scraped,
    }.items():
        yield f"# TYPE tidecast:{column} gauge\n{_samples(column, '', values)}"
    yield "# EOF\n"


def _samples(column: str, labels: str, values: FloatArray) -> str:
    first = START_SECONDS + EVALUATED_AT_SECONDS
    return "".join(
        f"tidecast:{column}{{{labels}}} {value} {first + RULE_SECONDS * minute}\n"
        for minute, value in enumerate(values.tolist())
        if not np.isnan(value)
    )


def _measured(what: str, url: str) -> dict[str, float]:
    """Medians of some fresh processes that each do it once."""
    command = [sys.executable, "-m", "benchmarks.prometheus", what, url]
    runs = [
        json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        for _ in range(RUNS)
    ]
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


def _timing(measured: dict[str, float]) -> Timing:
    return Timing(measured["wall"], measured["cpu"])


def pull_once(url: str, measure: "Measure") -> dict[str, float]:
    """An empty store, and all days into it."""
    with TemporaryDirectory() as directory:
        return measure(_pull(url, Path(directory)))


def pull_again(url: str, measure: "Measure") -> dict[str, float]:
    """A store that has all days already."""
    with TemporaryDirectory() as directory:
        pull = _pull(url, Path(directory))
        pull()
        return measure(pull)


def _pull(url: str, directory: Path) -> Callable[[], object]:
    from features.sources.prometheus import PrometheusSource
    from features.sources.prometheus_connection import PrometheusConnection
    from features.sources.queries import RecordingRuleQueries
    from forecaster.history import HistoryStore

    source = PrometheusSource(PrometheusConnection(url), RecordingRuleQueries())
    store = HistoryStore(directory)
    return lambda: store.pull(source, END_SECONDS, DAYS, STEP_SECONDS)


def bare_client(url: str, measure: "Measure") -> dict[str, float]:
    """The same questions by the library's own methods, each answer a data frame."""
    from features.sources.queries import RecordingRuleQueries

    plan = RecordingRuleQueries().plan(STEP_SECONDS, Exported(), STALE_AFTER_SECONDS)

    def fetch() -> object:
        from prometheus_api_client import MetricRangeDataFrame, PrometheusConnect

        client = PrometheusConnect(url)
        begin, end = (
            datetime.fromtimestamp(at, tz=UTC) for at in (START_SECONDS + STEP_SECONDS, END_SECONDS)
        )
        return [
            MetricRangeDataFrame(
                client.custom_query_range(one.promql, begin, end, str(STEP_SECONDS))
            )
            for one in plan.pools
        ]

    return measure(fetch)


Measure = Callable[[Callable[[], object]], dict[str, float]]
MEASURED: dict[str, Callable[[str, Measure], dict[str, float]]] = {
    "pull_once": pull_once,
    "pull_again": pull_again,
    "bare_client": bare_client,
}


def _measure_on(url: str) -> Measure:
    def measure(work: Callable[[], object]) -> dict[str, float]:
        gc.collect()
        server, clock, processor = _server_cpu(url), time.perf_counter(), time.process_time()
        kept = work()
        figures = {
            "wall": time.perf_counter() - clock,
            "cpu": time.process_time() - processor,
            "server_cpu": _server_cpu(url) - server,
            "memory_mb": peak_memory_mb(),
        }
        del kept
        return figures

    return measure


def _server_cpu(url: str) -> float:
    """CPU seconds of the server so far, as it tells of itself."""
    with urllib.request.urlopen(f"{url}/metrics", timeout=10) as answer:
        told = re.search(r"^process_cpu_seconds_total (\S+)$", answer.read().decode(), re.MULTILINE)
    assert told is not None
    return float(told[1])


if __name__ == "__main__":
    print(json.dumps(MEASURED[sys.argv[1]](sys.argv[2], _measure_on(sys.argv[2]))))
