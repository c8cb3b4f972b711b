"""How many nodes a set of GPU requests needs, since 5 + 5 + 5 GPUs do not fit on two nodes of 8.

Requests are packed first-fit decreasing: the largest first, each onto the first node with room. It
is what a careful scheduler would do, and at most 11/9 of the best packing plus 6/9 of a node
(Dosa, 2007, 'The tight bound of first fit decreasing bin-packing algorithm'). It must never invent
a size: a request that is not known, or is larger than a node, is refused.

First-fit decreasing is not monotone: a request that becomes smaller can cost a node more (44, 24,
24, 22, 21, 18, 8, 8, 6 and 6 need three nodes of 61; with 17 in place of 18 they need four). So
nothing may rely on 'less demand, fewer nodes'; what holds is the bound above, and never fewer nodes
than the sum of the GPUs fills.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from features.errors import BadInput
from features.series import FloatArray, IntArray

_TOLERANCE = 1e-6  # seven slices of 1/7 GPU fill one GPU, whatever the last bit says
_CELLS_AT_ONCE = 1 << 19  # nodes x moments per block, so that a block stays in the cache


def nodes_for_fragments(requests_gpus: ArrayLike, node_gpus: float) -> int:
    """Nodes that requests need which may share nodes, packed first-fit decreasing.

    Args:
        requests_gpus: GPUs of each request, fractions allowed, shape (requests,); a request of
            zero needs no node.
        node_gpus: GPUs of a node.

    Raises:
        BadInput: a request is missing, negative, infinite or larger than a node.
    """
    requests = _checked_requests(requests_gpus, node_gpus)
    sizes, counts = np.unique(requests, return_counts=True)
    return int(nodes_for_counts(sizes, counts[np.newaxis, :], node_gpus)[0])


def nodes_for_whole_jobs(jobs_gpus: ArrayLike, node_gpus: float) -> int:
    """Nodes that jobs need which share no node: each job rounded up to full nodes.

    Args:
        jobs_gpus: GPUs of each job, shape (jobs,).
        node_gpus: GPUs of a node.

    Raises:
        BadInput: a job's GPUs are missing, negative or infinite.
    """
    jobs = _checked_sizes(jobs_gpus, node_gpus)
    return int(full_nodes(jobs, node_gpus).sum())


def full_nodes(jobs_gpus: FloatArray, node_gpus: float | FloatArray) -> FloatArray:
    """Full nodes of each job, shape (jobs,)."""
    return np.ceil(jobs_gpus / node_gpus - _TOLERANCE)


def nodes_for_counts(
    sizes_gpus: Sequence[float] | FloatArray, counts: NDArray[np.integer], node_gpus: float
) -> IntArray:
    """Nodes for many multisets of requests at once, as `nodes_for_fragments` finds for each.

    A moment of history is a count per request size; all moments are packed side by side, size by
    size: n equal requests fill the nodes in order, each with as many as it has room for.

    Args:
        sizes_gpus: the different request sizes, shape (sizes,).
        counts: how many requests of each size there are, shape (moments, sizes).
        node_gpus: GPUs of a node.

    Returns:
        Nodes, shape (moments,).

    Raises:
        BadInput: a size is missing, negative, infinite or larger than a node.
    """
    sizes = _checked_requests(sizes_gpus, node_gpus)
    order = np.argsort(-sizes)[: np.count_nonzero(sizes)]
    sizes = sizes[order]
    first_of, moment_of = _different_rows(np.asarray(counts)[:, order])
    moments = np.asarray(counts)[first_of][:, order]
    most_nodes = np.ceil(moments / np.floor(node_gpus / sizes + _TOLERANCE)).sum(axis=1)
    widest_first = np.argsort(-most_nodes)
    nodes = np.zeros(len(moments), dtype=np.int64)
    first = 0
    while first < len(moments):
        width = int(most_nodes[widest_first[first]])
        block = widest_first[first : first + max(1, _CELLS_AT_ONCE // max(1, width))]
        nodes[block] = _packed(sizes, moments[block], node_gpus, width)
        first += len(block)
    return nodes[moment_of]


def _different_rows(counts: NDArray[np.integer]) -> tuple[IntArray, IntArray]:
    """Where each different row stands first, and which of them each row is (a fast np.unique)."""
    first_of = np.zeros(1, dtype=np.int64)
    row_of = np.zeros(len(counts), dtype=np.int64)
    for column in counts.T:
        keys = row_of * (int(column.max()) + 1) + column
        _, first_of, row_of = np.unique(keys, return_index=True, return_inverse=True)
    return first_of, row_of


def _packed(sizes: FloatArray, counts: IntArray, node_gpus: float, width: int) -> IntArray:
    """First-fit decreasing of each row of counts onto `width` empty nodes; sizes descend."""
    free = np.full((len(counts), width), float(node_gpus))
    for size, waiting in zip(sizes, counts.T, strict=True):
        room = np.floor(free / size + _TOLERANCE)
        room_before = np.cumsum(room, axis=1) - room
        free -= size * np.clip(waiting[:, np.newaxis] - room_before, 0, room)
    used: IntArray = np.sum(free < node_gpus - _TOLERANCE, axis=1, dtype=np.int64)
    return used


def _checked_sizes(sizes_gpus: ArrayLike, node_gpus: float) -> FloatArray:
    if not (np.isfinite(node_gpus) and node_gpus > 0):
        raise BadInput(f"a node of {node_gpus} GPUs; it needs a positive number of them")
    sizes = np.asarray(sizes_gpus, dtype=np.float64)
    wrong = sizes[~(np.isfinite(sizes) & (sizes >= 0))]
    if len(wrong):
        raise BadInput(f"a request of {wrong[0]} GPUs cannot be packed; leave out what is unknown")
    return sizes


def _checked_requests(sizes_gpus: ArrayLike, node_gpus: float) -> FloatArray:
    sizes = _checked_sizes(sizes_gpus, node_gpus)
    wrong = sizes[sizes > node_gpus + _TOLERANCE]
    if len(wrong):
        raise BadInput(
            f"a request of {wrong[0]:g} GPUs is larger than a node of {node_gpus:g}; "
            "count it among the whole-node jobs"
        )
    return sizes
