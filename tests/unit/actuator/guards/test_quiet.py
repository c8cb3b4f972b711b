"""A scale-down waits until nothing has been submitted for a while."""

import pytest

from actuator.guards.quiet import quiet
from tests.fakes.situations import NOW, calm, proposed, remembered


@pytest.mark.parametrize(
    ("since", "allowed"), [(NOW - 1800, 4), (NOW - 1799, 10), (NOW + 60, 10), (None, 10)]
)
def test_a_scale_down_needs_half_an_hour_without_submissions(
    since: int | None, allowed: int
) -> None:
    """Not knowing since when is not quiet, and neither is a time to come."""
    situation = remembered(calm(10, idle=6), quiet_since_seconds=since)
    assert allowed == quiet(proposed(10, 4), situation).desired_nodes


def test_a_scale_up_needs_no_quiet() -> None:
    """It is what submissions ask for."""
    situation = remembered(calm(10), quiet_since_seconds=None)
    assert 12 == quiet(proposed(10, 12), situation).desired_nodes
