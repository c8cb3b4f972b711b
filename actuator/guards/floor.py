"""Nothing lowers a pool below what its operator, the schedule or an announcement asks for."""

from actuator.guards.guard import Situation, held_to
from actuator.plan import Proposal, Reason


def floor(proposal: Proposal, situation: Situation) -> Proposal:
    """No scale-down below the highest floor; what is below it already is left to scale-up."""
    floor_nodes = situation.floor_nodes
    if not proposal.scales_down or proposal.desired_nodes >= floor_nodes:
        return proposal
    allowed_nodes = min(proposal.current_nodes, floor_nodes)
    text = f"the floor is {floor_nodes} nodes, {proposal.desired_nodes} would be left"
    return held_to(proposal, allowed_nodes, Reason("floor", text))
