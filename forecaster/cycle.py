"""One cycle, as one story: observe, forecast, plan, guard, apply, record.

It knows no outside system by name: everything it talks to stands behind a protocol. What it is
about to do is on record before it is done, so that a cycle that was killed is found by the next one
and finished, once. It must never act for a pool whose mode is not `act`, nor on a shadow policy.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

from actuator import provisioning
from actuator.applying import Applied, applied, requests_of
from actuator.audit import (
    AuditEvent,
    EventStanding,
    event_identifier,
    is_recorded,
    opened,
    shadowed,
)
from actuator.backends.back_end import BackEnd, Outcome, Request, Standing
from actuator.deciding import Observed, Surroundings, decide, observed
from actuator.launches import ordered
from actuator.plan import NodePoolTarget, Plan, PoolPlan
from actuator.policy import OperatingMode, Policy, PoolPolicy
from actuator.state import ClusterState
from actuator.view import PoolView
from forecaster.kept import Asserted, Kept

REASSERT_SECONDS = 3_600
"""After so long a request is made again even if it is the same: somebody may have undone it."""

FINISHED_WITHIN_SECONDS = 300
"""What a killed cycle left is finished if it is no older; it is decided anew otherwise."""

_ASKED = (Standing.DONE, Standing.UNCHANGED, Standing.UNVERIFIED)


class Effect(StrEnum):
    """What a cycle may do."""

    PLAN = "plan"
    ACT = "act"


class ClusterReader(Protocol):
    """Says what the cluster looks like; one that does not answer gives a state not synced."""

    def state(self, now_seconds: int) -> ClusterState:
        """The cluster now."""
        ...


class KeptState(Protocol):
    """Holds what one cycle keeps for the next."""

    def load(self) -> Kept:
        """What the last cycle left; empty before the first."""
        ...

    def save(self, kept: Kept) -> None:
        """Keep it."""
        ...


class AuditRecord(Protocol):
    """Holds the audit events."""

    def append_all(self, events: Sequence[AuditEvent]) -> tuple[AuditEvent, ...]:
        """Keep events, durably, before anything is done; gives each as it is on record."""
        ...

    def close_all(
        self, outcomes: Mapping[str, tuple[Outcome, ...]], now_seconds: int
    ) -> tuple[str, ...]:
        """Say what became of them, by identifier; gives those that were still open."""
        ...

    def abandon(self, identifier: str, now_seconds: int) -> bool:
        """Say that nobody will know what became of it; gives whether it was open."""
        ...

    def open_events(self) -> Sequence[AuditEvent]:
        """Events that a killed cycle left, oldest first."""
        ...


NodeCarer = Callable[[Plan, Policy, ClusterState, int], tuple[Outcome, ...]]
"""Does what nodes need besides being asked for: warm-up and drain."""


@dataclass(frozen=True)
class Parts:
    """What a cycle talks to.

    Attributes:
        cluster: says what there is.
        policies: the live policy first, a shadow policy after it where one is set.
        surroundings: forecasts, announcements and calendar for a policy at a moment.
        kept: what one cycle keeps for the next.
        record: the audit events.
        back_ends: by the name that policies use.
        node_care: warm-up and drain; none where it is left out.
    """

    cluster: ClusterReader
    policies: Callable[[], Sequence[Policy]]
    surroundings: Callable[[Policy, int], Surroundings]
    kept: KeptState
    record: AuditRecord
    back_ends: Mapping[str, BackEnd]
    node_care: NodeCarer = lambda *_: ()


@dataclass(frozen=True)
class CycleReport:
    """What a cycle saw, decided and did.

    Attributes:
        plan: the live policy's plan.
        trials: the plan of the shadow policy, where one is set.
        state: what was seen.
        seen: the same, pool by pool, with the timers.
        applied: what was asked for, and what became of it.
        cared: what warm-ups and drains did.
        recovered: events of a killed cycle that were finished.
    """

    plan: Plan
    trials: tuple[Plan, ...]
    state: ClusterState
    seen: Observed
    applied: tuple[Applied, ...] = ()
    cared: tuple[Outcome, ...] = ()
    recovered: tuple[AuditEvent, ...] = ()


def run_cycle(parts: Parts, effect: Effect, now_seconds: int) -> CycleReport:
    """Observe, forecast, plan, guard, apply, record."""
    live, *shadows = parts.policies()
    kept = parts.kept.load()
    recovered: tuple[AuditEvent, ...] = ()
    if effect is Effect.ACT:
        kept, recovered = _finished(parts, kept, now_seconds)

    state = parts.cluster.state(now_seconds)
    seen = observed(state, live, kept.memory, kept.failed_launches, now_seconds)
    kept = replace(
        kept,
        memory=seen.memory,
        provisioning=provisioning.observed(kept.provisioning, state, now_seconds),
        failed_launches={},
    )

    plan = decide(seen, _around(parts, live, kept, now_seconds), live)
    trials = [_tried(parts, policy, state, kept, now_seconds) for policy in shadows]

    done: tuple[Applied, ...] = ()
    cared: tuple[Outcome, ...] = ()
    if effect is Effect.ACT:
        events = [
            event
            for pool, one in zip(live.pools, plan.pools, strict=True)
            if (event := _news(pool, one, live, seen, kept)) is not None
        ]
        done, kept = _acted(parts, events, kept, now_seconds)
        cared = parts.node_care(plan, live, state, now_seconds)
        for policy, trial in zip(shadows, trials, strict=True):
            kept = _recorded_trial(parts, policy, trial, kept)
    parts.kept.save(kept)
    return CycleReport(plan, tuple(trials), state, seen, done, cared, recovered)


def _around(parts: Parts, policy: Policy, kept: Kept, now_seconds: int) -> Surroundings:
    """Forecasts, announcements and calendar, with what was measured of provisioning."""
    names = [one.name for pool in policy.pools for one in pool.node_pools]
    measured_seconds = {name: provisioning.p95_seconds(kept.provisioning, name) for name in names}
    return replace(
        parts.surroundings(policy, now_seconds),
        provisioning_p95_seconds={
            name: seconds for name, seconds in measured_seconds.items() if seconds is not None
        },
    )


def _news(
    pool: PoolPolicy, plan: PoolPlan, policy: Policy, seen: Observed, kept: Kept
) -> AuditEvent | None:
    """A pool's decision as an event; None where it says and asks for nothing new."""
    if pool.mode is not OperatingMode.ACT:
        return None
    decision = event_identifier(seen.now_seconds, plan.pool, policy.version)
    due = tuple(
        one
        for one in _requests(plan, pool, seen.views[plan.pool], decision, kept.asserted)
        if _is_due(one, kept.asserted.get(one.node_pool.name), seen.now_seconds)
    )
    is_new = is_recorded(plan) and kept.recorded.get(plan.pool) != _signature(plan)
    return opened(plan, policy, due, seen.now_seconds) if due or is_new else None


def _acted(
    parts: Parts, events: Sequence[AuditEvent], kept: Kept, now_seconds: int
) -> tuple[tuple[Applied, ...], Kept]:
    """Put decisions on record, ask for what they ask for, and note what became of it.

    A decision that is on record as closed already was made by a cycle of the same moment.
    """
    on_record = parts.record.append_all(events)
    begun = [one for one in on_record if one.standing is EventStanding.OPEN]
    done = {one.identifier: applied(one.actions, parts.back_ends) for one in begun}
    outcomes = {name: tuple(one.outcome for one in some) for name, some in done.items()}
    parts.record.close_all(outcomes, now_seconds)
    signatures = {one.pool: _signature(one.plan) for one in on_record}
    kept = replace(kept, recorded={**kept.recorded, **signatures})
    everything = tuple(one for some in done.values() for one in some)
    return everything, _noted(kept, everything, now_seconds)


def _requests(
    plan: PoolPlan,
    pool: PoolPolicy,
    view: PoolView,
    decision: str,
    asserted: Mapping[str, Asserted],
) -> tuple[Request, ...]:
    """What is asked for; while the cluster is not in view only what a floor surely adds."""
    requests = requests_of(plan, pool, view, decision)
    if not view.doubtful:
        return requests
    if plan.desired_nodes <= plan.current_nodes:
        return ()
    return tuple(one for one in requests if _adds(one, asserted.get(one.node_pool.name)))


def _adds(request: Request, last: Asserted | None) -> bool:
    """Whether it asks for no less than the last request; not known where there was none.

    A floor above what is believed to be there may lie far below what there is.
    """
    return last is not None and (
        request.desired_nodes >= last.desired_nodes
        and request.headroom_nodes >= last.headroom_nodes
        and request.headroom_gpus >= last.headroom_gpus
    )


def _is_due(request: Request, last: Asserted | None, now_seconds: int) -> bool:
    """Whether a request says anything new, or the last one was long ago."""
    if last is None or now_seconds - last.at_seconds >= REASSERT_SECONDS:
        return True
    return (request.desired_nodes, request.headroom_nodes, request.headroom_gpus) != (
        last.desired_nodes,
        last.headroom_nodes,
        last.headroom_gpus,
    )


def _noted(kept: Kept, done: Sequence[Applied], now_seconds: int) -> Kept:
    """What was asked for and what could not be, for the next cycle."""
    memory, provisioned = kept.memory, kept.provisioning
    asserted, failed = dict(kept.asserted), dict(kept.failed_launches)
    for request, outcome in ((one.request, one.outcome) for one in done):
        name = request.node_pool.name
        more_nodes = request.desired_nodes - request.current_nodes
        if outcome.standing in _ASKED:
            target = NodePoolTarget(name, request.current_nodes, request.desired_nodes)
            memory = ordered(memory, request.pool, [target], now_seconds)
            if more_nodes > 0:
                provisioned = provisioning.ordered(provisioned, name, more_nodes, now_seconds)
            asserted[name] = Asserted(
                now_seconds, request.desired_nodes, request.headroom_nodes, request.headroom_gpus
            )
        elif more_nodes > 0:
            asserted.pop(name, None)
            failed[name] = more_nodes
    return replace(
        kept,
        memory=memory,
        provisioning=provisioned,
        asserted=asserted,
        failed_launches=failed,
    )


def _finished(parts: Parts, kept: Kept, now_seconds: int) -> tuple[Kept, tuple[AuditEvent, ...]]:
    """Finish what a killed cycle left, once.

    What asked for more nodes is asked for again: it is an absolute number, so that asking twice is
    asking once. What gave nodes back, or is old, is left to a new decision on fresh state.
    """
    left = tuple(parts.record.open_events())
    for event in left:
        young = now_seconds - event.made_seconds <= FINISHED_WITHIN_SECONDS
        raises = all(one.desired_nodes >= one.current_nodes for one in event.actions)
        if young and raises and event.actions:
            _, kept = _acted(parts, [event], kept, now_seconds)
        else:
            parts.record.abandon(event.identifier, now_seconds)
    return kept, left


def _tried(parts: Parts, policy: Policy, state: ClusterState, kept: Kept, now_seconds: int) -> Plan:
    """What a shadow policy would do, decided beside the live one from the same state."""
    seen = observed(state, policy, kept.memory, {}, now_seconds)
    return decide(seen, _around(parts, policy, kept, now_seconds), policy)


def _recorded_trial(parts: Parts, policy: Policy, trial: Plan, kept: Kept) -> Kept:
    """Record what is new in a shadow policy's plan."""
    new = {
        f"shadow {plan.pool}": plan
        for plan in trial.pools
        if is_recorded(plan) and kept.recorded.get(f"shadow {plan.pool}") != _signature(plan)
    }
    parts.record.append_all([shadowed(one, policy, trial.made_seconds) for one in new.values()])
    signatures = {name: _signature(plan) for name, plan in new.items()}
    return replace(kept, recorded={**kept.recorded, **signatures})


def _signature(plan: PoolPlan) -> str:
    """The same for two decisions of which the second says nothing new."""
    return f"{plan.mode} {plan.current_nodes} {plan.desired_nodes} {plan.bound_by}"
