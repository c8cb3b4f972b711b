"""How long a command takes to start, as a whole process."""

import subprocess
import sys

from benchmarks.measuring import Row, Timing, seconds, timed

SERVING = "from models.zoo import MODELS; MODELS['combined']()"
TELLING = "from benchmarks.measuring import peak_memory_mb; print(peak_memory_mb())"


def rows() -> list[Row]:
    """Start of the interpreter alone, and of the command's help."""
    bare = _process("-c", "pass")
    helped = _process("-m", "forecaster", "--help")
    served = _process("-c", SERVING)
    memory = float(_printed("-c", f"{SERVING}; {TELLING}"))
    return [
        Row("the interpreter alone", seconds(bare)),
        Row("tidecast --help", seconds(helped), "<= 0.5 s"),
        Row("the champion ready to forecast", seconds(served), "<= 1.5 s"),
        Row("its memory", f"{memory:.0f} MB", "<= 150 MB"),
        Row("help over the interpreter", f"{helped.wall_seconds / bare.wall_seconds:.1f} x"),
    ]


def _process(*arguments: str) -> Timing:
    command = [sys.executable, *arguments]
    return timed(lambda: subprocess.run(command, check=True, capture_output=True), runs=7)


def _printed(*arguments: str) -> str:
    command = [sys.executable, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
