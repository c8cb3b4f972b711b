"""With many nodes unready nothing is scaled."""

from dataclasses import replace

import pytest

from actuator.guards.unready import unready
from tests.fakes.situations import calm, proposed, seen


@pytest.mark.parametrize("desired", [0, 30])
@pytest.mark.parametrize(("unready_nodes", "held"), [(0, False), (9, False), (10, True)])
def test_beyond_the_share_nothing_moves(unready_nodes: int, held: bool, desired: int) -> None:
    """Of 20 nodes 9 are 45 %, and 10 are more; nodes on their way count for neither."""
    situation = seen(
        calm(20), capacity_nodes=20 - unready_nodes, unready_nodes=unready_nodes, arriving_nodes=5
    )
    after = unready(proposed(25, desired), replace(situation, floor_nodes=30))
    assert (25 if held else desired) == after.desired_nodes


def test_an_empty_pool_may_grow() -> None:
    """No node is no unready node."""
    assert 3 == unready(proposed(0, 3), calm(0)).desired_nodes
