"""The clock on the wall: only commands and the service read it, all else is told the time."""

import time


def now_seconds() -> int:
    """Unix time, UTC, in whole seconds."""
    return int(time.time())
