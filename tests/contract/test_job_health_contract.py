"""How jobs have fared, by both databases."""

from forecaster.database import Database
from forecaster.database.job_health import JobHealth, job_health
from forecaster.database.job_runs import Claim, JobRuns, RunStanding

DONE, FAILED = RunStanding.DONE, RunStanding.FAILED


def run(
    database: Database, name: str, due: int, standing: RunStanding | None, lasts: int = 5
) -> None:
    """A run that ends so, or goes on."""
    runs = JobRuns(database)
    number = runs.begin(Claim(name, due, "test", due + 600), due + 1)
    assert number is not None
    if standing is not None:
        runs.end(number, standing, "", due + 1 + lasts)


def test_jobs_that_run_well_fail_and_hang(database: Database) -> None:
    """Failures count from the last good run on, and a run that goes on is none."""
    run(database, "a-failing", 0, FAILED)
    run(database, "a-failing", 100, DONE, lasts=7)
    run(database, "a-failing", 200, RunStanding.TIMED_OUT, lasts=50)
    run(database, "a-failing", 300, RunStanding.INTERRUPTED, lasts=9)
    run(database, "a-failing", 400, None)
    run(database, "never", 100, FAILED)
    run(database, "well", 0, FAILED)
    run(database, "well", 100, DONE, lasts=3)
    assert (
        JobHealth("a-failing", 108, 9, 2, is_running=True),
        JobHealth("never", None, 5, 1, is_running=False),
        JobHealth("well", 104, 3, 0, is_running=False),
    ) == job_health(database)


def test_before_any_run_there_is_nothing(database: Database) -> None:
    """No job is made up."""
    assert () == job_health(database)
