"""Writing a file so that it is there whole or not at all.

Whoever reads a path written here never sees half a file, even if the writer is killed.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from features.errors import BadInput


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a path beside the wanted one to write to; it takes that one's place at the end.

    Raises:
        BadInput: the file cannot be written; what stood there before stands there still.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield part
        with part.open("rb") as written:
            os.fsync(written.fileno())
        part.replace(path)
    except OSError as error:
        raise BadInput(
            f"{path}: cannot be written ({error.strerror or error}); "
            "make room, or name another place"
        ) from error
    finally:
        with suppress(OSError):  # where nothing could be written there is nothing to clear away
            part.unlink()
