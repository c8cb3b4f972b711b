"""Where many nodes fail at once the cause is rarely a lack of nodes, and never a surplus."""

from actuator.guards.guard import Situation, held_to
from actuator.plan import Proposal, Reason


def unready(proposal: Proposal, situation: Situation) -> Proposal:
    """With too large a share of the nodes unready nothing is scaled, not even for a floor."""
    view = situation.view
    most_share = situation.policy.most_unready_share
    if proposal.desired_nodes == proposal.current_nodes or not view.unready_nodes:
        return proposal
    nodes = view.capacity_nodes + view.unready_nodes
    if view.unready_nodes <= most_share * nodes:
        return proposal
    text = (
        f"{view.unready_nodes} of {nodes} nodes are unready, more than {most_share:.0%}: "
        "nothing is scaled"
    )
    return held_to(proposal, proposal.current_nodes, Reason("unready", text))
