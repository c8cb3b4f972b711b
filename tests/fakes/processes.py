"""Scripts in processes of their own, which may kill themselves or race each other."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def process(script: str, *arguments: str) -> "subprocess.Popen[str]":
    """A Python process that runs a script; end it with `communicate`."""
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
