"""The scheduler: jobs run when they are due, and none of them can hold up the rest."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest
from structlog.testing import capture_logs

from features.errors import BadInput, SourceUnavailable
from forecaster.database import Database
from forecaster.database.job_runs import Claim, JobRuns, RunStanding
from forecaster.scheduling import scheduler as scheduling
from forecaster.scheduling.due import Job, Work
from forecaster.scheduling.performing import Stopped
from forecaster.scheduling.scheduler import Scheduler
from forecaster.scheduling.schedules import Every
from tests.fakes.jobs import job

NOW = 1_000_000
MOST_TURNS = 2_000


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[JobRuns]:
    with Database.open(f"sqlite:///{tmp_path / 't.db'}") as database:
        yield JobRuns(database)


class Clock:
    """Shows what it is set to."""

    def __init__(self) -> None:
        self.seconds = NOW

    def __call__(self) -> int:
        return self.seconds


def doing(work: Work, name: str = "pull", **changes: object) -> Job:
    """A job that does this."""
    return replace(job(name), run=work, **changes)  # type: ignore[arg-type]


def scheduler(runs: JobRuns, *jobs: Job, clock: Clock | None = None) -> Scheduler:
    return Scheduler(jobs, runs, clock or Clock(), stop_seconds=0.7, retry_seconds=(0.0, 0.0))


async def until(holds: Callable[[], bool]) -> None:
    """Let the loop turn until something has become true."""
    for _ in range(MOST_TURNS):
        if holds():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it did not come true")


async def settled(running: Scheduler) -> None:
    await until(lambda: not running.running)


def ended(runs: JobRuns) -> dict[str, tuple[str, str]]:
    """How the last run of each job ended."""
    return {name: (run.standing.value, run.detail) for name, run in runs.last().items()}


def test_a_due_job_runs_once_and_says_what_it_did(runs: JobRuns) -> None:
    """For its due time, in a thread, with the time it began."""
    seen: list[int] = []

    def work(now: int, stop: Event) -> str:
        seen.append(now)
        return "pulled"

    async def scene() -> None:
        running = scheduler(runs, doing(work))
        for _ in range(3):
            await running.begin_due()
            await settled(running)

    with capture_logs() as told:
        asyncio.run(scene())
    assert [NOW] == seen
    assert {"pull": ("done", "pulled")} == ended(runs)
    assert NOW // 300 * 300 == runs.last()["pull"].due_seconds
    assert [("job ended", "pull", "done", "info")] == [
        (one["event"], one["job"], one["standing"], one["log_level"]) for one in told
    ]


def test_a_job_that_fails_stops_no_other_and_is_tried_again(runs: JobRuns) -> None:
    """What it raised is on record, whether it was foreseen or not."""

    def refuses(now: int, stop: Event) -> str:
        raise BadInput("no history; pull some")

    def breaks(now: int, stop: Event) -> str:
        raise ZeroDivisionError("by zero")

    clock = Clock()

    async def scene() -> None:
        running = scheduler(runs, doing(refuses, "a"), doing(breaks, "b"), job("c"), clock=clock)
        await running.begin_due()
        await settled(running)
        clock.seconds += 300
        await running.begin_due()
        await settled(running)

    with capture_logs() as told:
        asyncio.run(scene())
    assert {
        "a": ("failed", "no history; pull some"),
        "b": ("failed", "unexpected ZeroDivisionError: by zero"),
        "c": ("done", f"did nothing at {NOW + 300}"),
    } == ended(runs)
    assert 6 == len(runs.recent())
    assert {"warning"} == {one["log_level"] for one in told if one.get("standing") == "failed"}


def test_a_job_that_runs_is_not_begun_again(runs: JobRuns) -> None:
    """Though it is due again; it is begun once it has ended."""
    go, begun = Event(), []

    def work(now: int, stop: Event) -> str:
        begun.append(now)
        assert go.wait(60)
        return ""

    clock = Clock()

    async def scene() -> None:
        running = scheduler(runs, doing(work), clock=clock)
        await running.begin_due()
        await until(lambda: bool(begun))
        clock.seconds += 900
        await running.begin_due()
        assert frozenset({"pull"}) == running.running
        go.set()
        await settled(running)
        await running.begin_due()
        await settled(running)

    asyncio.run(scene())
    assert [NOW, NOW + 900] == begun


def test_a_job_that_runs_elsewhere_is_left_alone(runs: JobRuns) -> None:
    """Another process has it; nothing is recorded here."""
    runs.begin(Claim("pull", NOW - 900, "elsewhere/1/1", NOW + 60), NOW - 900)

    async def scene() -> None:
        running = scheduler(runs, job())
        await running.begin_due()
        await settled(running)

    asyncio.run(scene())
    assert {"pull": ("running", "")} == ended(runs)


def test_what_a_crash_left_open_is_closed_and_the_job_runs(runs: JobRuns) -> None:
    """Its process is not there any more, or its time is over."""
    runs.begin(Claim("pull", NOW - 900, "elsewhere/1/1", NOW - 60), NOW - 900)

    async def scene() -> None:
        running = scheduler(runs, job())
        await running.begin_due()
        await settled(running)

    asyncio.run(scene())
    assert [("done", NOW), ("interrupted", NOW)] == [
        (one.standing.value, one.ended_seconds) for one in runs.recent()
    ]


def test_a_job_that_takes_too_long_is_told_to_stop_and_counts_as_failed(runs: JobRuns) -> None:
    """It is not begun beside what is left of it."""
    asked = Event()
    go = Event()

    def work(now: int, stop: Event) -> str:
        assert stop.wait(60)
        asked.set()
        assert go.wait(60)
        return "too late"

    clock = Clock()

    async def scene() -> None:
        running = scheduler(runs, doing(work, timeout_seconds=0), clock=clock)
        await running.begin_due()
        await until(lambda: asked.is_set() and ended(runs)["pull"][0] == "timed-out")
        clock.seconds += 300
        assert frozenset({"pull"}) == running.running
        go.set()
        await settled(running)

    asyncio.run(scene())
    assert {"pull": ("timed-out", "it was not done after 0 s")} == ended(runs)


def test_it_stops_in_time_and_says_what_was_interrupted(runs: JobRuns) -> None:
    """Work that listens ends by itself; work that does not is left, and recorded."""
    deaf, go = Event(), Event()

    def listens(now: int, stop: Event) -> str:
        assert stop.wait(60)
        raise Stopped("training was asked to stop")

    def does_not(now: int, stop: Event) -> str:
        deaf.set()
        assert go.wait(60)
        return ""

    async def scene() -> None:
        stop = asyncio.Event()
        running = scheduler(runs, doing(listens, "train"), doing(does_not, "pull"))
        task = asyncio.create_task(running.run(stop))
        await until(lambda: deaf.is_set() and len(runs.recent()) == 2)
        stop.set()
        await task

    asyncio.run(scene())
    go.set()
    assert {
        "train": ("interrupted", "training was asked to stop"),
        "pull": ("interrupted", "the service stopped before it was done"),
    } == ended(runs)


def test_a_job_follows_at_once_on_the_one_it_waits_for(
    runs: JobRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without waiting for the next look at the clock."""
    monkeypatch.setattr(scheduling, "LONGEST_NAP_SECONDS", 600.0)

    async def scene() -> None:
        stop = asyncio.Event()
        running = scheduler(runs, job("forecast", after=("pull",)), job("pull"))
        task = asyncio.create_task(running.run(stop))
        await until(lambda: set(ended(runs)) == {"pull", "forecast"} and not running.running)
        stop.set()
        await task

    asyncio.run(scene())
    assert ["forecast", "pull"] == [one.name for one in runs.recent()]


def test_a_clock_that_was_ahead_silences_nothing(runs: JobRuns) -> None:
    """Runs of times to come are forgotten."""
    clock = Clock()

    async def scene() -> None:
        running = scheduler(runs, job(schedule=Every(300)), clock=clock)
        for jump in (3_600, -3_600, 300):
            clock.seconds += jump
            await running.begin_due()
            await settled(running)

    asyncio.run(scene())
    due = NOW // 300 * 300
    assert [due + 300, due] == [one.due_seconds for one in runs.recent()]


class Unreliable(JobRuns):
    """Fails as often as it is told to."""

    failures = 0

    def _may_fail(self) -> None:
        if self.failures:
            self.failures -= 1
            raise SourceUnavailable("the database is locked by another process")

    def last(self) -> dict:  # type: ignore[type-arg]
        self._may_fail()
        return super().last()

    def end(self, run: int, standing: RunStanding, detail: str, now_seconds: int) -> bool:
        self._may_fail()
        return super().end(run, standing, detail, now_seconds)


def test_a_database_that_does_not_answer_stops_nothing(tmp_path: Path) -> None:
    """What cannot be looked up runs later; an end that cannot be written is tried again."""
    with Database.open(f"sqlite:///{tmp_path / 't.db'}") as database:
        runs = Unreliable(database)
        unlucky = Event()

        def work(now: int, stop: Event) -> str:
            runs.failures = 2
            unlucky.set()
            return "pulled"

        async def scene() -> None:
            running = scheduler(runs, doing(work))
            runs.failures = 1
            await running.begin_due()
            assert frozenset() == running.running
            await running.begin_due()
            await until(unlucky.is_set)
            await settled(running)

        with capture_logs() as told:
            asyncio.run(scene())
        assert {"pull": ("done", "pulled")} == ended(runs)
    assert ["jobs cannot be looked up", "job ended", *["job's end cannot be recorded"] * 2] == [
        one["event"] for one in told
    ]
