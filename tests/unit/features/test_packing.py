"""Nodes that requests need: known examples, bounds that hold for all, and a naive packer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from features.errors import BadInput
from features.packing import (
    full_nodes,
    nodes_for_counts,
    nodes_for_fragments,
    nodes_for_whole_jobs,
)

requests_on_eight = st.lists(st.integers(1, 8), max_size=40)


def naive_first_fit_decreasing(requests: list[float], node_gpus: float) -> int:
    free: list[float] = []
    for request in sorted(requests, reverse=True):
        for node, room in enumerate(free):
            if room >= request - 1e-6:
                free[node] -= request
                break
        else:
            free.append(node_gpus - request)
    return len(free)


def fewest_nodes(requests: list[int], node_gpus: int) -> int:
    """The best packing, found by trying all of them."""
    best = len(requests)

    def place(left: list[int], free: list[int]) -> None:
        nonlocal best
        if len(free) >= best:
            return
        if not left:
            best = len(free)
            return
        request, *others = left
        for room in {room for room in free if room >= request}:
            node = free.index(room)
            place(others, [*free[:node], room - request, *free[node + 1 :]])
        place(others, [*free, node_gpus - request])

    place(sorted(requests, reverse=True), [])
    return best


@pytest.mark.parametrize(
    ("requests", "node_gpus", "nodes"),
    [
        ([5, 5, 5], 8, 3),
        ([4, 4, 4, 4], 8, 2),
        ([1] * 17, 8, 3),
        ([0.5, 0.5, 0.5], 1, 2),
        ([1 / 7] * 7, 1, 1),
        ([1 / 7] * 8, 1, 2),
        ([3 / 7, 4 / 7, 2 / 7], 1, 2),
        ([0.1] * 10, 1, 1),
        ([8], 8, 1),
        ([0, 0, 0], 8, 0),
        ([0, 2], 8, 1),
        ([], 8, 0),
        ([4, 3, 3, 2, 2, 2, 2, 2, 2, 2], 8, 4),
    ],
)
def test_known_packings(requests: list[float], node_gpus: float, nodes: int) -> None:
    """Small sets of requests need the nodes that one counts by hand."""
    assert nodes == nodes_for_fragments(requests, node_gpus)


def test_fractions_as_stored_in_single_precision_fill_a_gpu() -> None:
    """Slices that were rounded to 32 bits still fill their GPU."""
    assert nodes_for_fragments(np.full(7, 1 / 7, dtype=np.float32), 1) == 1


@given(requests_on_eight)
def test_packs_as_a_naive_loop_does(requests: list[int]) -> None:
    """Packing by counts per size is first-fit decreasing, request by request."""
    assert naive_first_fit_decreasing(requests, 8) == nodes_for_fragments(requests, 8)


@given(st.lists(st.sampled_from([1 / 7, 2 / 7, 3 / 7, 4 / 7, 0.25, 0.5, 1.0]), max_size=30))
def test_packs_fractions_as_a_naive_loop_does(requests: list[float]) -> None:
    """Slices and shares of a GPU are packed like any other size."""
    assert naive_first_fit_decreasing(requests, 1) == nodes_for_fragments(requests, 1)


@given(requests_on_eight)
def test_never_fewer_nodes_than_the_gpus_fill(requests: list[int]) -> None:
    """No packing conjures up GPUs."""
    assert nodes_for_fragments(requests, 8) >= -(-sum(requests) // 8)


@given(st.lists(st.integers(1, 8), max_size=8))
def test_within_its_bound_of_the_best_packing(requests: list[int]) -> None:
    """First-fit decreasing needs at most 11/9 of the fewest nodes plus 6/9."""
    best, packed = fewest_nodes(requests, 8), nodes_for_fragments(requests, 8)
    assert best <= packed <= (11 * best + 6) / 9


def test_a_smaller_request_may_cost_a_node_more() -> None:
    """The anomaly of first-fit decreasing that nobody may build upon."""
    requests = [44, 24, 24, 22, 21, 18, 8, 8, 6, 6]
    smaller = [44, 24, 24, 22, 21, 17, 8, 8, 6, 6]
    assert nodes_for_fragments(requests, 61) == 3
    assert nodes_for_fragments(smaller, 61) == 4


@given(
    st.lists(
        st.lists(st.integers(0, 9), min_size=5, max_size=5),
        min_size=1,
        max_size=30,
    )
)
def test_many_moments_at_once_are_packed_like_each_alone(counts: list[list[int]]) -> None:
    """Packing moments side by side changes nothing, repeated moments included."""
    sizes = [3, 1, 7, 2, 0]
    expected = [nodes_for_fragments(np.repeat(sizes, moment), 8) for moment in counts]
    assert expected == nodes_for_counts(sizes, np.array(counts), 8).tolist()


def test_moments_beyond_one_block_are_all_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where history does not fit into one block, no moment is lost or mixed up."""
    counts = np.random.default_rng(5).integers(0, 40, size=(300, 3))
    expected = nodes_for_counts([1, 3, 5], counts, 8).tolist()
    monkeypatch.setattr("features.packing._CELLS_AT_ONCE", 100)
    assert expected == nodes_for_counts([1, 3, 5], counts, 8).tolist()


def test_no_sizes_need_no_nodes() -> None:
    """A history without a single fragment has moments, but no nodes."""
    assert [0, 0, 0] == nodes_for_counts([], np.zeros((3, 0), dtype=int), 8).tolist()


@pytest.mark.parametrize("request_gpus", [np.nan, np.inf, -1])
def test_an_unknown_request_is_refused(request_gpus: float) -> None:
    """What is not known is never packed as nothing."""
    with pytest.raises(BadInput, match="cannot be packed; leave out what is unknown"):
        nodes_for_fragments([1, request_gpus], 8)
    with pytest.raises(BadInput, match="cannot be packed"):
        nodes_for_whole_jobs([8, request_gpus], 8)


def test_a_request_larger_than_a_node_is_refused() -> None:
    """What fits on no node is a whole-node job, and the caller is told so."""
    with pytest.raises(BadInput, match="a request of 9 GPUs is larger than a node of 8"):
        nodes_for_fragments([1, 9], 8)


@pytest.mark.parametrize("node_gpus", [0, -8, np.nan, np.inf])
def test_a_node_without_gpus_is_refused(node_gpus: float) -> None:
    """Nothing can be packed onto such nodes."""
    with pytest.raises(BadInput, match="a node of"):
        nodes_for_fragments([1], node_gpus)


def test_whole_jobs_are_rounded_up_each() -> None:
    """Jobs of full nodes do not share one."""
    assert nodes_for_whole_jobs([8, 12, 9, 64], 8) == 1 + 2 + 2 + 8


def test_full_nodes_take_the_node_size_of_each_job() -> None:
    """Nodes of a pool may differ in size."""
    assert [2.0, 4.0] == full_nodes(np.array([16.0, 16.0]), np.array([8.0, 4.0])).tolist()
