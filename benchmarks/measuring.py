"""Timing to trust on a busy machine: medians of several runs, and CPU beside the clock."""

import gc
import re
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """One measured figure.

    Attributes:
        what: what was measured.
        value: the figure with its unit.
        goal: what was asked for, if anything.
    """

    what: str
    value: str
    goal: str = ""


@dataclass(frozen=True)
class Timing:
    """Medians over runs.

    Attributes:
        wall_seconds: on the clock.
        cpu_seconds: of this process.
    """

    wall_seconds: float
    cpu_seconds: float


def timed(work: Callable[[], object], runs: int = 5, warm_ups: int = 1) -> Timing:
    """Median time of some work, after runs that do not count."""
    for _ in range(warm_ups):
        work()
    wall, cpu = [], []
    for _ in range(runs):
        gc.collect()
        clock, processor = time.perf_counter(), time.process_time()
        work()
        wall.append(time.perf_counter() - clock)
        cpu.append(time.process_time() - processor)
    return Timing(statistics.median(wall), statistics.median(cpu))


def peak_memory_mb() -> float:
    """Largest memory of this process; `getrusage` would count what its parent had at the fork."""
    told = re.search(r"^VmHWM:\s*(\d+) kB$", Path("/proc/self/status").read_text(), re.MULTILINE)
    assert told is not None
    return int(told[1]) / 1024


def milliseconds(timing: Timing) -> str:
    """A timing as people read it."""
    return f"{timing.wall_seconds * 1e3:.1f} ms (CPU {timing.cpu_seconds * 1e3:.1f} ms)"


def seconds(timing: Timing) -> str:
    """A timing as people read it."""
    return f"{timing.wall_seconds:.2f} s (CPU {timing.cpu_seconds:.2f} s)"


def printed(rows: list[Row]) -> str:
    """The rows as an aligned table."""
    width = max(len(row.what) for row in rows)
    value = max(len(row.value) for row in rows)
    return "\n".join(
        f"  {row.what:<{width}}  {row.value:<{value}}  {row.goal}".rstrip() for row in rows
    )
