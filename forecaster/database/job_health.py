"""How each scheduled job has fared: its last good run, and what failed since.

`job_runs` keeps the runs; this only looks at them, by the index on job and due time.
"""

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from forecaster.database.database import Database
from forecaster.database.job_runs import RunStanding
from forecaster.database.tables import JOBS

_COLUMNS = JOBS.c
_FAILED = (RunStanding.FAILED, RunStanding.TIMED_OUT, RunStanding.INTERRUPTED)


@dataclass(frozen=True)
class JobHealth:
    """How one job has fared.

    Attributes:
        name: the job's.
        succeeded_seconds: Unix time at which it last ended well; None if it never did.
        lasted_seconds: how long its last run took that ended; None if none did.
        failures_in_a_row: runs since the last good one that did not end well.
        is_running: whether it runs now.
    """

    name: str
    succeeded_seconds: int | None
    lasted_seconds: int | None
    failures_in_a_row: int
    is_running: bool


def job_health(database: Database) -> tuple[JobHealth, ...]:
    """How every job has fared that ever ran, by name.

    Raises:
        SourceUnavailable: the database does not answer.
    """
    names = select(_COLUMNS.name).distinct().order_by(_COLUMNS.name)
    with database.reading() as connection:
        return tuple(_health(connection, name) for name in connection.scalars(names).all())


def _health(connection: Connection, name: str) -> JobHealth:
    own = select(JOBS).where(_COLUMNS.name == name).order_by(_COLUMNS.due_seconds.desc()).limit(1)
    good = connection.execute(own.where(_COLUMNS.standing == RunStanding.DONE)).one_or_none()
    ended = connection.execute(own.where(_COLUMNS.ended_seconds.is_not(None))).one_or_none()
    running = connection.execute(own.where(_COLUMNS.ended_seconds.is_(None))).one_or_none()
    failed = select(func.count()).where(_COLUMNS.name == name, _COLUMNS.standing.in_(_FAILED))
    if good is not None:
        failed = failed.where(_COLUMNS.due_seconds > good.due_seconds)
    return JobHealth(
        name,
        None if good is None else good.ended_seconds,
        None if ended is None else ended.ended_seconds - ended.begun_seconds,
        connection.scalar(failed) or 0,
        running is not None,
    )
