"""What may be done for each pool, as people set it; where nobody has, forecasts alone.

The policy says what a pool may be; a mode set here can be taken back at once, without a new policy.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from actuator.policy import OperatingMode
from features.errors import BadInput
from forecaster.database.cycle_memory import NEVER_WRITTEN, Overtaken
from forecaster.database.database import Database
from forecaster.database.tables import POOL_MODES

LONGEST_TEXT = 500
DEFAULT_MODE = OperatingMode.FORECAST_ONLY
_COLUMNS = POOL_MODES.c


@dataclass(frozen=True)
class PoolMode:
    """A pool's mode, and how it came to have it.

    Attributes:
        pool: whose mode.
        mode: what may be done.
        author: who said so.
        reason: why; may be empty.
        made_seconds: Unix time at which it was said; None where nobody has.
        version: 1 at first, one more with each change; 0 where nobody has set it.
    """

    pool: str
    mode: OperatingMode
    author: str
    reason: str
    made_seconds: int | None
    version: int


class PoolModes:
    """Modes by pool."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, pool: str) -> PoolMode:
        """A pool's mode; forecast-only, at version 0, where nobody has set one."""
        with self._database.reading() as connection:
            return _found(connection, pool)

    def modes(self) -> Mapping[str, PoolMode]:
        """The modes that people have set, by pool."""
        with self._database.reading() as connection:
            rows = connection.execute(select(POOL_MODES).order_by(_COLUMNS.pool)).all()
        return {row.pool: _mode(row) for row in rows}

    def change(self, wanted: PoolMode, read_version: int | None = None) -> PoolMode:
        """Set a pool's mode from the next cycle on.

        Args:
            wanted: the mode, who says so, when and why; its version does not count.
            read_version: the version that was read; None to set it whatever it was.

        Returns:
            As it is now; unchanged if it says the same mode.

        Raises:
            Overtaken: somebody changed it since.
            BadInput: nobody or too much is named.
        """
        _check(wanted)
        with self._database.writing() as connection:
            held = _found(connection, wanted.pool)
            if read_version is not None and held.version != read_version:
                raise Overtaken(
                    f"the mode of {wanted.pool} was changed meanwhile (version {held.version}, "
                    f"read was {read_version}); read it again"
                )
            if held.version != NEVER_WRITTEN and held.mode is wanted.mode:
                return held
            values = {
                "mode": wanted.mode.value,
                "author": wanted.author,
                "reason": wanted.reason,
                "made_seconds": wanted.made_seconds,
                "version": held.version + 1,
            }
            if held.version == NEVER_WRITTEN:
                connection.execute(insert(POOL_MODES).values(pool=wanted.pool, **values))
            else:
                own = _COLUMNS.pool == wanted.pool
                connection.execute(update(POOL_MODES).where(own).values(**values))
            return _found(connection, wanted.pool)


def _found(connection: Connection, pool: str) -> PoolMode:
    row = connection.execute(select(POOL_MODES).where(_COLUMNS.pool == pool)).one_or_none()
    if row is None:
        return PoolMode(pool, DEFAULT_MODE, "", "", None, NEVER_WRITTEN)
    return _mode(row)


def _mode(row: Row[Any]) -> PoolMode:
    return PoolMode(
        pool=row.pool,
        mode=OperatingMode(row.mode),
        author=row.author,
        reason=row.reason,
        made_seconds=row.made_seconds,
        version=row.version,
    )


def _check(wanted: PoolMode) -> None:
    if not wanted.pool.strip() or not wanted.author.strip() or wanted.made_seconds is None:
        raise BadInput("a mode needs a pool, an author and a time; say whose, and who sets it")
    if max(len(wanted.pool), len(wanted.author), len(wanted.reason)) > LONGEST_TEXT:
        raise BadInput(f"mode: a text is longer than {LONGEST_TEXT} characters; shorten it")
