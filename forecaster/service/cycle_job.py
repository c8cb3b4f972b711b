"""The cycle as a job of the service: what it talks to stays open from one run to the next.

A cycle that fails closes nothing: the next one may find things well again. Without a policy there
is nothing to plan, and it says so.
"""

from contextlib import ExitStack
from threading import Event, Lock

import structlog

from features.errors import TidecastError
from forecaster.acting_wiring import ActingWorkspace, Purpose
from forecaster.cycle import CycleReport, Effect, Parts, run_cycle
from forecaster.database import Database
from forecaster.database.forecasts import Forecasts
from forecaster.database.plans import Plans
from forecaster.database.policy_versions import PolicyVersions
from forecaster.database.scores import Scores
from forecaster.scheduling.due import Job
from forecaster.scheduling.schedules import Every
from forecaster.service.stored_source import StoredSource
from forecaster.tasks.acting import answer_of
from forecaster.wiring import Workspace

log = structlog.get_logger()

NAME = "cycle"
TIMEOUT_SECONDS = 300


class CycleJob:
    """Runs cycles; opens the cluster with the first one, and closes it at the end."""

    def __init__(self, workspace: Workspace, database: Database) -> None:
        """Nothing is opened yet."""
        self._acting = ActingWorkspace(
            workspace,
            database,
            StoredSource(Forecasts(database), Scores(database)),
            Purpose.ACT,
        )
        self._versions, self._plans = PolicyVersions(database), Plans(database)
        self._opened, self._lock = ExitStack(), Lock()
        self._parts: Parts | None = None

    def job(self, every_seconds: int) -> Job:
        """The cycle as a row of the table of jobs."""
        return Job(NAME, "plan and act", Every(every_seconds), self.run, TIMEOUT_SECONDS)

    def run(self, now_seconds: int, stop: Event) -> str:
        """One cycle.

        Raises:
            BadInput: the cluster cannot be read as it is configured.
            SourceUnavailable: the database does not answer; nothing was done then.
        """
        with self._lock:
            if self._versions.current() is None:
                return "no policy is in force, so nothing is planned"
            if self._parts is None:
                self._parts = self._opened.enter_context(self._acting.parts())
            report = run_cycle(self._parts, Effect.ACT, now_seconds)
            self._plans.keep(answer_of(report, self._parts.policies(), ()))
            return _told(report)

    def run_at_once(self, now_seconds: int) -> None:
        """One cycle between two that are due; what goes wrong is told of, since nobody waits."""
        try:
            detail = self.run(now_seconds, Event())
        except TidecastError as error:
            log.warning("cycle failed", detail=str(error))
        else:
            log.info("cycle run at once", detail=detail)

    def close(self) -> None:
        """Let go of the cluster."""
        with self._lock:
            self._parts = None
            self._opened.close()


def _told(report: CycleReport) -> str:
    """What a cycle did, in a line."""
    asked = [
        f"{one.request.node_pool.name}: {one.request.desired_nodes} {one.outcome.standing}"
        for one in report.applied
    ]
    doubts = list(report.state.problems)
    return "; ".join([f"{len(report.plan.pools)} pools planned", *asked, *doubts])
