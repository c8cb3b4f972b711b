"""All pools together stay within the GPUs and the money that an operator allows.

A budget only limits what is added and takes away nothing that is there. A price that is not known
counts as the dearest known one, never as nothing. No model and no feature is imported.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from actuator.guards.guard import held_to
from actuator.plan import Proposal, Reason
from actuator.policy import Budget, NodePoolPolicy, PoolPolicy
from actuator.view import PoolView

Asked = tuple[PoolPolicy, PoolView, Proposal]

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class _Limit:
    """One thing that all pools share.

    Attributes:
        text: what it allows, for people.
        left: what the nodes that are there leave of it.
        per_node: what a new node takes of it at most, by pool.
    """

    text: str
    left: float
    per_node: tuple[float, ...]


def within_budget(proposals: Sequence[Asked], budget: Budget) -> list[Proposal]:
    """The proposals with scale-ups cut to what the budget leaves, in their order.

    Every pool's own floor is served first, then each pool in turn. What is given back in the same
    cycle is not spent again before it is gone.

    Args:
        proposals: each pool's policy, view and proposal after its own guards, in the order in which
            the budget serves them.
        budget: what all pools together may take.
    """
    limits = _limits(proposals, budget)
    wanted = [proposal for _, _, proposal in proposals]
    if not limits:
        return wanted
    left = [limit.left for limit in limits]
    granted = [proposal.current_nodes for proposal in wanted]

    def grant(index: int, goal_nodes: int) -> list[str]:
        """Raise a pool as far as all limits allow; which of them kept it from the goal."""
        more_nodes = goal_nodes - granted[index]
        if more_nodes <= 0:
            return []
        affordable = [
            _affordable(more_nodes, left[at], limit.per_node[index])
            for at, limit in enumerate(limits)
        ]
        given = min(affordable)
        granted[index] += given
        for at, limit in enumerate(limits):
            left[at] -= given * limit.per_node[index] if given else 0.0
        return [
            limit.text
            for limit, nodes in zip(limits, affordable, strict=True)
            if given < more_nodes and nodes == given
        ]

    for index, (pool, _, proposal) in enumerate(proposals):
        grant(index, min(pool.floor_nodes, proposal.desired_nodes))
    served = []
    for index, proposal in enumerate(wanted):
        short = grant(index, proposal.desired_nodes)
        served.append(_cut(proposal, granted[index], short) if short else proposal)
    return served


def _limits(proposals: Sequence[Asked], budget: Budget) -> list[_Limit]:
    """The limits that are set, with what is left of each."""
    limits = []
    if budget.most_gpus is not None:
        taken_gpus = sum(one.current_nodes * pool.node_gpus for pool, _, one in proposals)
        limits.append(
            _Limit(
                f"all pools together may take {budget.most_gpus} GPUs",
                budget.most_gpus - taken_gpus,
                tuple(pool.node_gpus for pool, _, _ in proposals),
            )
        )
    if budget.most_per_hour is not None:
        limits.append(_money(proposals, budget.most_per_hour))
    return limits


def _money(proposals: Sequence[Asked], most_per_hour: float) -> _Limit:
    """What is left of the money; nothing where no price at all is known."""
    dearest = _dearest(one for pool, _, _ in proposals for one in pool.node_pools)
    text = f"all pools together may cost {most_per_hour:g} an hour"
    if dearest is None:
        unaffordable = (math.inf,) * len(proposals)
        return _Limit(f"{text}, and no node pool's price is known", 0.0, unaffordable)
    spent, per_node = 0.0, []
    for pool, view, _ in proposals:
        otherwise = _dearest(pool.node_pools)
        prices = {
            one.name: _known(one.node_hour_price, otherwise, dearest) for one in pool.node_pools
        }
        per_node.append(max(prices.values()))
        spent += sum(prices[one.name] * one.current_nodes for one in view.node_pools)
    return _Limit(text, most_per_hour - spent, tuple(per_node))


def _dearest(node_pools: Iterable[NodePoolPolicy]) -> float | None:
    """The highest known price of a node; None where none is known."""
    known = [one.node_hour_price for one in node_pools if one.node_hour_price is not None]
    return max(known, default=None)


def _known(price: float | None, dearest_of_pool: float | None, dearest_of_all: float) -> float:
    """The first of them that is known."""
    if price is not None:
        return price
    return dearest_of_all if dearest_of_pool is None else dearest_of_pool


def _affordable(more_nodes: int, left: float, per_node: float) -> int:
    """How many more nodes fit into what is left."""
    left = max(0.0, left)
    if more_nodes * per_node <= left:
        return more_nodes
    return math.floor(min(more_nodes, left / per_node + _ROUNDING))


def _cut(proposal: Proposal, nodes: int, limits: Sequence[str]) -> Proposal:
    text = f"{nodes} nodes instead of {proposal.desired_nodes}: {'; '.join(limits)}"
    return held_to(proposal, nodes, Reason("budget", text))
