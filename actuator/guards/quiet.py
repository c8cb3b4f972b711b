"""While jobs are being submitted nothing is given back: the next one is likely near."""

from actuator.guards.guard import Situation, held_to
from actuator.plan import Proposal, Reason


def quiet(proposal: Proposal, situation: Situation) -> Proposal:
    """No scale-down before so long without submissions; not knowing since when is not quiet."""
    if not proposal.scales_down:
        return proposal
    least_seconds = situation.policy.quiet_seconds
    since_seconds = situation.memory.quiet_since_seconds
    if since_seconds is None:
        seen = "it is not known since when nothing was submitted"
    elif (quiet_seconds := situation.now_seconds - since_seconds) < least_seconds:
        seen = f"the last submission was seen {quiet_seconds} s ago"
    else:
        return proposal
    text = f"{seen}, and a scale-down waits for {least_seconds} s without one"
    return held_to(proposal, proposal.current_nodes, Reason("quiet", text))
