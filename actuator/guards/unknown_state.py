"""What is not known gives no reason to scale: a pool in doubt is held, or raised to its floor."""

from actuator.guards.guard import Situation, held_to
from actuator.plan import Proposal, Reason


def unknown_state(proposal: Proposal, situation: Situation) -> Proposal:
    """In doubt, no scale-down, and no scale-up beyond what floors ask for."""
    doubtful = situation.view.doubtful
    if not doubtful:
        return proposal
    current_nodes = proposal.current_nodes
    allowed_nodes = current_nodes
    if proposal.scales_up:
        allowed_nodes = min(proposal.desired_nodes, max(current_nodes, situation.floor_nodes))
    if allowed_nodes == proposal.desired_nodes:
        return proposal
    text = f"held at {allowed_nodes} nodes while the pool is in doubt: {'; '.join(doubtful)}"
    return held_to(proposal, allowed_nodes, Reason("unknown-state", text))
