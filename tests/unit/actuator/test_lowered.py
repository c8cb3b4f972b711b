"""Nodes that were asked to go count no more, unless they are needed or do not go."""

import pytest

from actuator.launches import ordered
from actuator.memory import Lowered, Memory, NodePoolMemory
from actuator.plan import NodePoolTarget
from actuator.policy import GuardPolicy
from actuator.view import PoolView
from actuator.viewing import pool_views
from tests.fakes.clusters import MINUTE, NOW, WHOLE, busy_cluster, policy

COOLDOWN = GuardPolicy().cooldown_seconds


def view_of(busy: int, idle: int, left_with: int, asked_seconds: int = NOW - MINUTE) -> PoolView:
    """The pool after its node pool was asked to have fewer nodes."""
    lowered = NodePoolMemory(lowered=Lowered(asked_seconds, left_with))
    memory = Memory(node_pools={"np-whole": lowered})
    return pool_views(busy_cluster(busy, idle), policy(), memory, NOW)[WHOLE]


def test_what_is_to_go_counts_no_more() -> None:
    """Neither as nodes nor as room."""
    view = view_of(busy=2, idle=6, left_with=4)
    assert (4, 32.0, (0.0, 0.0, 8.0, 8.0)) == (
        view.current_nodes,
        view.capacity_gpus,
        tuple(sorted(view.free_gpus)),
    )
    assert (4, 2) == (view.node_pools[0].nodes, len(view.node_pools[0].idle_nodes))


def test_what_a_job_has_taken_since_counts() -> None:
    """It will not go."""
    assert 7 == view_of(busy=7, idle=1, left_with=4).current_nodes


def test_what_has_gone_is_not_left_out_twice() -> None:
    """Whichever nodes went."""
    assert 4 == view_of(busy=2, idle=2, left_with=4).current_nodes


@pytest.mark.parametrize(("waited", "nodes"), [(COOLDOWN - 1, 4), (COOLDOWN, 8)])
def test_what_does_not_go_counts_again(waited: int, nodes: int) -> None:
    """After the cooldown: somebody keeps it."""
    assert nodes == view_of(2, 6, left_with=4, asked_seconds=NOW - waited).current_nodes


@pytest.mark.parametrize(("desired", "launched"), [(6, 0), (8, 0), (9, 1)])
def test_what_is_needed_again_is_kept_before_more_is_ordered(desired: int, launched: int) -> None:
    """Eight are still there, four of which were to go."""
    there = tuple(f"node-{number}" for number in range(8))
    before = NodePoolMemory(seen_nodes=there, lowered=Lowered(NOW - MINUTE, 4))
    memory = Memory(node_pools={"np-whole": before})
    after = ordered(memory, WHOLE, [NodePoolTarget("np-whole", 4, desired)], NOW)
    assert launched == after.node_pools["np-whole"].ordered_nodes
    view = pool_views(busy_cluster(2, 6), policy(), after, NOW)[WHOLE]
    assert desired == view.current_nodes
