"""Which process runs a job, and whether that process is no more.

A process is known by its machine, its number and when it began, since numbers come again. Of a
process on another machine nothing can be seen from here: its run counts as dead once its time is
over.
"""

import os
import socket
from pathlib import Path

from forecaster.database.job_runs import JobRun

_BEGAN_FIELD = 19
"""Place of the start time in /proc/PID/stat, counted from behind the name (proc(5), field 22)."""


def this_process() -> str:
    """The name of this process."""
    return _holder(os.getpid())


def is_dead(run: JobRun, now_seconds: int) -> bool:
    """Whether a run that is still open has nobody who runs it."""
    if now_seconds > run.give_up_seconds:
        return True
    host, _, rest = run.holder.rpartition("/")[0].rpartition("/")
    return host == socket.gethostname() and run.holder != _holder(int(rest))


def _holder(process: int) -> str:
    return f"{socket.gethostname()}/{process}/{_began(process)}"


def _began(process: int) -> str:
    """When a process began, in the system's own ticks; `gone` if there is none."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "gone"
    state, *rest = stat.rpartition(")")[2].split()
    return "gone" if state == "Z" else rest[_BEGAN_FIELD - 1]
