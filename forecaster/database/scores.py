"""How forecasts did and what to make of it, pool by pool: the newest, and how it came about.

Every score that is newest is kept whole. Of those before it one per hour stays, and each that
changed the standing, so that a season of scores stays small.
"""

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import to_json
from sqlalchemy import Connection, Row, delete, func, insert, select

from features.pool import Pool
from forecaster.database.database import Database
from forecaster.database.tables import SCORES
from models.live_score import LiveScore
from models.verdict import Verdict

KEEP_DAYS = 90
_HOUR_SECONDS = 3_600
_DAY_SECONDS = 86_400
_COLUMNS = SCORES.c


@dataclass(frozen=True)
class KeptScore:
    """A pool's score at a moment, and the verdict that followed.

    Attributes:
        score: what past forecasts were worth.
        verdict: what to make of the next ones.
    """

    score: LiveScore
    verdict: Verdict

    @property
    def scored_seconds(self) -> int:
        """Unix time of the score."""
        return self.score.now_seconds


class Scores:
    """Scores by pool and time."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, kept: KeptScore) -> None:
        """Keep a score; the one before it goes if it says nothing that the new one does not."""
        pool = str(kept.verdict.pool)
        with self._database.writing() as connection:
            own = _COLUMNS.pool == pool
            repeated = _COLUMNS.scored_seconds == kept.scored_seconds
            connection.execute(delete(SCORES).where(own, repeated))
            last = _newest(connection, pool)
            if last is not None and _adds_nothing(last, kept):
                gone = _COLUMNS.scored_seconds == last.scored_seconds
                connection.execute(delete(SCORES).where(own, gone))
            connection.execute(insert(SCORES).values(**_row(kept)))

    def newest(self) -> dict[Pool, KeptScore]:
        """The newest score of each pool."""
        last = select(_COLUMNS.pool, func.max(_COLUMNS.scored_seconds).label("at"))
        newest = last.group_by(_COLUMNS.pool).subquery()
        wanted = select(SCORES).join(
            newest, (_COLUMNS.pool == newest.c.pool) & (_COLUMNS.scored_seconds == newest.c.at)
        )
        with self._database.reading() as connection:
            found = [_kept(row) for row in connection.execute(wanted)]
        return {one.verdict.pool: one for one in found}

    def between(self, pool: Pool, since_seconds: int, until_seconds: int) -> tuple[KeptScore, ...]:
        """The scores of a pool in [since, until), oldest first."""
        wanted = select(SCORES).where(
            _COLUMNS.pool == str(pool),
            _COLUMNS.scored_seconds >= since_seconds,
            _COLUMNS.scored_seconds < until_seconds,
        )
        with self._database.reading() as connection:
            rows = connection.execute(wanted.order_by(_COLUMNS.scored_seconds))
            return tuple(_kept(row) for row in rows)

    def prune(self, now_seconds: int, keep_days: int = KEEP_DAYS) -> int:
        """Remove scores of so long ago; gives how many went."""
        old = delete(SCORES).where(_COLUMNS.scored_seconds < now_seconds - keep_days * _DAY_SECONDS)
        with self._database.writing() as connection:
            return connection.execute(old).rowcount


@cache
def _adapter() -> TypeAdapter[KeptScore]:
    return TypeAdapter(KeptScore)


def _row(kept: KeptScore) -> dict[str, object]:
    """JSON has no NaN: written as text it can be read back, where null could not."""
    return {
        "pool": str(kept.verdict.pool),
        "scored_seconds": kept.scored_seconds,
        "document": json.loads(to_json(kept, inf_nan_mode="strings")),
    }


def _kept(row: Row[Any]) -> KeptScore:
    return _adapter().validate_python(row.document)


def _newest(connection: Connection, pool: str) -> KeptScore | None:
    wanted = select(SCORES).where(_COLUMNS.pool == pool)
    wanted = wanted.order_by(_COLUMNS.scored_seconds.desc()).limit(1)
    row = connection.execute(wanted).one_or_none()
    return None if row is None else _kept(row)


def _adds_nothing(last: KeptScore, new: KeptScore) -> bool:
    """Whether the last score lies in the same hour, and did not itself change the standing."""
    same_hour = last.scored_seconds // _HOUR_SECONDS == new.scored_seconds // _HOUR_SECONDS
    return same_hour and last.verdict.since_seconds != last.scored_seconds
