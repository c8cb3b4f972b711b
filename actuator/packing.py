"""Where waiting pods would fit, and how many nodes the rest needs.

Requests are packed first-fit decreasing: a node takes the largest that fit, then the next node. It
is what a careful scheduler would do, and at most 11/9 of the best packing plus 6/9 of a node (Dosa,
2007, 'The tight bound of first fit decreasing bin-packing algorithm'). Where every size divides the
next larger one, as 1, 2, 4 and 8 GPUs do, it is the best packing, and more requests never need
fewer nodes (Coffman, Garey and Johnson, 1987, 'Bin packing with divisible item sizes'); for other
sizes only the bound holds.

It counts requests of one size together, so that thousands cost what a few sizes cost. No model and
no feature is imported.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

TOLERANCE_GPUS = 1e-6  # seven slices of 1/7 GPU fill one GPU, whatever the last bit says
_NODES_TO_JUDGE_BY = 1000  # a last node that is half full then moves the share by 0.05 %


def new_nodes(
    jobs_gpus: Iterable[Sequence[float]], free_gpus: Iterable[float], node_gpus: float
) -> int:
    """Nodes that are missing until every job has all of its pods placed.

    Nodes with the least room are filled first. A job is placed as a whole or not at all: one that
    has a pod larger than a node takes no room and asks for no node.

    Args:
        jobs_gpus: per job, GPUs of each of its pods, fractions allowed.
        free_gpus: GPUs left on each node there is or that is on its way, shape (nodes,).
        node_gpus: GPUs of a new node.
    """
    sizes = Counter(
        pod_gpus
        for pods_gpus in jobs_gpus
        if max(pods_gpus) <= node_gpus + TOLERANCE_GPUS
        for pod_gpus in pods_gpus
    )
    counts = _largest_first(sizes)
    for room_gpus, nodes in sorted(Counter(free_gpus).items()):
        _fill(counts, room_gpus, nodes)
    return _fill(counts, node_gpus, nodes=sum(counts.values()))


def fill_share(requests_gpus: Iterable[float], node_gpus: float) -> float:
    """Share of its nodes that a mix of requests fills when packed well, above 0 and at most 1.

    The mix is repeated until it fills many nodes, so that it does not matter how few requests of it
    happen to be there. Requests larger than a node are left out; without any request it is 1.

    Args:
        requests_gpus: GPUs of each request, fractions allowed, shape (requests,).
        node_gpus: GPUs of a node.
    """
    return _fill_share_of(frozenset(Counter(requests_gpus).items()), node_gpus)


@lru_cache(maxsize=4096)
def _fill_share_of(mix: frozenset[tuple[float, int]], node_gpus: float) -> float:
    once = _largest_first(
        {size: count for size, count in mix if size <= node_gpus + TOLERANCE_GPUS}
    )
    once_gpus = sum(size * count for size, count in once.items())
    if not once_gpus:
        return 1.0
    repeats = math.ceil(_NODES_TO_JUDGE_BY * node_gpus / once_gpus)
    counts = {size: count * repeats for size, count in once.items()}
    nodes = _fill(counts, node_gpus, nodes=sum(counts.values()))
    return min(1.0, once_gpus * repeats / (nodes * node_gpus))


def _largest_first(sizes: dict[float, int]) -> dict[float, int]:
    """Requests by size in the order in which they are placed; those for nothing need no place."""
    return {size: sizes[size] for size in sorted(sizes, reverse=True) if size > TOLERANCE_GPUS}


def _fill(counts: dict[float, int], room_gpus: float, nodes: int) -> int:
    """Take requests out of `counts` onto up to `nodes` equal nodes; how many nodes got any."""
    filled = 0
    while filled < nodes and (pattern := _pattern(counts, room_gpus)):
        alike = min(nodes - filled, *(counts[size] // number for size, number in pattern))
        for size, number in pattern:
            counts[size] -= alike * number
        filled += alike
    return filled


def _pattern(counts: dict[float, int], room_gpus: float) -> list[tuple[float, int]]:
    """What one node takes: how many requests of each size."""
    room_gpus += TOLERANCE_GPUS
    pattern = []
    for size, count in counts.items():
        if count and size <= room_gpus:
            number = min(count, int(room_gpus / size))
            pattern.append((size, number))
            room_gpus -= number * size
    return pattern
