"""Nodes are added step by step."""

from dataclasses import replace

import pytest

from actuator.guards.step_limit import step_limit
from tests.fakes.situations import calm, proposed


@pytest.mark.parametrize(
    ("current", "allowed"), [(0, 1), (1, 2), (3, 4), (6, 7), (7, 9), (10, 13), (20, 26)]
)
def test_at_most_a_share_more_and_at_least_one(current: int, allowed: int) -> None:
    """30 % of what there is, rounded down."""
    assert allowed == step_limit(proposed(current, 100), calm(current)).desired_nodes


def test_rounding_of_floats_costs_no_node() -> None:
    """57 % of 100 are 57, although 0.57 * 100 is a little less."""
    situation = calm(100)
    situation = replace(situation, policy=replace(situation.policy, step_limit_share=0.57))
    assert 157 == step_limit(proposed(100, 200), situation).desired_nodes


def test_the_pool_s_own_floor_is_free() -> None:
    """It comes at once; a floor by announcement comes by steps."""
    situation = calm(2)
    owned = replace(situation, pool=replace(situation.pool, floor_nodes=8), floor_nodes=12)
    assert 8 == step_limit(proposed(2, 12), owned).desired_nodes
    assert 3 == step_limit(proposed(2, 12), replace(situation, floor_nodes=12)).desired_nodes


def test_a_scale_down_is_no_step() -> None:
    """Other guards judge it."""
    assert 0 == step_limit(proposed(10, 0), calm(10)).desired_nodes
