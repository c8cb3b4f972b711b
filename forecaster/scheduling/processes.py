"""A `tidecast` command in a process of its own, at lower priority: for work that is long and heavy.

It shares nothing with this process but the data directory, so it can be broken off at any time. It
ends when it is asked to, or when this process does so in good order.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from threading import Event

from features.errors import SourceUnavailable
from forecaster.scheduling.performing import Stopped

NICENESS = 10
LOOK_SECONDS = 0.2
END_SECONDS = 5.0
LONGEST_COMPLAINT = 500
PREFIX = "tidecast: "


def run_command(arguments: Sequence[str], stop: Event) -> str:
    """Run one command line, and give what it wrote to stdout.

    Args:
        arguments: of `tidecast`.
        stop: ends it early when it is set.

    Raises:
        Stopped: it was asked to stop.
        SourceUnavailable: it failed, or was killed.
    """
    command = [sys.executable, "-m", "forecaster", *arguments]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(command, stdout=out, stderr=err)  # noqa: S603 - our own command
        try:
            os.setpriority(os.PRIO_PROCESS, process.pid, NICENESS)
            while not _ended(process):
                if stop.is_set():
                    raise Stopped(f"'tidecast {arguments[0]}' was asked to stop")
        finally:
            _end(process)
        if process.returncode:
            err.seek(0)
            raise SourceUnavailable(
                f"'tidecast {' '.join(arguments)}' ended with code {process.returncode}: "
                f"{_complaint(err.read())}"
            )
        out.seek(0)
        return out.read()


def _complaint(said: str) -> str:
    """What a command complained of, in a line, without what it told of its progress."""
    lines = said.splitlines()
    errors = [line.removeprefix(PREFIX) for line in lines if line.startswith(PREFIX)]
    return "; ".join(errors or lines[-1:])[:LONGEST_COMPLAINT]


def _ended(process: "subprocess.Popen[bytes]") -> bool:
    try:
        process.wait(timeout=LOOK_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return True


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a process that still runs: politely, then not."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(timeout=END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
