"""Which jobs have to run now: worked out from the table, the last runs and the time, nothing else.

A job that missed many due times runs once, for the newest of them. It never runs twice for one due
time, except where the clock went back by more than a period: else it would stay silent until the
time that the clock had wrongly shown.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from threading import Event

from forecaster.scheduling.schedules import Schedule

Work = Callable[[int, Event], str]
"""Does a job's work, told the Unix time and an event that asks it to stop; says what it did."""


@dataclass(frozen=True)
class Job:
    """Something that runs by itself.

    Attributes:
        name: what people call it by.
        purpose: what it does, in a few words.
        schedule: when it is due.
        run: does the work.
        timeout_seconds: after so long it counts as failed.
        after: jobs whose results it builds on; it waits while one of them runs or is about to.
    """

    name: str
    purpose: str
    schedule: Schedule
    run: Work
    timeout_seconds: int
    after: tuple[str, ...] = ()


@dataclass(frozen=True)
class DueRun:
    """A job that has to run.

    Attributes:
        job: which one.
        due_seconds: Unix time for which it runs.
        clock_went_back: whether runs for later due times exist that cannot have been.
    """

    job: Job
    due_seconds: int
    clock_went_back: bool = False


def due_runs(
    jobs: Sequence[Job],
    last_due_seconds: Mapping[str, int],
    now_seconds: int,
    busy: Collection[str] = (),
) -> tuple[DueRun, ...]:
    """What has to run now, at most one run of each job, in the order of the table.

    Args:
        jobs: the table.
        last_due_seconds: by name, the newest due time for which a job ran; none if it never has.
        now_seconds: Unix time.
        busy: names of jobs that are running.
    """
    found = [
        run
        for job in jobs
        if job.name not in busy
        and (run := _due(job, last_due_seconds.get(job.name), now_seconds)) is not None
    ]
    before = {*busy, *(run.job.name for run in found)}
    return tuple(run for run in found if before.isdisjoint(run.job.after))


def seconds_to_next(jobs: Sequence[Job], now_seconds: int) -> int:
    """How long until the next due time of any job, at least a second."""
    return min(job.schedule.next_due(now_seconds) for job in jobs) - now_seconds


def _due(job: Job, last_seconds: int | None, now_seconds: int) -> DueRun | None:
    due = job.schedule.last_due(now_seconds)
    if due is None or due == last_seconds:
        return None
    if last_seconds is None or due > last_seconds:
        return DueRun(job, due)
    before_last = job.schedule.last_due(last_seconds - 1)
    if before_last is not None and before_last > now_seconds:
        return DueRun(job, due, clock_went_back=True)
    return None
