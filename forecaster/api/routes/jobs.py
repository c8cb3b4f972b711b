"""The scheduled jobs, when each is due, and how its runs went."""

from typing import Annotated

from fastapi import APIRouter, Query

from forecaster.api.parameters import PRINTABLE, Limit
from forecaster.api.security import READ, Context
from forecaster.json_shapes import JobsAnswer, RunOfJob, Shape
from forecaster.tasks.jobs import jobs_of, run_of

router = APIRouter(prefix="/v1/jobs", tags=["records"], dependencies=[READ])


class RunOfSomeJob(RunOfJob):
    """One run of one job."""

    job: str
    """Which job."""


class RunsAnswer(Shape):
    """Runs of jobs."""

    runs: list[RunOfSomeJob]
    """Newest first."""


@router.get("", operation_id="list_jobs", summary="The scheduled jobs")
def list_jobs(context: Context) -> JobsAnswer:
    """Every job, when it is due, and its last run."""
    return jobs_of(context.workspace, context.database, context.clock())


@router.get("/runs", operation_id="list_runs", summary="Runs of the jobs, newest first")
def list_runs(
    context: Context,
    job: Annotated[
        str | None,
        Query(description="Of this job alone.", min_length=1, max_length=100, pattern=PRINTABLE),
    ] = None,
    limit: Limit = 50,
) -> RunsAnswer:
    """What ran, how long, and what became of it; the cycle is a job too."""
    found = context.job_runs.recent(job, limit)
    return RunsAnswer(runs=[RunOfSomeJob(job=one.name, **dict(run_of(one))) for one in found])
