"""Nothing is raised above the ceiling."""

import pytest

from actuator.guards.ceiling import ceiling
from tests.fakes.situations import calm, proposed


@pytest.mark.parametrize(
    ("current", "desired", "allowed"),
    [(10, 40, 40), (10, 41, 40), (40, 41, 40), (45, 50, 45), (45, 44, 44), (45, 30, 30)],
)
def test_a_pool_ends_at_its_ceiling(current: int, desired: int, allowed: int) -> None:
    """One that is above it already stays, and may shrink."""
    assert allowed == ceiling(proposed(current, desired), calm(current)).desired_nodes
