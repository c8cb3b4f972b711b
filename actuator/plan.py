"""What is to be done, as a value with its reasons: a decision that can be read, kept and checked.

A plan carries absolute numbers of nodes, never changes of them, so that doing it twice is doing it
once. It does nothing by itself. No model and no feature is imported.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Mode(StrEnum):
    """What led to a pool's desired nodes."""

    PREDICTIVE = "predictive"
    REACTIVE = "reactive"
    ANNOUNCED = "announced"
    HELD = "held"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why, once for programs and once for people.

    Attributes:
        code: stable name, such as `step-limit`.
        text: one sentence with the numbers in it.
    """

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """A pool's desired nodes on their way through floors and guards.

    Attributes:
        current_nodes: nodes there are or that are on their way.
        desired_nodes: nodes there should be.
        mode: what led to it.
        bound_by: code of what set the number last: a size, a floor or a guard.
        reasons: why, in the order in which it was decided.
        held_back: a guard kept it from what was asked for.
    """

    current_nodes: int
    desired_nodes: int
    mode: Mode
    bound_by: str
    reasons: tuple[Reason, ...] = ()
    held_back: bool = False

    @property
    def scales_down(self) -> bool:
        """Whether it gives nodes back."""
        return self.desired_nodes < self.current_nodes

    @property
    def scales_up(self) -> bool:
        """Whether it asks for nodes."""
        return self.desired_nodes > self.current_nodes


@dataclass(frozen=True, slots=True)
class ScheduledAction:
    """What will be asked for later if nothing changes.

    Attributes:
        at_seconds: Unix time at which it is to be done.
        needed_by_seconds: Unix time at which the nodes are needed.
        desired_nodes: nodes there should be then.
    """

    at_seconds: int
    needed_by_seconds: int
    desired_nodes: int


@dataclass(frozen=True, slots=True)
class NodePoolTarget:
    """What one node pool is asked to have.

    Attributes:
        node_pool: its name.
        current_nodes: nodes it has or has been asked for.
        desired_nodes: nodes it should have.
        removable_nodes: names of the nodes that may go, those to go first standing first; only
            these may be removed.
    """

    node_pool: str
    current_nodes: int
    desired_nodes: int
    removable_nodes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PoolPlan:
    """One pool's part of a plan.

    Attributes:
        pool: its name.
        mode: what led to it.
        current_nodes: nodes there are or that are on their way.
        desired_nodes: nodes there should be.
        bound_by: code of the size, floor or guard that set the number.
        reasons: why, in the order in which it was decided.
        held_back: a guard kept it from what was asked for.
        needed_by_seconds: Unix time by which the nodes are needed; None if nothing is asked for.
        scheduled: what comes later, if anything.
        targets: what each node pool is asked to have.
        advice: what an operator should know or do, a line each.
        seen: the figures it was decided on, by name.
    """

    pool: str
    mode: Mode
    current_nodes: int
    desired_nodes: int
    bound_by: str
    reasons: tuple[Reason, ...]
    held_back: bool = False
    needed_by_seconds: int | None = None
    scheduled: ScheduledAction | None = None
    targets: tuple[NodePoolTarget, ...] = ()
    advice: tuple[str, ...] = ()
    seen: Mapping[str, float | str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done for all pools.

    Attributes:
        made_seconds: Unix time at which it was decided.
        policy_version: the policy it follows.
        pools: a plan per pool, in the policy's order.
    """

    made_seconds: int
    policy_version: int
    pools: tuple[PoolPlan, ...]
