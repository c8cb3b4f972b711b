"""From a plan to requests, and from requests to what became of them.

It decides nothing: numbers and removable nodes are the plan's. What it adds is headroom, the part
of the desired nodes that no job takes: placeholders and buffers ask for that part alone. No failure
of one node pool may keep another from being served.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from actuator.backends.back_end import BackEnd, Outcome, Request, Standing
from actuator.plan import PoolPlan
from actuator.policy import PoolPolicy
from actuator.view import NodePoolView, PoolView


@dataclass(frozen=True, slots=True)
class Applied:
    """A request and what became of it.

    Attributes:
        request: what a node pool was to have.
        outcome: how far it came.
    """

    request: Request
    outcome: Outcome


def requests_of(
    plan: PoolPlan, pool: PoolPolicy, view: PoolView, decision: str
) -> tuple[Request, ...]:
    """What the pool's node pools are asked to have, in the policy's order.

    Running jobs take their nodes where they stand; waiting jobs are counted on the first node pools
    that have room left, which is where they will land. Nodes that are overdue are asked for too, or
    the node pool would take them for those that are wanted.
    """
    policies = {one.name: one for one in pool.node_pools}
    views = {one.name: one for one in view.node_pools}
    waiting_gpus = view.waiting_gpus
    made = []
    for target in plan.targets:
        there = views.get(target.node_pool, NodePoolView(target.node_pool, 0))
        room_gpus = max(0.0, target.desired_nodes * pool.node_gpus - there.used_gpus)
        landing_gpus = min(waiting_gpus, room_gpus)
        waiting_gpus -= landing_gpus
        made.append(
            Request(
                decision=decision,
                pool=pool.pool,
                shape=pool.shape,
                node_pool=policies[target.node_pool],
                node_gpus=pool.node_gpus,
                current_nodes=target.current_nodes + there.overdue_nodes,
                desired_nodes=target.desired_nodes + there.overdue_nodes,
                headroom_nodes=max(
                    0,
                    target.desired_nodes
                    - there.busy_nodes
                    - _full_nodes(landing_gpus, pool.node_gpus),
                ),
                headroom_gpus=room_gpus - landing_gpus,
                removable_nodes=target.removable_nodes,
                provider_ids={
                    name: there.provider_ids[name]
                    for name in target.removable_nodes
                    if name in there.provider_ids
                },
            )
        )
    return tuple(made)


def applied(requests: Iterable[Request], back_ends: Mapping[str, BackEnd]) -> tuple[Applied, ...]:
    """Hand each request to its back end, one after another."""
    return tuple(Applied(one, _outcome(one, back_ends)) for one in requests)


def _outcome(request: Request, back_ends: Mapping[str, BackEnd]) -> Outcome:
    name = request.node_pool.back_end
    if name not in back_ends:
        known = ", ".join(sorted(back_ends))
        return Outcome(Standing.REFUSED, f"there is no back end '{name}'; there are {known}")
    return back_ends[name].apply(request)


def _full_nodes(gpus: float, node_gpus: int) -> int:
    return int(-(-gpus // node_gpus))
