"""What one cycle keeps for the next, in the database: written whole, and never by two processes.

What is there and cannot be read, since another Tidecast wrote it, counts as nothing: timers then
start anew.
"""

from functools import cache

from pydantic import TypeAdapter, ValidationError

from forecaster.database.cycle_memory import NEVER_WRITTEN, CycleMemory
from forecaster.kept import Kept

NAME = "cycle"


class KeptInDatabase:
    """Keeps it beyond the process; for one process at a time."""

    def __init__(self, memory: CycleMemory) -> None:
        self._memory = memory
        self._read_version = NEVER_WRITTEN

    def load(self) -> Kept:
        """What the last cycle left; empty before the first."""
        found = self._memory.read(NAME)
        if found is None:
            return Kept()
        self._read_version = found.version
        try:
            return _adapter().validate_python(found.document)
        except ValidationError:
            return Kept()

    def save(self, kept: Kept) -> None:
        """Keep it.

        Raises:
            Overtaken: another process ran a cycle since it was loaded.
        """
        document = _adapter().dump_python(kept, mode="json")
        self._read_version = self._memory.write(NAME, document, self._read_version)


@cache
def _adapter() -> TypeAdapter[Kept]:
    return TypeAdapter(Kept)
