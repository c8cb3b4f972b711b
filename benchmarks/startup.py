"""How long a command takes to start, as a whole process."""

import subprocess
import sys

from benchmarks.measuring import Row, Timing, seconds, timed


def rows() -> list[Row]:
    """Start of the interpreter alone, and of the command's help."""
    bare = _process("-c", "pass")
    helped = _process("-m", "forecaster", "--help")
    return [
        Row("the interpreter alone", seconds(bare)),
        Row("tidecast --help", seconds(helped), "<= 0.5 s"),
        Row("help over the interpreter", f"{helped.wall_seconds / bare.wall_seconds:.1f} x"),
    ]


def _process(*arguments: str) -> Timing:
    command = [sys.executable, *arguments]
    return timed(lambda: subprocess.run(command, check=True, capture_output=True), runs=7)
