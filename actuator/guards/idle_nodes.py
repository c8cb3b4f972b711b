"""Only nodes that nobody has used for long may go.

A node with a job, a protected one, and one that carries part of a multi-node job is never idle, so
that none of them can be given back.
"""

from actuator.guards.guard import Situation, held_to
from actuator.plan import Proposal, Reason
from actuator.timers import long_idle_nodes


def idle_nodes(proposal: Proposal, situation: Situation) -> Proposal:
    """No more nodes go than are idle now and have been for long enough."""
    if not proposal.scales_down:
        return proposal
    wanted_nodes = proposal.current_nodes - proposal.desired_nodes
    most_nodes = sum(
        len(long_idle_nodes(one, situation.memory, situation.policy, situation.now_seconds))
        for one in situation.view.node_pools
    )
    if wanted_nodes <= most_nodes:
        return proposal
    text = (
        f"{most_nodes} of {wanted_nodes} nodes may go: no more have been idle for "
        f"{situation.policy.idle_seconds} s"
    )
    allowed_nodes = proposal.current_nodes - most_nodes
    return held_to(proposal, allowed_nodes, Reason("idle-nodes", text))
