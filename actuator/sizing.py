"""From GPUs to nodes, and how long before a need nodes have to be asked for.

More GPUs never give fewer nodes. It never guesses: whoever does not know a need does not call it.
No model and no feature is imported.
"""

import math

from actuator.packing import TOLERANCE_GPUS
from actuator.policy import PoolPolicy


def nodes_for(need_gpus: float, pool: PoolPolicy, fill_share: float) -> int:
    """Nodes that hold a need.

    Args:
        need_gpus: GPUs to hold, finite, a buffer already in it.
        pool: GPUs of its nodes; unless it serves fragments alone, its nodes come in gangs.
        fill_share: share of its nodes that its jobs fill when packed well; above 0, at most 1.
    """
    nodes = math.ceil(need_gpus / (pool.node_gpus * fill_share) - TOLERANCE_GPUS)
    if pool.gang_nodes > 1 and pool.shape != "fragment":
        return -(-nodes // pool.gang_nodes) * pool.gang_nodes
    return nodes


def lead_seconds(
    pool: PoolPolicy, provisioning_p95_seconds: float | None, cycle_seconds: int
) -> int:
    """How long before a need its nodes have to be asked for.

    Args:
        pool: the least lead time.
        provisioning_p95_seconds: 95 % of its nodes came at least so fast; None before it is known.
        cycle_seconds: time from one cycle to the next, by which a request may come late.
    """
    if provisioning_p95_seconds is None or not math.isfinite(provisioning_p95_seconds):
        return pool.lead_seconds
    return max(pool.lead_seconds, math.ceil(provisioning_p95_seconds + cycle_seconds))
