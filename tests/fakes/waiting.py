"""Waits for something to become true, instead of for time to pass."""

import time
from collections.abc import Callable

PAUSE_SECONDS = 0.01


def eventually(holds: Callable[[], object], seconds: float = 10.0) -> None:
    """Return as soon as it holds; fail if it never does."""
    ends = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends, f"{holds} did not come true within {seconds} s"
        time.sleep(PAUSE_SECONDS)
