"""What a guard is: it takes a proposal and returns one that is never riskier, with its reason.

Never riskier means: no fewer nodes where the proposal gives nodes back, no more nodes where it asks
for them, and never the other way about. A guard that has nothing against a proposal returns it as
it is. Guards know nothing of each other. No model and no feature is imported.
"""

from dataclasses import dataclass, replace
from typing import Protocol

from actuator.memory import PoolMemory
from actuator.plan import Proposal, Reason
from actuator.policy import GuardPolicy, PoolPolicy
from actuator.view import PoolView


@dataclass(frozen=True, slots=True)
class Situation:
    """What a guard may look at.

    Attributes:
        now_seconds: Unix time of the decision.
        policy: what no plan may pass.
        pool: what the operator wants for the pool.
        view: the pool now.
        memory: its timers.
        floor_nodes: the highest of its floors now.
        need_gpus: highest demand foreseen; None where there is no forecast to go by.
    """

    now_seconds: int
    policy: GuardPolicy
    pool: PoolPolicy
    view: PoolView
    memory: PoolMemory
    floor_nodes: int
    need_gpus: float | None


class Guard(Protocol):
    """One thing that no plan may pass."""

    def __call__(self, proposal: Proposal, situation: Situation) -> Proposal:
        """The proposal, or one nearer to the current nodes with one reason more."""
        ...


def held_to(proposal: Proposal, desired_nodes: int, reason: Reason) -> Proposal:
    """The proposal with the nodes a guard leaves of it, which lie between current and desired."""
    return replace(
        proposal,
        desired_nodes=desired_nodes,
        bound_by=reason.code,
        reasons=(*proposal.reasons, reason),
        held_back=True,
    )
