"""Says what would be asked for, and writes nothing.

It is the default of a node pool, so that nobody's cluster changes before they say so. It must never
touch the world.
"""

from actuator.backends.back_end import Outcome, Request, Standing
from actuator.backends.options import Options
from actuator.policy import NodePoolPolicy


def check_options(node_pool: NodePoolPolicy) -> None:
    """Accept any options: those of the back end that is to come later may stand there already."""
    Options(f"node pool '{node_pool.name}'", node_pool.options)


class DryRun:
    """Implements `actuator.backends.back_end.BackEnd` without a world."""

    @property
    def name(self) -> str:
        """See `BackEnd.name`."""
        return "dry_run"

    def apply(self, request: Request) -> Outcome:
        """See `BackEnd.apply`; the standing is always `unchanged`."""
        had, wanted = request.current_nodes, request.desired_nodes
        pool = request.node_pool.name
        if wanted == had:
            return Outcome(Standing.UNCHANGED, f"would leave {pool} at {had} nodes")
        detail = f"would ask {pool} for {wanted} nodes instead of {had}"
        if wanted < had:
            going = request.removable_nodes[: had - wanted]
            detail += f"; may go: {', '.join(going) or 'none'}"
        return Outcome(Standing.UNCHANGED, detail)
