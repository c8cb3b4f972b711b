"""One run of one job, from its work to what became of it; shared by scheduler and command line.

Whatever the work raises becomes a standing and a line: no job can break what runs it.
"""

from threading import Event

import structlog

from features.errors import TidecastError
from forecaster.database.job_runs import Claim, JobRuns, RunStanding
from forecaster.scheduling.due import DueRun, Job
from forecaster.scheduling.holders import is_dead, this_process

GRACE_SECONDS = 60
"""How much longer than its time-out a run may be open before others take it for dead."""

Outcome = tuple[RunStanding, str]

log = structlog.get_logger()


class Stopped(TidecastError):
    """The work was broken off because it was asked to stop."""


def begin(runs: JobRuns, due: DueRun, now_seconds: int) -> int | None:
    """Begin a run; None where another process was first."""
    if due.clock_went_back:
        runs.forget_after(due.job.name, now_seconds)
    runs.close_dead(is_dead, now_seconds)
    give_up = now_seconds + due.job.timeout_seconds + GRACE_SECONDS
    return runs.begin(Claim(due.job.name, due.due_seconds, this_process(), give_up), now_seconds)


def outcome_of(job: Job, now_seconds: int, stop: Event) -> Outcome:
    """Do a job's work, and say what became of it."""
    try:
        return RunStanding.DONE, job.run(now_seconds, stop)
    except Stopped as stopped:
        return RunStanding.INTERRUPTED, str(stopped)
    except TidecastError as error:
        return RunStanding.FAILED, " ".join(str(error).splitlines())
    except Exception as error:
        log.exception("job raised what it should not", job=job.name)
        return RunStanding.FAILED, f"unexpected {type(error).__name__}: {error}"


def told(job: Job, outcome: Outcome) -> None:
    """Write what became of a run into the log."""
    standing, detail = outcome
    tell = log.info if standing is RunStanding.DONE else log.warning
    tell("job ended", job=job.name, standing=standing.value, detail=detail)
