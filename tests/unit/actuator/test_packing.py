"""Packing: what a careful scheduler would place, and how many nodes are missing."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actuator.packing import fill_share, new_nodes

NODE_GPUS = 8.0
TOLERANCE = 1e-6
EIGHTHS = st.integers(1, 64).map(lambda eighths: eighths / 8)
DIVISIBLE = st.sampled_from([0.25, 0.5, 1.0, 2.0, 4.0, 8.0])


def naive_new_nodes(pods_gpus: Sequence[float], free_gpus: Sequence[float]) -> int:
    """First-fit decreasing, one pod after another."""
    rooms = sorted(free_gpus)
    there = len(rooms)
    for pod_gpus in sorted(pods_gpus, reverse=True):
        place = next((i for i, room in enumerate(rooms) if pod_gpus <= room + TOLERANCE), None)
        if place is None:
            rooms.append(NODE_GPUS)
            place = len(rooms) - 1
        rooms[place] -= pod_gpus
    return len(rooms) - there


@given(st.lists(EIGHTHS, max_size=40), st.lists(EIGHTHS | st.just(0.0), max_size=15))
def test_counting_by_size_places_as_one_after_another_does(
    pods_gpus: list[float], free_gpus: list[float]
) -> None:
    """The quick way gives what the plain one gives."""
    expected = naive_new_nodes(pods_gpus, free_gpus)
    assert expected == new_nodes([[one] for one in pods_gpus], free_gpus, NODE_GPUS)


@given(
    st.lists(DIVISIBLE, max_size=40),
    st.lists(st.integers(0, 32).map(lambda quarters: quarters / 4), max_size=15),
    DIVISIBLE,
)
def test_one_more_request_never_needs_fewer_nodes(
    pods_gpus: list[float], free_gpus: list[float], one_more_gpus: float
) -> None:
    """Sizes that divide each other are packed as well as can be."""
    fewer = new_nodes([pods_gpus] if pods_gpus else [], free_gpus, NODE_GPUS)
    more = new_nodes([[*pods_gpus, one_more_gpus]], free_gpus, NODE_GPUS)
    assert fewer <= more <= fewer + 1


def test_free_room_is_used_before_nodes_are_asked_for() -> None:
    """Two of four pods find room; the rest share a node."""
    assert 1 == new_nodes([[4.0, 4.0], [4.0, 4.0]], [4.0, 7.0, 3.0], NODE_GPUS)


def test_nodes_with_the_least_room_are_filled_first() -> None:
    """The pod of 4 must not take the room in which both of 3 fit."""
    assert 0 == new_nodes([[4.0], [3.0], [3.0]], [6.0, 4.0], NODE_GPUS)


def test_room_that_is_short_of_a_request_by_a_rounding_error_holds_it() -> None:
    """What is left of a GPU of which 0.9 are taken holds 0.1, though 1.0 - 0.9 < 0.1."""
    assert 0 == new_nodes([[0.1]], [1.0 - 0.9], NODE_GPUS)


def test_requests_that_fill_no_node_evenly_leave_gaps() -> None:
    """5 + 5 + 5 GPUs do not fit on two nodes of 8."""
    assert 3 == new_nodes([[5.0], [5.0], [5.0]], [], NODE_GPUS)


@pytest.mark.parametrize(("slices", "expected"), [(56, 1), (57, 2)])
def test_seven_slices_fill_a_gpu(slices: int, expected: int) -> None:
    """A MIG fraction is no exact number, and needs no node more for that."""
    assert expected == new_nodes([[1 / 7] * slices], [], NODE_GPUS)


def test_a_gang_that_fits_nowhere_takes_no_room() -> None:
    """One pod is larger than any node, so the other leaves the free node to the next job."""
    assert 0 == new_nodes([[9.0, 8.0], [8.0]], [8.0], NODE_GPUS)


def test_a_gang_takes_free_nodes_and_new_ones_together() -> None:
    """Three of its five nodes are there."""
    assert 2 == new_nodes([[8.0] * 5], [8.0, 8.0, 8.0, 7.0], NODE_GPUS)


def test_a_request_for_nothing_needs_no_node() -> None:
    """A pod without GPUs stands on any node."""
    assert 0 == new_nodes([[0.0]], [], NODE_GPUS)


@pytest.mark.parametrize(
    ("requests_gpus", "expected"),
    [
        ([], 1.0),
        ([0.0], 1.0),
        ([9.0], 1.0),
        ([1.0], 1.0),
        ([3.0], 6 / 8),
        ([5.0], 5 / 8),
        ([5.0, 3.0], 1.0),
        ([5.0, 5.0, 3.0], 13 / 16),
        ([1 / 7], 1.0),
    ],
)
def test_a_mix_fills_its_share_however_few_it_is(
    requests_gpus: list[float], expected: float
) -> None:
    """A single small request is no reason to expect empty nodes."""
    assert expected == pytest.approx(fill_share(requests_gpus, NODE_GPUS), abs=0.002)


@given(st.lists(EIGHTHS, min_size=1, max_size=30), st.integers(2, 5))
def test_a_mix_twice_over_fills_the_same_share(requests_gpus: list[float], times: int) -> None:
    """Only what is in the mix counts, not how often."""
    once = fill_share(requests_gpus, NODE_GPUS)
    assert once == pytest.approx(fill_share(requests_gpus * times, NODE_GPUS), abs=0.01)


@given(st.lists(EIGHTHS, min_size=1, max_size=20))
def test_the_share_sizes_many_of_the_mix_as_packing_does(requests_gpus: list[float]) -> None:
    """Nodes by the share are the nodes that packing uses, to within a node in fifty."""
    many = requests_gpus * math.ceil(400 / sum(requests_gpus))
    by_share = sum(many) / NODE_GPUS / fill_share(requests_gpus, NODE_GPUS)
    packed = new_nodes([many], [], NODE_GPUS)
    assert packed == pytest.approx(by_share, abs=1 + packed / 50)
