"""The scheduled jobs from the command line: what each did last, and one of them run now."""

from collections.abc import Callable
from pathlib import Path
from threading import Event

from forecaster.database import Database
from forecaster.database.job_runs import JobRun, JobRuns, RunStanding
from forecaster.json_shapes import JobAnswer, JobsAnswer, RunOfJob, ScheduledJob
from forecaster.scheduling.due import DueRun
from forecaster.scheduling.jobs import job_named, service_jobs
from forecaster.scheduling.performing import begin, outcome_of
from forecaster.wiring import Workspace

RUNS_ALREADY = "it is running already, or has just run"


def list_jobs(workspace: Workspace, now_seconds: int) -> JobsAnswer:
    """Every job, when it is due, and its last run."""
    with workspace.open_database() as database:
        return jobs_of(workspace, database, now_seconds)


def jobs_of(workspace: Workspace, database: Database, now_seconds: int) -> JobsAnswer:
    """The same, where the database is open already."""
    last = JobRuns(database).last()
    jobs = service_jobs(workspace, database, None)
    return JobsAnswer(
        jobs=[
            ScheduledJob(
                job=job.name,
                purpose=job.purpose,
                schedule=str(job.schedule),
                next_due_seconds=job.schedule.next_due(now_seconds),
                last=run_of(last[job.name]) if job.name in last else None,
            )
            for job in jobs
        ]
    )


def run_job(
    workspace: Workspace, name: str, config: Path | None, clock: Callable[[], int], stop: Event
) -> JobAnswer:
    """Run one job now, whenever it is due, unless it is running elsewhere.

    Args:
        workspace: settings and data directory.
        name: the job's.
        config: the settings file.
        clock: Unix time; the run counts as the one that is due now.
        stop: asks the work to stop.

    Raises:
        BadInput: there is no such job.
        SourceUnavailable: the database does not answer.
    """
    with workspace.open_database() as database:
        runs = JobRuns(database)
        job = job_named(service_jobs(workspace, database, config), name)
        now_seconds = clock()
        run = begin(runs, DueRun(job, now_seconds), now_seconds)
        if run is None:
            return JobAnswer(job=name, standing="skipped", detail=RUNS_ALREADY)
        outcome = RunStanding.INTERRUPTED, "it was broken off"
        try:
            outcome = outcome_of(job, now_seconds, stop)
        finally:
            runs.end(run, *outcome, clock())
    standing, detail = outcome
    return JobAnswer(job=name, standing=standing.value, detail=detail)


def run_of(run: JobRun) -> RunOfJob:
    """A run as it is printed."""
    return RunOfJob(
        due_seconds=run.due_seconds,
        begun_seconds=run.begun_seconds,
        ended_seconds=run.ended_seconds,
        standing=run.standing.value,
        detail=run.detail,
    )
