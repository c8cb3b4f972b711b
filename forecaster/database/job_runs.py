"""Runs of the scheduled jobs: what is running, and what became of what ran.

Two runs of one job never overlap, in however many processes: beginning one is a transaction of the
only writer, and the table's index holds it besides. A run whose process died is closed by whoever
looks next.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, func, insert, select, update

from features.errors import BadInput
from forecaster.database.database import Database
from forecaster.database.tables import JOBS

KEEP_DAYS = 30
LONGEST_DETAIL = 2_000
MOST_RUNS = 1_000
_DAY_SECONDS = 86_400
_COLUMNS = JOBS.c
_IS_OPEN = _COLUMNS.ended_seconds.is_(None)


class RunStanding(StrEnum):
    """How far a run has come."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    TIMED_OUT = "timed-out"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class JobRun:
    """One run of one job.

    Attributes:
        run: its number; later ones are higher.
        name: the job's.
        due_seconds: Unix time for which it ran.
        begun_seconds: Unix time at which it began.
        ended_seconds: Unix time at which it ended; None while it runs.
        standing: how far it has come.
        detail: what it did, or why it failed, in a line.
        holder: the process that runs it.
        give_up_seconds: Unix time after which it counts as dead.
    """

    run: int
    name: str
    due_seconds: int
    begun_seconds: int
    ended_seconds: int | None
    standing: RunStanding
    detail: str
    holder: str
    give_up_seconds: int


@dataclass(frozen=True)
class Claim:
    """Who wants to run a job, and for which due time.

    Attributes:
        name: the job's.
        due_seconds: Unix time for which it would run.
        holder: the process.
        give_up_seconds: Unix time after which the run counts as dead.
    """

    name: str
    due_seconds: int
    holder: str
    give_up_seconds: int


class JobRuns:
    """Runs by job and due time."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, claim: Claim, now_seconds: int) -> int | None:
        """Begin a run.

        Returns:
            Its number; None where the job is running, or has run for this due time: another
            process was first.
        """
        own = _COLUMNS.name == claim.name
        with self._database.writing() as connection:
            taken = own & (_IS_OPEN | (_COLUMNS.due_seconds == claim.due_seconds))
            if connection.scalar(select(func.count()).select_from(JOBS).where(taken)):
                return None
            run: int = connection.execute(
                insert(JOBS).returning(_COLUMNS.run),
                {
                    "name": claim.name,
                    "due_seconds": claim.due_seconds,
                    "begun_seconds": now_seconds,
                    "standing": RunStanding.RUNNING.value,
                    "document": {
                        "detail": "",
                        "holder": claim.holder,
                        "give_up_seconds": claim.give_up_seconds,
                    },
                },
            ).scalar_one()
        return run

    def end(self, run: int, standing: RunStanding, detail: str, now_seconds: int) -> bool:
        """Say what became of a run; gives whether this call ended it, and not one before."""
        with self._database.writing() as connection:
            found = connection.execute(_runs(_COLUMNS.run == run)).one_or_none()
            if found is None or found.ended_seconds is not None:
                return False
            _end(connection, _run(found), standing, detail, now_seconds)
        return True

    def close_dead(
        self, is_dead: Callable[[JobRun, int], bool], now_seconds: int
    ) -> tuple[JobRun, ...]:
        """Close the open runs whose process is no more, as interrupted; gives them as they were.

        Args:
            is_dead: whether a run's process is gone, at a moment.
            now_seconds: Unix time.
        """
        with self._database.reading() as connection:
            found = [_run(row) for row in connection.execute(_runs(_IS_OPEN))]
        dead = tuple(one for one in found if is_dead(one, now_seconds))
        return tuple(
            one
            for one in dead
            if self.end(one.run, RunStanding.INTERRUPTED, "its process ended early", now_seconds)
        )

    def forget_after(self, name: str, now_seconds: int) -> int:
        """Forget what a job ran for due times to come, which a clock that was ahead left behind."""
        ahead = (_COLUMNS.name == name) & (_COLUMNS.due_seconds > now_seconds)
        with self._database.writing() as connection:
            return connection.execute(delete(JOBS).where(ahead, ~_IS_OPEN)).rowcount

    def last(self) -> dict[str, JobRun]:
        """The last run of each job, by due time."""
        newest = select(_COLUMNS.name, func.max(_COLUMNS.due_seconds).label("due"))
        last = newest.group_by(_COLUMNS.name).subquery()
        wanted = select(JOBS).join(
            last, (_COLUMNS.name == last.c.name) & (_COLUMNS.due_seconds == last.c.due)
        )
        with self._database.reading() as connection:
            return {row.name: _run(row) for row in connection.execute(wanted)}

    def recent(self, name: str | None = None, limit: int = 50) -> tuple[JobRun, ...]:
        """The newest runs of one job, or of all; newest first.

        Raises:
            BadInput: the limit is not between 1 and 1000.
        """
        if not 1 <= limit <= MOST_RUNS:
            raise BadInput(f"a limit of {limit} runs is not between 1 and {MOST_RUNS}")
        wanted = select(JOBS) if name is None else _runs(_COLUMNS.name == name)
        with self._database.reading() as connection:
            rows = connection.execute(wanted.order_by(_COLUMNS.run.desc()).limit(limit))
            return tuple(_run(row) for row in rows)

    def prune(self, now_seconds: int, keep_days: int = KEEP_DAYS) -> int:
        """Remove runs that ended so long ago, but the last of each job; gives how many went."""
        last = select(func.max(_COLUMNS.due_seconds)).group_by(_COLUMNS.name)
        old = delete(JOBS).where(
            _COLUMNS.ended_seconds < now_seconds - keep_days * _DAY_SECONDS,
            _COLUMNS.due_seconds.not_in(last),
        )
        with self._database.writing() as connection:
            return connection.execute(old).rowcount


def _runs(condition: Any) -> Select[Any]:
    return select(JOBS).where(condition)


def _run(row: Row[Any]) -> JobRun:
    return JobRun(
        run=row.run,
        name=row.name,
        due_seconds=row.due_seconds,
        begun_seconds=row.begun_seconds,
        ended_seconds=row.ended_seconds,
        standing=RunStanding(row.standing),
        detail=row.document["detail"],
        holder=row.document["holder"],
        give_up_seconds=row.document["give_up_seconds"],
    )


def _end(
    connection: Connection, run: JobRun, standing: RunStanding, detail: str, now_seconds: int
) -> None:
    document = {
        "detail": detail[:LONGEST_DETAIL],
        "holder": run.holder,
        "give_up_seconds": run.give_up_seconds,
    }
    connection.execute(
        update(JOBS)
        .where(_COLUMNS.run == run.run)
        .values(ended_seconds=now_seconds, standing=standing.value, document=document)
    )
