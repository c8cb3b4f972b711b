"""What one cycle hands to the next, by name: one JSON value each, replaced as a whole.

Each value carries a version. Whoever replaces one says which version was read; if another process
has written since, nothing is written, and the caller decides again on what is true now.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import insert, select, update

from features.errors import TidecastError
from forecaster.database.database import Database
from forecaster.database.tables import CYCLE_MEMORY

NEVER_WRITTEN = 0
"""The version of what nobody has written yet."""


class Overtaken(TidecastError):
    """Another process wrote the value after it was read."""


@dataclass(frozen=True)
class Remembered:
    """A value as it was read.

    Attributes:
        document: the JSON value.
        version: what to give when it is replaced.
    """

    document: Any
    version: int


class CycleMemory:
    """Values by name."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self, name: str) -> Remembered | None:
        """The value of a name, or None if it was never written."""
        wanted = select(CYCLE_MEMORY.c.document, CYCLE_MEMORY.c.version).where(
            CYCLE_MEMORY.c.name == name
        )
        with self._database.reading() as connection:
            row = connection.execute(wanted).one_or_none()
        return None if row is None else Remembered(row.document, row.version)

    def write(self, name: str, document: Any, read_version: int = NEVER_WRITTEN) -> int:
        """Replace the value of a name.

        Args:
            name: whose value.
            document: a JSON value.
            read_version: the version that was read.

        Returns:
            The version it has now.

        Raises:
            Overtaken: another process wrote it since; nothing is changed.
        """
        values = {"document": document, "version": read_version + 1}
        own = CYCLE_MEMORY.c.name == name
        with self._database.writing() as connection:
            found = connection.scalar(select(CYCLE_MEMORY.c.version).where(own))
            if (found or NEVER_WRITTEN) != read_version:
                raise Overtaken(
                    f"'{name}' was written by another tidecast meanwhile (version {found}, read "
                    f"was {read_version}); let one process alone run cycles"
                )
            if found is None:
                connection.execute(insert(CYCLE_MEMORY).values(name=name, **values))
            else:
                connection.execute(update(CYCLE_MEMORY).where(own).values(**values))
        return read_version + 1
