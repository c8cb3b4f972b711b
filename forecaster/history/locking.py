"""One writer at a time, and what a killed writer left behind cleared away.

The system gives the lock back when its holder ends, however it ends, so there is nothing to repair
by hand. Readers need no lock: files are replaced as a whole.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from features.errors import BadInput


@contextmanager
def only_writer(directory: Path) -> Iterator[None]:
    """Hold the store for writing; on leaving, all that was replaced has reached the disk.

    Raises:
        BadInput: another process writes to it now, or it cannot be written to.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = (directory / ".lock").open("ab")
    except OSError as error:
        raise _unwritable(directory, error) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _clear_leftovers(directory)
        except BlockingIOError as error:
            raise BadInput(
                f"{directory}: another tidecast is writing to this history; "
                "try again when it is done"
            ) from error
        except OSError as error:
            raise _unwritable(directory, error) from error
        try:
            yield
        finally:
            _sync(directory)


def _clear_leftovers(directory: Path) -> None:
    for part in directory.glob(".*.part"):
        part.unlink(missing_ok=True)


def _sync(directory: Path) -> None:
    """Make renames last through a power cut."""
    try:
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise _unwritable(directory, error) from error


def _unwritable(directory: Path, error: OSError) -> BadInput:
    return BadInput(
        f"{directory}: history cannot be written there ({error.strerror or error}); make it "
        "writable, or set another data directory"
    )
