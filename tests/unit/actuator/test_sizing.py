"""Sizing: GPUs to nodes, and the lead time."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actuator.sizing import lead_seconds, nodes_for
from tests.fakes.pool_views import FRAGMENT, WHOLE

NEEDS = st.floats(0, 1e6)


@pytest.mark.parametrize(
    ("need_gpus", "expected"), [(0.0, 0), (0.1, 1), (8.0, 1), (8.000_000_1, 1), (8.1, 2)]
)
def test_nodes_are_whole(need_gpus: float, expected: int) -> None:
    """A part of a node takes a node; a rounding error does not."""
    assert expected == nodes_for(need_gpus, WHOLE, fill_share=1.0)


@pytest.mark.parametrize(("need_gpus", "expected"), [(0.0, 0), (1.0, 4), (32.0, 4), (33.0, 8)])
def test_whole_nodes_come_in_gangs(need_gpus: float, expected: int) -> None:
    """Five nodes for jobs of four serve no more jobs than four."""
    assert expected == nodes_for(need_gpus, replace(WHOLE, gang_nodes=4), fill_share=1.0)


def test_fragments_know_no_gangs() -> None:
    """They share nodes, so one node more is worth it."""
    assert 5 == nodes_for(33.0, replace(FRAGMENT, gang_nodes=4), fill_share=1.0)


def test_fragments_take_the_nodes_that_packing_leaves_them() -> None:
    """Jobs of 3 GPUs fill 6 of 8."""
    assert 8 == nodes_for(48.0, FRAGMENT, fill_share=0.75)


@given(NEEDS, NEEDS, st.floats(0.5, 1.0), st.integers(1, 8))
def test_more_need_never_takes_fewer_nodes(
    one_gpus: float, other_gpus: float, fill_share: float, gang_nodes: int
) -> None:
    """And the nodes hold the need."""
    pool = replace(WHOLE, gang_nodes=gang_nodes)
    low, high = sorted((one_gpus, other_gpus))
    nodes = nodes_for(high, pool, fill_share)
    assert nodes_for(low, pool, fill_share) <= nodes
    assert nodes * pool.node_gpus * fill_share >= high - 1e-5
    assert 0 == nodes % gang_nodes


@pytest.mark.parametrize(
    ("p95_seconds", "expected"),
    [(None, 1200), (300.0, 1200), (1140.0, 1200), (1140.2, 1201), (1500.0, 1560)],
)
def test_lead_is_what_provisioning_takes_and_a_cycle(
    p95_seconds: float | None, expected: int
) -> None:
    """Never less than the operator wants, whatever is measured."""
    assert expected == lead_seconds(WHOLE, p95_seconds, cycle_seconds=60)


def test_a_measurement_that_is_no_number_counts_as_none() -> None:
    """Unknown is never a longer or shorter time."""
    assert 1200 == lead_seconds(WHOLE, math.nan, cycle_seconds=60)
