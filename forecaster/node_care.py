"""What a cycle does for nodes besides asking for them: it warms up new ones and drains spare ones.

Draining is off unless the settings allow it, and then empties one node of a pool at a time, only
where the plan would give nodes back and every node that could go carries jobs. What changes
anything is on record before it is done.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from actuator.audit import AuditEvent, EventStanding, event_identifier, opened
from actuator.backends.back_end import Outcome, Standing
from actuator.backends.eviction import Drains
from actuator.backends.warm_up_jobs import WarmUpJobs
from actuator.drain import DrainAction, DrainSettings, DrainStep, drain_step
from actuator.plan import Plan, PoolPlan, Reason
from actuator.policy import NodePoolPolicy, OperatingMode, Policy, PoolPolicy
from actuator.state import ClusterState, Node, NodePhase
from features.errors import SourceUnavailable
from forecaster.cycle import AuditRecord

CHANGES = (
    DrainAction.CORDON,
    DrainAction.UNCORDON,
    DrainAction.ASK_FOR_CHECKPOINT,
    DrainAction.EVICT,
)
ONLY_BUSY_NODES = "idle-nodes"
"""Code of the guard that holds nodes because they carry jobs."""


@dataclass(frozen=True)
class NodeCare:
    """Warms up and drains.

    Attributes:
        warm_ups: None where new nodes need no warm-up.
        drains: None where nothing is drained.
        drain_settings: how drains are decided.
        record: the audit events.
    """

    warm_ups: WarmUpJobs | None
    drains: Drains | None
    drain_settings: DrainSettings
    record: AuditRecord

    def __call__(
        self, plan: Plan, policy: Policy, state: ClusterState, now_seconds: int
    ) -> tuple[Outcome, ...]:
        """Do what is to be done for nodes now; nothing on a state that is not synced."""
        if not state.synced or state.problems:
            return ()
        return (*self._warmed_up(policy, state, now_seconds), *self._drained(plan, policy, state))

    def _warmed_up(
        self, policy: Policy, state: ClusterState, now_seconds: int
    ) -> Iterator[Outcome]:
        acting = {
            node_pool.name
            for pool in policy.pools
            if pool.mode is OperatingMode.ACT
            for node_pool in pool.node_pools
        }
        if self.warm_ups is None:
            return
        nodes = [node for node in state.nodes if node.node_pool in acting]
        try:
            for _, outcome in self.warm_ups.advance(nodes, now_seconds):
                yield outcome
        except SourceUnavailable as error:
            yield Outcome(Standing.FAILED, str(error))

    def _drained(self, plan: Plan, policy: Policy, state: ClusterState) -> Iterator[Outcome]:
        if self.drains is None or not self.drain_settings.allowed:
            return
        for pool, one in zip(policy.pools, plan.pools, strict=True):
            if pool.mode is OperatingMode.ACT:
                yield from self._drained_pool(self.drains, pool, one, policy, state)

    def _drained_pool(
        self, drains: Drains, pool: PoolPolicy, plan: PoolPlan, policy: Policy, state: ClusterState
    ) -> Iterator[Outcome]:
        """Take the next step of one node; nodes that are needed again take pods again."""
        node_pools = {one.name: one for one in pool.node_pools}
        nodes = [node for node in state.nodes if node.node_pool in node_pools]
        for node in _to_look_at(nodes, plan, state):
            step = self._step(drains, node, node_pools[node.node_pool], plan, state)
            if step.action in CHANGES:
                yield self._on_record(drains, step, plan, policy, state.taken_seconds)

    def _step(
        self,
        drains: Drains,
        node: Node,
        node_pool: NodePoolPolicy,
        plan: PoolPlan,
        state: ClusterState,
    ) -> DrainStep:
        if plan.desired_nodes > plan.current_nodes:
            return DrainStep(DrainAction.UNCORDON, node.name, "its pool needs more nodes")
        now_seconds = state.taken_seconds
        try:
            there = drains.observed(node, state.pods, node_pool.node_hour_price, now_seconds)
        except SourceUnavailable as error:
            return DrainStep(DrainAction.KEEP, node.name, str(error))
        return drain_step(there, now_seconds, self.drain_settings)

    def _on_record(
        self, drains: Drains, step: DrainStep, plan: PoolPlan, policy: Policy, now_seconds: int
    ) -> Outcome:
        event = _event(step, plan, policy, now_seconds)
        (on_record,) = self.record.append_all([event])
        if on_record.standing is not EventStanding.OPEN:
            return Outcome(Standing.UNCHANGED, f"node {step.node}: done already")
        outcome = drains.execute(step, now_seconds)
        self.record.close_all({event.identifier: (outcome,)}, now_seconds)
        return outcome


def _to_look_at(nodes: list[Node], plan: PoolPlan, state: ClusterState) -> list[Node]:
    """Nodes whose drain is under way, or else the one to begin with: the one that carries least."""
    cordoned = [node for node in nodes if not node.schedulable and not node.leaving]
    if cordoned or plan.bound_by != ONLY_BUSY_NODES or plan.desired_nodes > plan.current_nodes:
        return cordoned
    used = dict.fromkeys((node.name for node in nodes), 0.0)
    for pod in state.pods:
        if pod.node in used and not pod.placeholder:
            used[pod.node] += pod.gpus
    busy = [node for node in nodes if node.phase is NodePhase.CAPACITY and used[node.name] > 0]
    return sorted(busy, key=lambda node: (used[node.name], node.name))[:1]


def _event(step: DrainStep, plan: PoolPlan, policy: Policy, now_seconds: int) -> AuditEvent:
    """The step as an event of its own beside the pool's."""
    reason = Reason(f"drain-{step.action.name.lower().replace('_', '-')}", step.reason)
    told = replace(plan, reasons=(reason,), advice=(f"node {step.node}", *step.pods))
    return replace(
        opened(told, policy, (), now_seconds),
        identifier=event_identifier(now_seconds, f"{plan.pool} {step.node}", policy.version),
        standing=EventStanding.OPEN,
        closed_seconds=None,
    )
