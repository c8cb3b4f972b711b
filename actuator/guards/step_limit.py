"""A wrong figure must not buy a fleet at once: nodes are added step by step, a cycle each."""

import math

from actuator.guards.guard import Situation, held_to
from actuator.plan import Proposal, Reason

_ROUNDING = 1e-9


def step_limit(proposal: Proposal, situation: Situation) -> Proposal:
    """At most a share of the current nodes more, and at least one; the pool's own floor is free."""
    if not proposal.scales_up:
        return proposal
    share = situation.policy.step_limit_share
    step_nodes = max(1, math.floor(share * proposal.current_nodes + _ROUNDING))
    allowed_nodes = max(proposal.current_nodes + step_nodes, situation.pool.floor_nodes)
    if proposal.desired_nodes <= allowed_nodes:
        return proposal
    text = (
        f"{allowed_nodes} nodes now instead of {proposal.desired_nodes}: a cycle adds at most "
        f"{share:.0%} of the {proposal.current_nodes} there are, and at least 1"
    )
    return held_to(proposal, allowed_nodes, Reason("step-limit", text))
