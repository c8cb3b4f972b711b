"""Warm-ups and drains within a cycle: only where they are allowed, one at a time, on record."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import cast

import pytest

from actuator.audit import EventStanding
from actuator.backends.back_end import Outcome, Standing
from actuator.backends.eviction import Drains
from actuator.backends.warm_up_jobs import WarmUpJobs
from actuator.drain import DrainAction, DrainJob, DrainNode, DrainSettings, DrainStep
from actuator.plan import Mode, Plan, PoolPlan
from actuator.policy import OperatingMode
from actuator.state import ClusterState, Node, Pod
from features.errors import SourceUnavailable
from forecaster.node_care import NodeCare
from tests.fakes.clusters import LONG_AGO, NOW, WHOLE, busy_cluster, node, policy
from tests.fakes.cycles import RecordInMemory

ALLOWED = DrainSettings(allowed=True, horizon_seconds=14_400)


@dataclass
class ToldDrains:
    """Drains of nodes whose jobs all lose the same."""

    checkpoint_seconds: int | None = NOW - 60
    done: list[DrainStep] = field(default_factory=list)

    def observed(
        self, one: Node, _pods: Sequence[Pod], hour_price: float | None, _now: int
    ) -> DrainNode:
        """The node with one job on it."""
        job = DrainJob("ml/job", 8, LONG_AGO, checkpoint_seconds=self.checkpoint_seconds)
        since = None if one.schedulable else NOW - 600
        return DrainNode(
            one.name,
            one.gpus,
            hour_price,
            (job,),
            cordoned=not one.schedulable,
            drained_since_seconds=since,
        )

    def execute(self, step: DrainStep, _now: int) -> Outcome:
        """Remember it."""
        self.done.append(step)
        return Outcome(Standing.DONE, step.reason)


@dataclass
class ToldWarmUps:
    """Warm-ups that remember whom they were asked about."""

    asked: list[str] = field(default_factory=list)
    error: str = ""

    def advance(self, nodes: Sequence[Node], _now: int) -> tuple[tuple[object, Outcome], ...]:
        """One outcome for all."""
        if self.error:
            raise SourceUnavailable(self.error)
        self.asked += [one.name for one in nodes]
        return ((None, Outcome(Standing.DONE, "started")),)


def plan_of(desired: int, bound_by: str) -> Plan:
    """A plan of the one pool, ten nodes of which there are."""
    return Plan(NOW, 1, (PoolPlan(WHOLE, Mode.HELD, 10, desired, bound_by, ()),))


def cared(  # noqa: PLR0917 - a test names what it changes
    drains: ToldDrains,
    state: ClusterState,
    plan: Plan,
    settings: DrainSettings = ALLOWED,
    mode: OperatingMode = OperatingMode.ACT,
    record: RecordInMemory | None = None,
) -> tuple[Outcome, ...]:
    """What was done for the nodes."""
    rules = policy(mode=mode)
    (np,) = rules.pools[0].node_pools
    priced = replace(np, node_hour_price=28.0)
    rules = replace(rules, pools=(replace(rules.pools[0], node_pools=(priced,)),))
    care = NodeCare(None, cast("Drains", drains), settings, record or RecordInMemory())
    return care(plan, rules, state, NOW)


def test_where_only_busy_nodes_are_left_one_is_drained_and_it_is_on_record() -> None:
    """The event names the node, and is closed."""
    drains, record = ToldDrains(), RecordInMemory()
    cared(drains, busy_cluster(10, 0), plan_of(10, "idle-nodes"), record=record)
    assert [(DrainAction.CORDON, "node-0")] == [(one.action, one.node) for one in drains.done]
    (event,) = record.events.values()
    assert (EventStanding.CLOSED, "drain-cordon") == (event.standing, event.plan.reasons[0].code)
    assert "node node-0" in event.plan.advice


@pytest.mark.parametrize(
    ("plan", "settings", "mode"),
    [
        (plan_of(10, "predictive-enough"), ALLOWED, OperatingMode.ACT),
        (plan_of(12, "idle-nodes"), ALLOWED, OperatingMode.ACT),
        (plan_of(10, "idle-nodes"), DrainSettings(), OperatingMode.ACT),
        (plan_of(10, "idle-nodes"), ALLOWED, OperatingMode.FORECAST_ONLY),
    ],
)
def test_nothing_is_drained_that_need_not_or_must_not_be(
    plan: Plan, settings: DrainSettings, mode: OperatingMode
) -> None:
    """No need, a scale-up, off by default, or a pool that is not acted on."""
    drains = ToldDrains()
    cared(drains, busy_cluster(10, 0), plan, settings, mode)
    assert [] == drains.done


def test_a_job_that_would_lose_too_much_keeps_its_node() -> None:
    """A day's work without a checkpoint."""
    drains = ToldDrains(checkpoint_seconds=None)
    cared(drains, busy_cluster(10, 0), plan_of(10, "idle-nodes"))
    assert [] == drains.done


def test_a_drain_under_way_goes_before_another_and_ends_when_nodes_are_needed() -> None:
    """One node of a pool at a time."""
    state = busy_cluster(2, 0)
    under_way = replace(state, nodes=(*state.nodes, node("node-9", schedulable=False)))
    drains = ToldDrains(checkpoint_seconds=NOW - 60)
    cared(drains, under_way, plan_of(10, "idle-nodes"))
    cared(drains, under_way, plan_of(12, "predictive-need"))
    assert [("node-9", DrainAction.EVICT), ("node-9", DrainAction.UNCORDON)] == [
        (one.node, one.action) for one in drains.done
    ]


def test_a_step_that_was_done_is_not_done_again() -> None:
    """The same cycle repeated finds its own event."""
    drains, record = ToldDrains(), RecordInMemory()
    for _ in range(2):
        cared(drains, busy_cluster(10, 0), plan_of(10, "idle-nodes"), record=record)
    assert 1 == len(drains.done)


@pytest.mark.parametrize("blind", [{"synced": False}, {"problems": ("a watch is dead",)}])
def test_a_cluster_in_doubt_is_left_alone(blind: dict[str, object]) -> None:
    """What is on a node is not known."""
    drains = ToldDrains()
    state = replace(busy_cluster(10, 0), **blind)  # type: ignore[arg-type]
    assert () == cared(drains, state, plan_of(10, "idle-nodes"))
    assert [] == drains.done


def test_new_nodes_of_pools_that_are_acted_on_are_warmed_up() -> None:
    """And a cluster that does not answer is an outcome."""
    warm_ups = ToldWarmUps()
    care = NodeCare(cast("WarmUpJobs", warm_ups), None, DrainSettings(), RecordInMemory())
    state = busy_cluster(1, 0)
    state = replace(state, nodes=(*state.nodes, node("other", node_pool="np-else")))
    care(plan_of(1, "predictive-enough"), policy(), state, NOW)
    assert ["node-0"] == warm_ups.asked
    warm_ups.error = "the API does not answer"
    (outcome,) = care(plan_of(1, "predictive-enough"), policy(), state, NOW)
    assert (Standing.FAILED, "the API does not answer") == (outcome.standing, outcome.detail)
