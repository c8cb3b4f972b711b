"""Fragmentation: what free GPUs are good for, and when more of them would not help."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actuator.fragmentation import Fragmentation, fragmentation
from actuator.view import WaitingJob
from tests.fakes.pool_views import FRAGMENT, WHOLE, pool_view, waiting_job


def test_where_nothing_is_free_nothing_is_fragmented() -> None:
    """And there is no advice, however long the queue."""
    view = pool_view(free_gpus=[0.0, 0.0], waiting=[waiting_job(8.0)])
    assert Fragmentation(0.0, 0.0, 0.0) == fragmentation(view)


@pytest.mark.parametrize(
    ("waiting", "rate"),
    [([], 6 / 14), ([waiting_job(4.0)], 2 / 14), ([waiting_job(1.0), waiting_job(8.0)], 6 / 14)],
)
def test_the_rate_is_the_share_that_cannot_hold_the_request(
    waiting: list[WaitingJob], rate: float
) -> None:
    """The largest that waits, or a whole node where none does."""
    found = fragmentation(pool_view(WHOLE, free_gpus=[8.0, 4.0, 2.0], waiting=waiting))
    assert rate == pytest.approx(found.rate)
    assert (8.0, 14.0) == (found.largest_placeable_gpus, found.free_gpus)


def test_a_fragment_pool_without_a_queue_is_measured_by_one_gpu() -> None:
    """Two slices of a GPU on two nodes serve nobody who wants one."""
    found = fragmentation(pool_view(FRAGMENT, free_gpus=[0.5, 0.5, 1.0]))
    assert pytest.approx(0.5) == found.rate


def test_seven_slices_hold_a_request_for_a_gpu() -> None:
    """A rounding error is no fragment."""
    found = fragmentation(pool_view(FRAGMENT, free_gpus=[sum([1 / 7] * 7) - 1e-9]))
    assert found.rate == 0.0


@pytest.mark.parametrize(
    ("free_gpus", "waits"),
    [([3.0, 2.0], [4.0]), ([3.0, 2.0], [4.0, 8.0]), ([7.0, 7.0], [8.0, 8.0])],
)
def test_scattered_free_gpus_call_for_defragmenting(
    free_gpus: list[float], waits: list[float]
) -> None:
    """All nodes together would hold a request that none holds alone."""
    view = pool_view(free_gpus=free_gpus, waiting=[waiting_job(size) for size in waits])
    advice = fragmentation(view).advice
    assert advice is not None
    assert advice.startswith("more nodes will not help, defragment: ")


@pytest.mark.parametrize(
    ("free_gpus", "waits"),
    [
        ([3.0, 2.0], []),
        ([3.0, 2.0], [3.0]),
        ([3.0, 2.0], [3.0, 8.0]),
        ([3.0, 2.0], [6.0]),
    ],
)
def test_elsewhere_there_is_no_advice(free_gpus: list[float], waits: list[float]) -> None:
    """Where nothing waits, where something fits, or where more GPUs are what is missing."""
    view = pool_view(free_gpus=free_gpus, waiting=[waiting_job(size) for size in waits])
    assert fragmentation(view).advice is None


@given(
    st.lists(st.floats(0, 8), max_size=20),
    st.lists(st.floats(0.1, 8), max_size=5),
)
def test_the_rate_is_a_share(free_gpus: list[float], waits: list[float]) -> None:
    """And it is 1 exactly where the largest request fits nowhere."""
    view = pool_view(free_gpus=free_gpus, waiting=[waiting_job(size) for size in waits])
    found = fragmentation(view)
    assert -1e-9 <= found.rate <= 1.0
    if waits and found.free_gpus > 1e-3:
        fits = found.largest_placeable_gpus >= max(waits) - 1e-6
        assert fits == (found.rate < 1.0)
