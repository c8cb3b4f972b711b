"""After a change its effect is awaited before anything is given back."""

from actuator.guards.guard import Situation, held_to
from actuator.plan import Proposal, Reason


def cooldown(proposal: Proposal, situation: Situation) -> Proposal:
    """No scale-down soon after nodes were given back or asked for."""
    if not proposal.scales_down:
        return proposal
    memory = situation.memory
    least_seconds = situation.policy.cooldown_seconds
    for change, at_seconds in (
        ("scale-down", memory.scaled_down_seconds),
        ("scale-up", memory.scaled_up_seconds),
    ):
        if at_seconds is None or situation.now_seconds - at_seconds >= least_seconds:
            continue
        passed_seconds = situation.now_seconds - at_seconds
        text = (
            f"the last {change} was {passed_seconds} s ago, and a scale-down waits for "
            f"{least_seconds} s"
        )
        return held_to(proposal, proposal.current_nodes, Reason("cooldown", text))
    return proposal
