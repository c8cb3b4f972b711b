"""Memory that a job has freed goes back to the system."""

import re
from pathlib import Path

from forecaster.scheduling.freed_memory import give_back

PIECES = 400_000


def memory_kb() -> int:
    """Memory of this process that lies in RAM."""
    found = re.search(r"^VmRSS:\s*(\d+) kB$", Path("/proc/self/status").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1])


def test_what_was_freed_is_given_back() -> None:
    """Many small pieces, freed but for the last, which keeps the heap from shrinking by itself."""
    pieces = [bytes(600) for _ in range(PIECES)]
    last = pieces[-1]
    full = memory_kb()
    del pieces
    give_back()
    assert full - memory_kb() > PIECES * 600 // 1024 // 2
    assert 600 == len(last)
