"""In doubt a pool is held, or raised to its floor."""

from dataclasses import replace

import pytest

from actuator.guards.unknown_state import unknown_state
from tests.fakes.situations import calm, proposed, seen

IN_DOUBT = replace(seen(calm(10, idle=10), doubtful=("not synced", "no pods")), floor_nodes=13)


@pytest.mark.parametrize(("desired", "allowed"), [(0, 10), (9, 10), (12, 12), (13, 13), (20, 13)])
def test_in_doubt_only_a_floor_moves_anything(desired: int, allowed: int) -> None:
    """No scale-down, and no scale-up beyond the floor."""
    assert allowed == unknown_state(proposed(10, desired), IN_DOUBT).desired_nodes


def test_the_reason_names_the_doubt() -> None:
    """Each line of it."""
    text = "held at 10 nodes while the pool is in doubt: not synced; no pods"
    assert text == unknown_state(proposed(10, 4), IN_DOUBT).reasons[0].text


@pytest.mark.parametrize("desired", [0, 20])
def test_a_pool_without_doubt_is_left_alone(desired: int) -> None:
    """Other guards judge it."""
    assert desired == unknown_state(proposed(10, desired), calm(10)).desired_nodes
