"""The table of jobs: what the service does by itself, and when.

Each row can also be run by `tidecast job run NAME`, from a Kubernetes CronJob for instance. A row
does its work by a task that commands use too; nothing is worked out here.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event

from features.errors import BadInput
from forecaster.database import Database
from forecaster.scheduling.due import Job, Work
from forecaster.scheduling.processes import run_command
from forecaster.scheduling.schedules import Cron, Every
from forecaster.wiring import Workspace

PULL, FORECAST, SCORE, TRAIN = "pull", "forecast", "score", "train"
CALENDARS, CRON_JOBS, PRUNE = "calendars", "cron-jobs", "prune"

TRAIN_TIMEOUT_SECONDS = 6 * 3_600
SHORT_TIMEOUT_SECONDS = 600


def service_jobs(workspace: Workspace, database: Database, config: Path | None) -> tuple[Job, ...]:
    """The jobs that these settings ask for.

    Args:
        workspace: settings and data directory.
        database: where what they do is kept.
        config: the settings file, for what runs in a process of its own.
    """
    group, zone = workspace.settings.schedule, workspace.settings.calendar.time_zone
    often = Every(group.forecast_every_seconds, group.offset_seconds)
    jobs = [
        Job(
            FORECAST,
            "forecast every pool",
            often,
            _forecast(workspace, database),
            SHORT_TIMEOUT_SECONDS,
            after=(PULL, CALENDARS, CRON_JOBS),
        ),
        Job(
            SCORE,
            "hold past forecasts against what came",
            often,
            _score(workspace, database),
            SHORT_TIMEOUT_SECONDS,
            after=(PULL, FORECAST),
        ),
        Job(
            TRAIN,
            "train the models",
            Cron(group.train_cron, zone),
            _train(config),
            TRAIN_TIMEOUT_SECONDS,
            after=(PULL,),
        ),
        Job(
            PRUNE,
            "remove old records",
            Cron(group.prune_cron, zone),
            _prune(workspace, database),
            SHORT_TIMEOUT_SECONDS,
        ),
    ]
    return (*_jobs_of_sources(workspace, database), *jobs)


def _jobs_of_sources(workspace: Workspace, database: Database) -> Iterator[Job]:
    """The jobs that read what the settings name."""
    group, announced = workspace.settings.schedule, workspace.settings.announcements
    if workspace.settings.prometheus.url is not None:
        often = Every(group.forecast_every_seconds, group.offset_seconds)
        yield Job(PULL, "pull history", often, _pull(workspace), SHORT_TIMEOUT_SECONDS)
    read = Every(group.calendars_every_seconds)
    if announced.cron_jobs:
        work = _cron_jobs(workspace, database)
        yield Job(CRON_JOBS, "read the CronJobs", read, work, SHORT_TIMEOUT_SECONDS)
    if announced.calendars:
        work = _calendars(workspace, database)
        yield Job(CALENDARS, "read the calendars", read, work, SHORT_TIMEOUT_SECONDS)


def job_named(jobs: Sequence[Job], name: str) -> Job:
    """The job of that name.

    Raises:
        BadInput: there is none, or these settings do not ask for it.
    """
    for job in jobs:
        if job.name == name:
            return job
    raise BadInput(
        f"there is no job '{name}' with these settings; there are "
        f"{', '.join(job.name for job in jobs)}"
    )


def _pull(workspace: Workspace) -> Work:
    def run(now_seconds: int, _stop: Event) -> str:
        from forecaster.tasks.pulling import pull_history

        answer = pull_history(workspace, now_seconds)
        told = f"{answer.observed_steps} observed steps of {len(answer.pools)} pools"
        return "; ".join([told, *answer.warnings])

    return run


def _forecast(workspace: Workspace, database: Database) -> Work:
    def run(now_seconds: int, _stop: Event) -> str:
        from forecaster.tasks.recording import record_forecasts

        return record_forecasts(workspace, database, now_seconds)

    return run


def _score(workspace: Workspace, database: Database) -> Work:
    def run(now_seconds: int, _stop: Event) -> str:
        from forecaster.tasks.recording import record_scores

        return record_scores(workspace, database, now_seconds)

    return run


def _train(config: Path | None) -> Work:
    """In a process of its own, so that no cycle waits for it and its memory is given back."""

    def run(_now_seconds: int, stop: Event) -> str:
        place = () if config is None else ("--config", str(config))
        answer = json.loads(run_command(("train", "--output", "json", *place), stop))
        done = "is champion now" if answer["promoted"] else "was not made champion"
        return "; ".join([f"{answer['challenger']} {done}", *answer["reasons"]])

    return run


def _prune(workspace: Workspace, database: Database) -> Work:
    def run(now_seconds: int, _stop: Event) -> str:
        from forecaster.tasks.recording import clear_away

        return clear_away(workspace, database, now_seconds)

    return run


def _calendars(workspace: Workspace, database: Database) -> Work:
    def run(now_seconds: int, _stop: Event) -> str:
        from forecaster.tasks.calendars import take_calendars

        return take_calendars(workspace, database, now_seconds)

    return run


def _cron_jobs(workspace: Workspace, database: Database) -> Work:
    def run(now_seconds: int, _stop: Event) -> str:
        from forecaster.tasks.cron_jobs import take_cron_jobs

        return take_cron_jobs(workspace, database, now_seconds)

    return run
