"""The command line as a test sees it: what it was given, and what it left behind."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Ran:
    """What a command left behind.

    Attributes:
        code: its exit code.
        out: what it wrote to stdout.
        err: what it wrote to stderr.
    """

    code: int
    out: str
    err: str

    @property
    def answer(self) -> Any:
        """Its stdout as JSON."""
        return json.loads(self.out)


Command = Callable[..., Ran]


def files_in(directory: Path) -> dict[Path, bytes]:
    """Every file below a directory with its content."""
    return {path: path.read_bytes() for path in sorted(directory.rglob("*")) if path.is_file()}
