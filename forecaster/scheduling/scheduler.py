"""Runs the jobs when they are due, beside whatever else the event loop does.

Each run has a thread of its own, which dies with the process, so that work that hangs holds up
neither the loop nor the end. It looks at the clock at least every few seconds and works out anew
what is due, so that a clock that jumps is noticed and nothing has to be remembered.
"""

import asyncio
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import structlog

from features.errors import TidecastError
from forecaster.clock import now_seconds
from forecaster.database.job_runs import JobRuns, RunStanding
from forecaster.scheduling.due import DueRun, Job, due_runs, seconds_to_next
from forecaster.scheduling.freed_memory import give_back
from forecaster.scheduling.performing import Outcome, begin, outcome_of, told

LONGEST_NAP_SECONDS = 5.0
STOP_SECONDS = 8.0
RETRY_SECONDS = (1.0, 5.0, 15.0)

log = structlog.get_logger()


@dataclass
class _Running:
    """A run under way.

    Attributes:
        stop: asks the work to stop.
        task: watches over it; not there before the first moment.
        run: its number; None until it has begun.
    """

    stop: threading.Event = field(default_factory=threading.Event)
    task: "asyncio.Task[None] | None" = None
    run: int | None = None


class Scheduler:
    """The jobs of a service.

    Attributes:
        jobs: the table.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        runs: JobRuns,
        clock: Callable[[], int] = now_seconds,
        *,
        stop_seconds: float = STOP_SECONDS,
        retry_seconds: Sequence[float] = RETRY_SECONDS,
    ) -> None:
        """Jobs that are to run.

        Args:
            jobs: the table.
            runs: where runs are written down.
            clock: Unix time.
            stop_seconds: how long running jobs get to end once all has to stop.
            retry_seconds: pauses before an end that could not be written down is tried again.
        """
        self.jobs = tuple(jobs)
        self._runs = runs
        self._clock = clock
        self._stop_seconds = stop_seconds
        self._retry_seconds = tuple(retry_seconds)
        self._running: dict[str, _Running] = {}
        self._ended = asyncio.Event()

    @property
    def running(self) -> frozenset[str]:
        """Names of the jobs that are running here."""
        return frozenset(self._running)

    async def run(self, stop: asyncio.Event) -> None:
        """Run jobs until it is asked to stop; what runs then gets a few seconds to end."""
        while not stop.is_set():
            await self.begin_due()
            await self._nap(stop)
        await self.end_all()

    async def begin_due(self) -> None:
        """Begin whatever is due now; where the database cannot be asked, nothing is."""
        try:
            last = await asyncio.to_thread(self._runs.last)
        except TidecastError as error:
            log.warning("jobs cannot be looked up", detail=str(error))
            return
        last_due = {name: run.due_seconds for name, run in last.items()}
        for due in due_runs(self.jobs, last_due, self._clock(), self.running):
            running = self._running[due.job.name] = _Running()
            running.task = asyncio.create_task(self._carry_out(due, running))

    async def end_all(self) -> None:
        """Ask what runs to stop, and write down as interrupted what does not in time."""
        for running in self._running.values():
            running.stop.set()
        tasks = [one.task for one in self._running.values() if one.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=self._stop_seconds)
        for name, running in list(self._running.items()):
            if running.run is not None:
                outcome = RunStanding.INTERRUPTED, "the service stopped before it was done"
                with suppress(TidecastError):
                    await asyncio.to_thread(self._end, running.run, outcome)
                log.warning("job interrupted", job=name)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _carry_out(self, due: DueRun, running: _Running) -> None:
        """One run, from beginning to end; the job counts as running until its thread is done."""
        job = due.job
        try:
            running.run = await asyncio.to_thread(begin, self._runs, due, self._clock())
            if running.run is None:
                return
            work = _in_thread(job, self._clock(), running.stop)
            done, _ = await asyncio.wait({work}, timeout=job.timeout_seconds)
            if not done:
                running.stop.set()
                late = f"it was not done after {job.timeout_seconds} s"
                await self._record(job, running.run, (RunStanding.TIMED_OUT, late))
                await asyncio.wait({work})
            else:
                await self._record(job, running.run, work.result())
        except TidecastError as error:
            log.warning("job cannot begin", job=job.name, detail=str(error))
        finally:
            del self._running[job.name]
            self._ended.set()

    async def _record(self, job: Job, run: int, outcome: Outcome) -> None:
        told(job, outcome)
        for pause_seconds in (*self._retry_seconds, None):
            try:
                await asyncio.to_thread(self._end, run, outcome)
            except TidecastError as error:
                log.warning("job's end cannot be recorded", job=job.name, detail=str(error))
                if pause_seconds is not None:
                    await asyncio.sleep(pause_seconds)
            else:
                return

    def _end(self, run: int, outcome: Outcome) -> bool:
        return self._runs.end(run, *outcome, self._clock())

    async def _nap(self, stop: asyncio.Event) -> None:
        """Wait for the next due time, the end of a run that others wait for, or the stop."""
        seconds = min(seconds_to_next(self.jobs, self._clock()), LONGEST_NAP_SECONDS)
        waits = [asyncio.create_task(event.wait()) for event in (stop, self._ended)]
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        self._ended.clear()
        for wait in waits:
            wait.cancel()


def _in_thread(job: Job, begun_seconds: int, stop: threading.Event) -> "asyncio.Future[Outcome]":
    """Do a job's work in a thread that dies with the process."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Outcome] = loop.create_future()

    def work() -> None:
        outcome = outcome_of(job, begun_seconds, stop)
        with suppress(RuntimeError):  # the loop has been closed in the meantime
            loop.call_soon_threadsafe(_set, done, outcome)
        give_back()

    threading.Thread(target=work, name=f"job {job.name}", daemon=True).start()
    return done


def _set(done: "asyncio.Future[Outcome]", outcome: Outcome) -> None:
    if not done.cancelled():
        done.set_result(outcome)
