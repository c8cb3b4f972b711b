"""How much of what is free can be used, and when free GPUs lie where no request fits.

The rate is that of 'Beware of Fragmentation' (Weng and others, USENIX ATC 2023) for one request: of
all free GPUs, the share on nodes that cannot hold it. The request is the largest pod that waits;
where none waits, a node in whole-node pools and one GPU in all others. Which GPUs of a node are
free is not known, so a node with enough of them counts as one that holds the request. No model and
no feature is imported.
"""

from dataclasses import dataclass

from actuator.packing import TOLERANCE_GPUS
from actuator.view import PoolView


@dataclass(frozen=True, slots=True)
class Fragmentation:
    """How usable a pool's free GPUs are.

    Attributes:
        largest_placeable_gpus: GPUs of the largest pod that could be placed now.
        rate: share of the free GPUs on nodes that cannot hold the pool's request, 0 to 1.
        free_gpus: GPUs that are free.
        advice: what would help where free GPUs serve nobody; None elsewhere.
    """

    largest_placeable_gpus: float
    rate: float
    free_gpus: float
    advice: str | None = None


def fragmentation(view: PoolView) -> Fragmentation:
    """How usable the free GPUs of the pool's ready, schedulable nodes are."""
    free_gpus = sum(view.free_gpus)
    if free_gpus <= TOLERANCE_GPUS:
        return Fragmentation(largest_placeable_gpus=0.0, rate=0.0, free_gpus=0.0)
    waiting_gpus = [pod_gpus for job in view.waiting for pod_gpus in job.pod_gpus]
    request_gpus = max(waiting_gpus) if waiting_gpus else _usual_request_gpus(view)
    least_gpus = request_gpus - TOLERANCE_GPUS
    usable_gpus = sum([room_gpus for room_gpus in view.free_gpus if room_gpus >= least_gpus])
    largest_gpus = max(view.free_gpus)
    return Fragmentation(
        largest_placeable_gpus=largest_gpus,
        rate=1.0 - usable_gpus / free_gpus,
        free_gpus=free_gpus,
        advice=_advice(min(waiting_gpus), largest_gpus, free_gpus) if waiting_gpus else None,
    )


def _usual_request_gpus(view: PoolView) -> float:
    return view.node_gpus if view.pool.endswith("/whole-node") else 1.0


def _advice(smallest_gpus: float, largest_gpus: float, free_gpus: float) -> str | None:
    """What to do where not even the smallest request fits one node, though all nodes hold it."""
    if not largest_gpus + TOLERANCE_GPUS < smallest_gpus <= free_gpus + TOLERANCE_GPUS:
        return None
    return (
        f"more nodes will not help, defragment: {free_gpus:g} GPUs are free, at most "
        f"{largest_gpus:g} of them on one node, and no request below {smallest_gpus:g} waits"
    )
