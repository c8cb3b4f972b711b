"""Nothing is lowered below the floor."""

from dataclasses import replace

import pytest

from actuator.guards.floor import floor
from tests.fakes.situations import calm, proposed


@pytest.mark.parametrize(
    ("current", "desired", "allowed"), [(10, 4, 6), (10, 6, 6), (10, 7, 7), (5, 2, 5), (5, 9, 9)]
)
def test_a_pool_ends_at_its_floor(current: int, desired: int, allowed: int) -> None:
    """One that is below it already keeps what it has, and may grow."""
    situation = replace(calm(current), floor_nodes=6)
    assert allowed == floor(proposed(current, desired), situation).desired_nodes
