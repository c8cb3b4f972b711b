"""Between the threshold that adds nodes and the one that gives them back nothing moves."""

import math

from actuator.guards.guard import Situation, held_to
from actuator.plan import Proposal, Reason


def hysteresis(proposal: Proposal, situation: Situation) -> Proposal:
    """Only so many nodes go that need, or demand now, stays below a share of what is left.

    A need that is not known gives nothing back, whatever led to the proposal.
    """
    if not proposal.scales_down:
        return proposal
    wanted_nodes = proposal.current_nodes - proposal.desired_nodes
    most_nodes = _most_removed(situation)
    if wanted_nodes <= most_nodes:
        return proposal
    view = situation.view
    if _need_gpus(situation) is None:
        text = "nothing is given back while need, demand or capacity is not known"
    else:
        text = (
            f"{most_nodes} of {wanted_nodes} nodes may go: the higher of "
            f"{situation.need_gpus:g} GPUs foreseen and {view.demand_gpus:g} in demand must stay "
            f"below {situation.policy.scale_down_below_share:.0%} of what is left of "
            f"{view.capacity_gpus:g}"
        )
    allowed_nodes = proposal.current_nodes - most_nodes
    return held_to(proposal, allowed_nodes, Reason("hysteresis", text))


def _most_removed(situation: Situation) -> int:
    """Most nodes that may go; none where a figure is not known."""
    need_gpus = _need_gpus(situation)
    share = situation.policy.scale_down_below_share
    if need_gpus is None or share <= 0:
        return 0
    spare_nodes = (situation.view.capacity_gpus - need_gpus / share) / situation.view.node_gpus
    # nothing is below a share of nothing, but a pool that nobody needs may go to its last node
    return max(0, math.floor(spare_nodes) if need_gpus == 0 else math.ceil(spare_nodes) - 1)


def _need_gpus(situation: Situation) -> float | None:
    """What must be left room for; None while anything that it rests on is not known."""
    foreseen_gpus, view = situation.need_gpus, situation.view
    if foreseen_gpus is None:
        return None
    figures = (foreseen_gpus, view.demand_gpus, view.capacity_gpus)
    return max(figures[:2]) if all(map(math.isfinite, figures)) else None
