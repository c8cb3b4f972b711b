"""Pools of 8-GPU nodes for tests of deciding, with only what a test is about spelled out."""

from collections.abc import Sequence
from dataclasses import replace

from actuator.policy import NodePoolPolicy, PoolPolicy
from actuator.view import NodePoolView, PoolView, WaitingJob

NOW = 1_767_571_200  # 2026-01-05T00:00:00Z, a Monday
WHOLE = PoolPolicy("a100/whole-node", node_gpus=8, node_pools=(NodePoolPolicy("a100-whole"),))
FRAGMENT = PoolPolicy("a100/fragment", node_gpus=8, node_pools=(NodePoolPolicy("a100-shared"),))


def pool_view(
    pool: PoolPolicy = WHOLE,
    *,
    nodes: int = 10,
    arriving_nodes: int = 0,
    unready_nodes: int = 0,
    used_gpus: float = 0.0,
    free_gpus: Sequence[float] = (),
    waiting: Sequence[WaitingJob] = (),
    fill_share: float = 1.0,
    doubtful: Sequence[str] = (),
) -> PoolView:
    """A pool of so many ready nodes, one node pool, and what else is said of it."""
    return PoolView(
        pool=pool.pool,
        node_gpus=pool.node_gpus,
        node_pools=(NodePoolView(pool.node_pools[0].name, nodes + unready_nodes, arriving_nodes),),
        capacity_nodes=nodes,
        arriving_nodes=arriving_nodes,
        unready_nodes=unready_nodes,
        capacity_gpus=float(nodes * pool.node_gpus),
        used_gpus=used_gpus,
        free_gpus=tuple(free_gpus),
        waiting=tuple(waiting),
        fill_share=fill_share,
        doubtful=tuple(doubtful),
    )


def waiting_job(*pod_gpus: float, waited_seconds: int = 60, name: str = "team/job") -> WaitingJob:
    """A job that has waited for so long as of NOW."""
    return WaitingJob(name, pod_gpus, NOW - waited_seconds)


def with_strategy(pool: PoolPolicy, **changes: object) -> PoolPolicy:
    """The same pool with a strategy that differs in some fields."""
    return replace(pool, strategy=replace(pool.strategy, **changes))  # type: ignore[arg-type]
