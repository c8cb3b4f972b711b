"""What the store of job runs keeps to, on every database."""

import pytest

from features.errors import BadInput
from forecaster.database import Database
from forecaster.database.job_runs import Claim, JobRun, JobRuns, RunStanding
from tests.fakes.processes import process

DAY = 86_400


def claim(name: str = "pull", due: int = 300, holder: str = "here/1/1") -> Claim:
    return Claim(name, due, holder, give_up_seconds=due + 60)


def ran(runs: JobRuns, name: str, due: int, at: int) -> int:
    """A run that is done."""
    run = runs.begin(claim(name, due), at)
    assert run is not None
    assert runs.end(run, RunStanding.DONE, "did it", at + 1)
    return run


def test_a_run_tells_what_became_of_it(database: Database) -> None:
    """From its beginning to its end, which comes once."""
    runs = JobRuns(database)
    run = runs.begin(claim(), 301)
    assert run is not None
    begun = JobRun(run, "pull", 300, 301, None, RunStanding.RUNNING, "", "here/1/1", 360)
    assert {"pull": begun} == runs.last()
    assert runs.end(run, RunStanding.FAILED, "no answer ☂", 305)
    assert not runs.end(run, RunStanding.DONE, "after all", 306)
    ended = JobRun(run, "pull", 300, 301, 305, RunStanding.FAILED, "no answer ☂", "here/1/1", 360)
    assert (ended,) == runs.recent("pull") == runs.recent()
    assert not runs.end(999, RunStanding.DONE, "", 306)


def test_a_job_never_runs_beside_itself(database: Database) -> None:
    """Other jobs do; once it has ended it may run again, but not for the same due time."""
    runs = JobRuns(database)
    first = runs.begin(claim(due=300), 301)
    assert first is not None
    assert runs.begin(claim(due=600, holder="there/2/2"), 601) is None
    assert runs.begin(claim("score"), 301) is not None
    runs.end(first, RunStanding.DONE, "", 602)
    assert runs.begin(claim(due=300), 603) is None
    assert runs.begin(claim(due=600), 604) is not None


RACE = """
import sys
from forecaster.database import Database
from forecaster.database.job_runs import Claim, JobRuns, RunStanding
url, holder = sys.argv[1:]
with Database.open(url) as database:
    runs = JobRuns(database)
    for due in range(40):
        run = runs.begin(Claim("pull", due, holder, due + 60), due)
        if run is not None:
            print(due, flush=True)
            runs.end(run, RunStanding.DONE, "", due)
"""


def test_of_two_processes_one_runs_a_job(url: str) -> None:
    """Each due time is run by one of them, never by both."""
    racers = [process(RACE, url, holder) for holder in ("a", "b")]
    answers = [racer.communicate(timeout=60) for racer in racers]
    assert ["", ""] == [err for _, err in answers]
    won = [[int(line) for line in out.split()] for out, _ in answers]
    assert sorted({*won[0], *won[1]}) == sorted(won[0] + won[1])
    with Database.open(url) as database:
        held = {run.due_seconds: run.holder for run in JobRuns(database).recent(limit=50)}
    assert dict.fromkeys(won[0], "a") | dict.fromkeys(won[1], "b") == held


def test_runs_of_the_dead_are_closed(database: Database) -> None:
    """Those that live go on; whoever looks next finds nothing more to close."""
    runs = JobRuns(database)
    for name, holder in (("pull", "dead"), ("train", "alive")):
        runs.begin(claim(name, holder=holder), 300)

    def is_dead(run: JobRun, now_seconds: int) -> bool:
        assert 400 == now_seconds
        return run.holder == "dead"

    assert ["pull"] == [one.name for one in runs.close_dead(is_dead, 400)]
    assert () == runs.close_dead(is_dead, 400)
    last = runs.last()
    assert (RunStanding.INTERRUPTED, 400) == (last["pull"].standing, last["pull"].ended_seconds)
    assert RunStanding.RUNNING is last["train"].standing


def test_the_last_run_is_the_one_that_was_due_last(database: Database) -> None:
    """Of each job; runs from a clock that was ahead can be forgotten."""
    runs = JobRuns(database)
    for due in (300, 900, 600):
        ran(runs, "pull", due, due)
    ran(runs, "score", 900, 900)
    assert {"pull": 900, "score": 900} == {
        one.name: one.due_seconds for one in runs.last().values()
    }
    assert 1 == runs.forget_after("pull", 600)
    assert {"pull": 600, "score": 900} == {
        one.name: one.due_seconds for one in runs.last().values()
    }


def test_recent_runs_come_newest_first(database: Database) -> None:
    """At most so many."""
    runs = JobRuns(database)
    for due in range(5):
        ran(runs, "pull", due, due)
    ran(runs, "score", 9, 9)
    assert [4, 3] == [one.due_seconds for one in runs.recent("pull", limit=2)]
    assert [9, 4, 3] == [one.due_seconds for one in runs.recent(limit=3)]
    with pytest.raises(BadInput, match="not between 1 and 1000"):
        runs.recent(limit=0)


def test_old_runs_are_removed_but_the_last_of_each_job(database: Database) -> None:
    """What is running stays as well."""
    runs = JobRuns(database)
    for due in (100, 200):
        ran(runs, "train", due, due)
    runs.begin(claim("pull", 50), 50)
    assert 0 == runs.prune(101 + DAY, keep_days=1)
    assert 1 == runs.prune(99 * DAY, keep_days=1)
    assert {"train": 200, "pull": 50} == {one.name: one.due_seconds for one in runs.last().values()}
