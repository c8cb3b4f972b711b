"""The service as a process: jobs, cycle and API together, from start to a graceful end.

Two services on one data directory would do everything twice, so the second refuses. A start touches
nothing outside: pools are acted on only where an operator has said so.
"""

import asyncio
import fcntl
import gc
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import structlog
import uvicorn
from fastapi import FastAPI

from features.errors import BadInput, TidecastError
from forecaster.api.app import create_app
from forecaster.api.context import ApiContext
from forecaster.clock import now_seconds
from forecaster.database import Database
from forecaster.database.job_runs import JobRuns
from forecaster.scheduling.jobs import service_jobs
from forecaster.scheduling.scheduler import Scheduler
from forecaster.service.cycle_job import CycleJob
from forecaster.wiring import Workspace

log = structlog.get_logger()

REQUESTS_STOP_SECONDS = 2
"""How long open requests may take once the service is asked to end."""

TURN_SECONDS = 0.001
"""How long one thread may go on while another waits; Python's own is five times as long."""

JOBS_STOP_SECONDS = 6.0
"""How long running jobs may take after that; what is then not done is recorded as interrupted."""


def serve(open_workspace: Callable[[], Workspace], config: Path | None) -> None:
    """Run the service until it is asked to end; SIGHUP reads the settings anew.

    Settings that cannot be used are told of in the log, and those before them stay in force.

    Args:
        open_workspace: reads the settings.
        config: the settings file, for jobs that run in a process of their own.

    Raises:
        BadInput: the settings are wrong at the start, another service runs on the data directory,
            or the address cannot be listened on.
        SourceUnavailable: the database does not answer.
    """
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave_it_to_the_server)
    workspace: Workspace | None = open_workspace()
    while workspace is not None:
        settings = workspace.settings
        with only_service(settings.data_directory), workspace.open_database() as database:
            run = ServiceRun(workspace, database, config)
            run.until_stopped_or_changed(open_workspace)
            workspace = run.changed


class ServiceRun:
    """The service from a start to an end, by the same settings.

    Attributes:
        changed: the workspace by new settings; None unless it ended because of them.
    """

    def __init__(self, workspace: Workspace, database: Database, config: Path | None) -> None:
        """Nothing runs yet."""
        self._workspace, self._database, self._config = workspace, database, config
        self._server: uvicorn.Server | None = None
        self.changed: Workspace | None = None

    def until_stopped_or_changed(self, open_workspace: Callable[[], Workspace]) -> None:
        """Listen until a signal ends it, or brings new settings that can be used.

        Raises:
            BadInput: the address cannot be listened on.
        """
        group = self._workspace.settings.service
        self._server = uvicorn.Server(
            uvicorn.Config(
                self.app(open_workspace),
                host=group.host,
                port=group.port,
                log_config=None,
                access_log=False,
                timeout_graceful_shutdown=REQUESTS_STOP_SECONDS,
                server_header=False,
            )
        )
        try:
            self._server.run()
        except SystemExit as error:
            if error.code:
                raise BadInput(
                    f"cannot listen on {group.host}:{group.port}; is another service there? set "
                    "service.port"
                ) from error

    def app(self, open_workspace: Callable[[], Workspace]) -> FastAPI:
        """The app with the jobs that run beside it."""

        @asynccontextmanager
        async def beside(_: FastAPI) -> AsyncIterator[None]:
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGHUP, self._read_settings, open_workspace)
            async with self._jobs(context):
                yield

        context = ApiContext(self._workspace, self._database, now_seconds)
        return create_app(context, beside)

    @asynccontextmanager
    async def _jobs(self, context: ApiContext) -> AsyncIterator[None]:
        """Jobs and cycles, for as long as they are needed."""
        cycle = CycleJob(self._workspace, self._database)
        context.plan_now = lambda: cycle.run_at_once(now_seconds())
        every_seconds = self._workspace.settings.service.cycle_every_seconds
        jobs = service_jobs(self._workspace, self._database, self._config)
        scheduler = Scheduler(
            (*jobs, cycle.job(every_seconds)),
            JobRuns(self._database),
            stop_seconds=JOBS_STOP_SECONDS,
        )
        stop = asyncio.Event()
        _prefer_requests()
        running = asyncio.create_task(scheduler.run(stop))
        try:
            yield
        finally:
            stop.set()
            await running
            cycle.close()

    def _read_settings(self, open_workspace: Callable[[], Workspace]) -> None:
        """Begin anew with new settings, if they can be used."""
        try:
            self.changed = open_workspace()
        except TidecastError as error:
            log.warning("settings not taken", detail=" ".join(str(error).splitlines()))
            return
        log.info("settings changed")
        if self._server is not None:
            self._server.should_exit = True


def _prefer_requests() -> None:
    """Let jobs in threads hold up a request for less: shorter turns, and less to collect."""
    sys.setswitchinterval(TURN_SECONDS)
    gc.collect()
    gc.freeze()


def _leave_it_to_the_server(_number: int, _frame: object) -> None:
    """Uvicorn ends by these signals in good order, and only then sends them on."""


@contextmanager
def only_service(data_directory: Path) -> Iterator[None]:
    """Be the only service on a data directory.

    Raises:
        BadInput: another one is there, or the directory cannot be written to.
    """
    try:
        data_directory.mkdir(parents=True, exist_ok=True)
        lock = (data_directory / ".service").open("ab")
    except OSError as error:
        raise BadInput(
            f"{data_directory}: cannot be written to ({error.strerror or error}); make it "
            "writable, or set another data_directory"
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BadInput(
                f"{data_directory}: another 'tidecast serve' runs on it; stop that one, or set "
                "another data_directory"
            ) from error
        yield
