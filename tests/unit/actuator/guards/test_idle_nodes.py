"""No more nodes go than have long been idle."""

import pytest

from actuator.guards.idle_nodes import idle_nodes
from actuator.view import NodePoolView
from tests.fakes.situations import NOW, calm, proposed, remembered, seen


def test_only_long_idle_nodes_go() -> None:
    """Of ten nodes six have been idle for a day."""
    assert 4 == idle_nodes(proposed(10, 0), calm(10, idle=6)).desired_nodes
    assert 5 == idle_nodes(proposed(10, 5), calm(10, idle=6)).desired_nodes


@pytest.mark.parametrize(("since", "allowed"), [(NOW - 900, 9), (NOW - 899, 10)])
def test_a_node_must_have_been_idle_for_a_quarter_of_an_hour(since: int, allowed: int) -> None:
    """To the second."""
    situation = remembered(calm(10, idle=1), idle_since_seconds={"node-0": since})
    assert allowed == idle_nodes(proposed(10, 0), situation).desired_nodes


def test_a_node_that_was_idle_and_carries_a_job_now_stays() -> None:
    """Being remembered as idle is not enough, and neither is being idle without a memory of it."""
    situation = seen(
        calm(10, idle=2), node_pools=(NodePoolView("spot-a", 10, idle_nodes=("node-0", "node-7")),)
    )
    assert 9 == idle_nodes(proposed(10, 0), situation).desired_nodes


def test_all_node_pools_of_a_pool_count() -> None:
    """Wherever its idle nodes stand."""
    apart = (
        NodePoolView("spot-a", 5, idle_nodes=("node-0",)),
        NodePoolView("demand-b", 5, idle_nodes=("node-1",)),
    )
    situation = seen(calm(10, idle=2), node_pools=apart)
    assert 8 == idle_nodes(proposed(10, 0), situation).desired_nodes


def test_a_scale_up_needs_no_idle_node() -> None:
    """There may be none."""
    assert 12 == idle_nodes(proposed(10, 12), calm(10)).desired_nodes
