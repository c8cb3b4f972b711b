"""The real service in a process of its own: how soon it is ready, what it takes, how it answers.

Requests come at a steady rate whether or not the ones before are answered, and each is timed from
when it was due, so that a stall counts for all whom it kept waiting.
"""

import asyncio
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import yaml

from benchmarks import clusters
from benchmarks.measuring import Row
from forecaster.clock import now_seconds
from forecaster.database.job_runs import Claim, JobRuns, RunStanding
from forecaster.tasks.recording import record_forecasts
from forecaster.wiring import Workspace

POOLS, DAYS = 20, 30
RATE, CONNECTIONS = 500, 8
LOAD_SECONDS = float(os.environ.get("BENCHMARK_SECONDS", "60"))
SETTLE_SECONDS = 10.0
PORT = 18_099
PATH = "/v1/forecasts/type0001/whole-node"
REQUEST = f"GET {PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
SETTINGS = {
    "data_directory": "data",
    "mlflow": {"enabled": False},
    "forecast": {"model": "persistence"},
    "service": {"port": PORT},
}


@dataclass(frozen=True)
class Load:
    """What came of a load.

    Attributes:
        seconds: time from when each request was due to its whole answer.
        errors: answers that were none, or not 200.
    """

    seconds: list[float]
    errors: int

    def milliseconds_at(self, quantile: float) -> float:
        """A quantile of the times."""
        return float(np.quantile(self.seconds, quantile)) * 1e3


def rows() -> list[Row]:
    """Start, idle memory, and forecasts at a steady rate."""
    with tempfile.TemporaryDirectory() as place:
        config = _filled(Path(place))
        begun = time.perf_counter()
        with _running(config) as process:
            _wait_until_ready()
            ready_seconds = time.perf_counter() - begun
            time.sleep(SETTLE_SECONDS)
            idle_mb, before = _memory_mb(process.pid), _cpu_seconds(process.pid)
            load = asyncio.run(_load(LOAD_SECONDS))
            cpu_share = (_cpu_seconds(process.pid) - before) / LOAD_SECONDS
            grown_mb = _memory_mb(process.pid) - idle_mb
    return [
        Row(f"ready with {POOLS} pools x {DAYS} days", f"{ready_seconds:.2f} s", "<= 2 s"),
        Row("idle memory", f"{idle_mb:.0f} MB", "<= 200 MB"),
        Row(f"forecast at {RATE}/s, P50", f"{load.milliseconds_at(0.5):.1f} ms"),
        Row(f"forecast at {RATE}/s, P99", f"{load.milliseconds_at(0.99):.1f} ms", "<= 20 ms"),
        Row("answers", str(len(load.seconds))),
        Row("errors", str(load.errors), "0"),
        Row("memory gained", f"{grown_mb:.1f} MB", "flat"),
        Row("CPU of the service", f"{cpu_share:.0%} of a core"),
    ]


def _filled(place: Path) -> Path:
    """A settings file beside a data directory with history and forecasts up to now."""
    config = place / "tidecast.yaml"
    written = SETTINGS | {"data_directory": str(place / "data")}
    config.write_text(yaml.safe_dump(written), encoding="utf-8")
    workspace, now = Workspace.open(config), now_seconds()
    end = now // clusters.STEP_SECONDS * clusters.STEP_SECONDS
    series = [clusters.series(index, DAYS) for index in range(POOLS)]
    start = end - DAYS * 86_400
    workspace.store.import_series([replace(one, start_seconds=start) for one in series])
    with workspace.open_database() as database:
        record_forecasts(workspace, database, now)
        runs = JobRuns(database)
        for name in ("train", "prune"):  # both would be caught up with at once
            run = runs.begin(Claim(name, now, "benchmark", now), now)
            assert run is not None
            runs.end(run, RunStanding.DONE, "", now)
    return config


@contextmanager
def _running(config: Path) -> Iterator["subprocess.Popen[bytes]"]:
    command = [sys.executable, "-m", "forecaster", "serve", "--config", str(config)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)


def _wait_until_ready() -> None:
    async def ready() -> bool:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
        except OSError:
            return False
        writer.write(b"GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        answer = await reader.read()
        writer.close()
        return answer.startswith(b"HTTP/1.1 200")

    while not asyncio.run(ready()):
        time.sleep(0.02)


async def _load(seconds: float) -> Load:
    """Ask at a steady rate, over connections that stay open."""
    waiting: asyncio.Queue[float] = asyncio.Queue()
    load = Load([], 0)
    errors = [0]
    loop = asyncio.get_running_loop()
    askers = [asyncio.create_task(_ask(waiting, load, errors)) for _ in range(CONNECTIONS)]
    begun = loop.time()
    for index in range(int(seconds * RATE)):
        due = begun + index / RATE
        if (early := due - loop.time()) > 0:
            await asyncio.sleep(early)
        waiting.put_nowait(due)
    await waiting.join()
    for asker in askers:
        asker.cancel()
    return replace(load, errors=errors[0])


async def _ask(waiting: "asyncio.Queue[float]", load: Load, errors: list[int]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
    loop = asyncio.get_running_loop()
    while True:
        due = await waiting.get()
        writer.write(REQUEST)
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        assert length is not None
        await reader.readexactly(int(length[1]))
        load.seconds.append(loop.time() - due)
        errors[0] += not head.startswith(b"HTTP/1.1 200")
        waiting.task_done()


def _memory_mb(process: int) -> float:
    told = re.search(
        r"^VmRSS:\s*(\d+) kB$", Path(f"/proc/{process}/status").read_text(), re.MULTILINE
    )
    assert told is not None
    return int(told[1]) / 1024


def _cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
