"""What no plan may pass: one guard a file, stacked in the order of the table `GUARDS`.

| guard | a scale-up | a scale-down |
| --- | --- | --- |
| `unknown-state` | in doubt, only to a floor | in doubt, none |
| `unready` | none while too many nodes are unready | none while too many nodes are unready |
| `step-limit` | at most a share of the current nodes a cycle; the pool's own floor is free | - |
| `ceiling` | not above the pool's ceiling | - |
| `quiet` | - | only after so long without submissions |
| `hysteresis` | - | only while need stays well below what is left |
| `cooldown` | - | only so long after the last change |
| `idle-nodes` | - | only nodes that have long been idle |
| `floor` | - | not below the highest floor |
| `budget` | within the GPUs and the money of all pools | - |

Each only moves a proposal towards the current nodes, so the order changes no number, only which
guard is named first. The budget looks at all pools at once and stands in `budget.py`. No model and
no feature is imported.
"""

from actuator.guards.ceiling import ceiling
from actuator.guards.cooldown import cooldown
from actuator.guards.floor import floor
from actuator.guards.guard import Guard, Situation
from actuator.guards.hysteresis import hysteresis
from actuator.guards.idle_nodes import idle_nodes
from actuator.guards.quiet import quiet
from actuator.guards.step_limit import step_limit
from actuator.guards.unknown_state import unknown_state
from actuator.guards.unready import unready
from actuator.plan import Proposal

GUARDS: dict[str, Guard] = {
    "unknown-state": unknown_state,
    "unready": unready,
    "step-limit": step_limit,
    "ceiling": ceiling,
    "quiet": quiet,
    "hysteresis": hysteresis,
    "cooldown": cooldown,
    "idle-nodes": idle_nodes,
    "floor": floor,
}


def guarded(proposal: Proposal, situation: Situation) -> Proposal:
    """The proposal after all guards, with the reason of each that had something against it.

    Args:
        proposal: what sizing and floors ask for.
        situation: what the guards look at.
    """
    for guard in GUARDS.values():
        proposal = guard(proposal, situation)
    return proposal
