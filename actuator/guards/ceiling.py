"""Nothing raises a pool above what its operator allows."""

from actuator.guards.guard import Situation, held_to
from actuator.plan import Proposal, Reason


def ceiling(proposal: Proposal, situation: Situation) -> Proposal:
    """No scale-up above the pool's ceiling; what is above it already is left to scale-down."""
    ceiling_nodes = situation.pool.ceiling_nodes
    if not proposal.scales_up or proposal.desired_nodes <= ceiling_nodes:
        return proposal
    allowed_nodes = max(proposal.current_nodes, ceiling_nodes)
    text = f"the pool's ceiling is {ceiling_nodes} nodes, {proposal.desired_nodes} were asked for"
    return held_to(proposal, allowed_nodes, Reason("ceiling", text))
