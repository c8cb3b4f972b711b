"""A decision on record: what was seen, by which policy, what was to be done, and what became of it.

An event is a value; the store makes it durable before anything is done and closes it afterwards.
Its identifier follows from the cycle's time, the pool and the policy version alone, so that a cycle
that is repeated after a crash finds its own event instead of making a second one.
"""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum

from actuator.backends.back_end import Outcome, Request
from actuator.plan import PoolPlan
from actuator.policy import Policy

Figures = Mapping[str, float | str | None]

_DIGEST_LENGTH = 12


class EventStanding(StrEnum):
    """How far an event has come."""

    OPEN = "open"
    CLOSED = "closed"
    ABANDONED = "abandoned"


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """One decision about one pool.

    Attributes:
        identifier: what it is found by.
        made_seconds: Unix time of the cycle that decided it.
        policy_version: the policy that it follows.
        thresholds: the policy's numbers that it was held against.
        plan: what was seen and decided, with the reasons.
        actions: what the node pools are asked to have, none where nothing is.
        outcomes: what became of the actions, in their order; none before they are known.
        standing: open until it is known what became of it; abandoned where nobody will know.
        closed_seconds: Unix time at which it stopped being open; None while it is.
        shadow: decided by a policy that is only tried, and never acted on.
    """

    identifier: str
    made_seconds: int
    policy_version: int
    thresholds: Figures
    plan: PoolPlan
    actions: tuple[Request, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    standing: EventStanding = EventStanding.OPEN
    closed_seconds: int | None = None
    shadow: bool = False

    @property
    def pool(self) -> str:
        """The pool it is about."""
        return self.plan.pool

    @property
    def seen(self) -> Figures:
        """The figures it was decided on, by name."""
        return self.plan.seen

    @property
    def forecast_reference(self) -> str | None:
        """The forecast it was decided on; None where there was none."""
        found = self.plan.seen.get("forecast")
        return found if isinstance(found, str) else None


def event_identifier(made_seconds: int, pool: str, policy_version: int) -> str:
    """The identifier of a decision; it sorts by time and fits into an address."""
    digest = hashlib.sha256(f"{pool}\n{policy_version}".encode()).hexdigest()
    return f"{made_seconds}-{digest[:_DIGEST_LENGTH]}"


def is_recorded(plan: PoolPlan) -> bool:
    """Whether a decision goes on record: it changes something, or a guard held it back."""
    changes = plan.desired_nodes != plan.current_nodes
    moves = any(one.desired_nodes != one.current_nodes for one in plan.targets)
    return changes or moves or plan.held_back


def opened(
    plan: PoolPlan, policy: Policy, actions: tuple[Request, ...], made_seconds: int
) -> AuditEvent:
    """The event of a decision that is about to be acted on.

    One without any action is closed at once: there is nothing whose outcome could be awaited.
    """
    return AuditEvent(
        identifier=event_identifier(made_seconds, plan.pool, policy.version),
        made_seconds=made_seconds,
        policy_version=policy.version,
        thresholds=thresholds(policy, plan.pool),
        plan=replace(plan, seen={name: _known(value) for name, value in plan.seen.items()}),
        actions=actions,
        standing=EventStanding.OPEN if actions else EventStanding.CLOSED,
        closed_seconds=None if actions else made_seconds,
    )


def shadowed(plan: PoolPlan, shadow_policy: Policy, made_seconds: int) -> AuditEvent:
    """The event of a decision that is only recorded."""
    return replace(opened(plan, shadow_policy, (), made_seconds), shadow=True)


def closed(event: AuditEvent, outcomes: tuple[Outcome, ...], now_seconds: int) -> AuditEvent:
    """The same event once it is known what became of it."""
    return replace(
        event, outcomes=outcomes, standing=EventStanding.CLOSED, closed_seconds=now_seconds
    )


def abandoned(event: AuditEvent, now_seconds: int) -> AuditEvent:
    """The same event once nobody will find out any more what became of it."""
    return replace(event, standing=EventStanding.ABANDONED, closed_seconds=now_seconds)


def thresholds(policy: Policy, pool: str) -> Figures:
    """The policy's numbers that a decision about a pool is held against, by name.

    Raises:
        KeyError: the policy has no such pool.
    """
    found = {one.pool: one for one in policy.pools}[pool]
    return {
        "strategy": found.strategy.name,
        "quantile": found.strategy.quantile,
        "buffer_factor": found.strategy.buffer_factor,
        "trigger_share": found.strategy.trigger_share,
        "tolerated_wait_seconds": found.strategy.tolerated_wait_seconds,
        "floor_nodes": found.floor_nodes,
        "ceiling_nodes": found.ceiling_nodes,
        "lead_seconds": found.lead_seconds,
        "most_gpus": policy.budget.most_gpus,
        "most_per_hour": policy.budget.most_per_hour,
        **asdict(policy.reactive),
        **asdict(policy.guards),
    }


def _known(value: float | str | None) -> float | str | None:
    """What is not known is null on record, never a number."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
