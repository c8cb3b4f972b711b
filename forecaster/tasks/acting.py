"""What `tidecast plan` and `tidecast act` do: a cycle, once or every minute, and its answer."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from actuator.applying import Applied
from actuator.cluster.file import read_state
from actuator.plan import Plan, PoolPlan
from actuator.policy import Policy
from features.errors import TidecastError
from forecaster.acting_wiring import ActingWorkspace, Purpose, board_of
from forecaster.cycle import CycleReport, Effect, Parts, run_cycle
from forecaster.fresh_forecasts import FreshForecasts
from forecaster.json_shapes import (
    ActAnswer,
    NodePoolPlan,
    PlanAnswer,
    PlannedLater,
    PlanOfPool,
    PlanReason,
    RequestOutcome,
)
from forecaster.tasks.moments import iso_text
from forecaster.wiring import Workspace


@dataclass(frozen=True)
class ActingOptions:
    """Which cluster, and what for.

    Attributes:
        purpose: plan, dry run, or act.
        state_file: the cluster as a file has it, at the moment that it says, instead of its API.
    """

    purpose: Purpose
    state_file: Path | None = None


@contextmanager
def acting_on(workspace: Workspace, options: ActingOptions) -> Iterator["Actor"]:
    """What runs cycles on a cluster, as long as it is needed.

    Raises:
        BadInput: no policy is in force, or the cluster cannot be read as it is configured.
        SourceUnavailable: the database does not answer.
    """
    with workspace.open_database() as database:
        source = FreshForecasts(workspace, lambda now: board_of(workspace, database, now))
        acting = ActingWorkspace(workspace, database, source, options.purpose, options.state_file)
        with acting.parts() as parts:
            yield Actor(parts, options, source.warnings)


@dataclass(frozen=True)
class Actor:
    """Runs cycles.

    Attributes:
        parts: what a cycle talks to.
        options: which cluster, and what for.
        warnings: what went wrong on the way, filled as it does.
    """

    parts: Parts
    options: ActingOptions
    warnings: list[str]

    def plan(self, now_seconds: int) -> PlanAnswer:
        """What would be done now and why; nothing is asked for, nothing recorded.

        Raises:
            BadInput: the state file is not a state.
        """
        report = run_cycle(self.parts, Effect.PLAN, self._moment(now_seconds))
        return self._plan_of(report)

    def act(self, now_seconds: int) -> ActAnswer:
        """One cycle for the pools whose mode is `act`; in a dry run for all that are not paused.

        Raises:
            BadInput: the state file is not a state.
            SourceUnavailable: the database does not answer; nothing was done then.
        """
        report = run_cycle(self.parts, Effect.ACT, self._moment(now_seconds))
        return ActAnswer(
            plan=self._plan_of(report),
            requests=[_shape_of(one) for one in report.applied],
            node_care=[one.detail for one in report.cared],
            finished=[one.identifier for one in report.recovered],
        )

    def keep_acting(
        self,
        clock: Callable[[], int],
        stopped: Event,
        tell: Callable[[ActAnswer | TidecastError], None],
    ) -> None:
        """A cycle every `cycle_seconds` of the policy until stopped.

        Args:
            clock: Unix time.
            stopped: ends it, at once between two cycles.
            tell: takes what each cycle did, or why it could not; the next one is tried anyway.
        """
        while not stopped.is_set():
            begun_seconds = clock()
            try:
                tell(self.act(begun_seconds))
            except TidecastError as error:
                tell(error)
            every_seconds = self.parts.policies()[0].cycle_seconds
            stopped.wait(max(1, begun_seconds + every_seconds - clock()))

    def _moment(self, now_seconds: int) -> int:
        """Now, or the moment of the state file, so that a decision can be made again from it."""
        file = self.options.state_file
        return now_seconds if file is None else read_state(file).taken_seconds

    def _plan_of(self, report: CycleReport) -> PlanAnswer:
        return answer_of(report, self.parts.policies(), self.warnings)


def _shape_of(one: Applied) -> RequestOutcome:
    return RequestOutcome(
        pool=one.request.pool,
        node_pool=one.request.node_pool.name,
        back_end=one.request.node_pool.back_end,
        desired_nodes=one.request.desired_nodes,
        standing=one.outcome.standing.value,
        detail=one.outcome.detail,
    )


def answer_of(
    report: CycleReport, policies: Sequence[Policy], warnings: Sequence[str]
) -> PlanAnswer:
    """A cycle's plan as it is printed."""
    live = policies[0]
    trial = report.trials[0] if report.trials else None
    return PlanAnswer(
        made=iso_text(report.plan.made_seconds) or "",
        made_seconds=report.plan.made_seconds,
        policy_version=report.plan.policy_version,
        pools=_pools(report.plan, live),
        shadow_policy_version=trial.policy_version if trial else None,
        shadow_pools=_pools(trial, policies[1]) if trial else [],
        warnings=[*warnings, *report.state.problems],
    )


def _pools(plan: Plan, policy: Policy) -> list[PlanOfPool]:
    modes = {pool.pool: pool.mode.value for pool in policy.pools}
    return [_pool(one, modes[one.pool]) for one in plan.pools]


def _pool(plan: PoolPlan, operating_mode: str) -> PlanOfPool:
    later = plan.scheduled
    return PlanOfPool(
        pool=plan.pool,
        operating_mode=operating_mode,
        mode=plan.mode.value,
        current_nodes=plan.current_nodes,
        desired_nodes=plan.desired_nodes,
        bound_by=plan.bound_by,
        held_back=plan.held_back,
        reasons=[PlanReason(code=one.code, text=one.text) for one in plan.reasons],
        needed_by_seconds=plan.needed_by_seconds,
        scheduled=None
        if later is None
        else PlannedLater(
            at=iso_text(later.at_seconds) or "",
            at_seconds=later.at_seconds,
            needed_by_seconds=later.needed_by_seconds,
            desired_nodes=later.desired_nodes,
        ),
        node_pools=[
            NodePoolPlan(
                node_pool=one.node_pool,
                current_nodes=one.current_nodes,
                desired_nodes=one.desired_nodes,
                removable_nodes=list(one.removable_nodes),
            )
            for one in plan.targets
        ],
        advice=list(plan.advice),
        seen=dict(plan.seen),
    )
