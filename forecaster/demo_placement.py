"""When the jobs of the demo's cluster start: a small stand-in for a scheduler.

It knows nodes and gangs and nothing else: no priorities, no preemption, no boot times. The
simulator is what answers questions about schedulers.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class JobRequest:
    """A job as it is submitted.

    Attributes:
        submit_seconds: Unix time.
        gpus: GPUs of the whole job; from a full node up it takes whole nodes.
        run_seconds: how long it runs once it has started.
        user: who submits it.
        kind: what it is.
    """

    submit_seconds: int
    gpus: int
    run_seconds: int
    user: str
    kind: str


def placed(requests: Sequence[JobRequest], nodes: int, node_gpus: int) -> list[int]:
    """Start of each job, Unix seconds: as soon as it fits, in order of submission.

    A job that does not fit waits, and smaller ones behind it may go first. A fragment goes to the
    fullest node with room, so that whole nodes stay free.

    Args:
        requests: in order of submission; none larger than the cluster.
        nodes: nodes of the cluster.
        node_gpus: GPUs of each.
    """
    free = [node_gpus] * nodes
    starts = [0] * len(requests)
    waiting: list[int] = []
    ends: list[tuple[int, int, dict[int, int]]] = []

    def start_what_fits(now: int) -> None:
        for index in list(waiting):
            taken = _fit(requests[index].gpus, free, node_gpus)
            if taken is None:
                continue
            for node, gpus in taken.items():
                free[node] -= gpus
            heapq.heappush(ends, (now + requests[index].run_seconds, index, taken))
            starts[index] = now
            waiting.remove(index)

    def finish_until(now: float) -> None:
        while ends and ends[0][0] <= now:
            end, _, taken = heapq.heappop(ends)
            for node, gpus in taken.items():
                free[node] += gpus
            start_what_fits(end)

    for index, request in enumerate(requests):
        finish_until(request.submit_seconds)
        waiting.append(index)
        start_what_fits(request.submit_seconds)
    finish_until(float("inf"))
    return starts


def _fit(gpus: int, free: Sequence[int], node_gpus: int) -> dict[int, int] | None:
    """GPUs to take by node, or nothing where the job does not fit now."""
    if gpus < node_gpus:
        roomy = [node for node, left in enumerate(free) if left >= gpus]
        return {min(roomy, key=lambda node: free[node]): gpus} if roomy else None
    whole = [node for node, left in enumerate(free) if left == node_gpus]
    needed = -(-gpus // node_gpus)
    return dict.fromkeys(whole[:needed], node_gpus) if len(whole) >= needed else None
