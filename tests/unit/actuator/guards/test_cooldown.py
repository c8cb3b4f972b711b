"""After a change a scale-down waits."""

import pytest

from actuator.guards.cooldown import cooldown
from tests.fakes.situations import NOW, calm, proposed, remembered


@pytest.mark.parametrize("change", ["scaled_up_seconds", "scaled_down_seconds"])
@pytest.mark.parametrize(
    ("at", "allowed"), [(None, 4), (NOW - 1800, 4), (NOW - 1799, 10), (NOW + 60, 10)]
)
def test_a_scale_down_waits_half_an_hour(change: str, at: int | None, allowed: int) -> None:
    """After a scale-down as after a scale-up; a change that lies ahead is not over."""
    situation = remembered(calm(10, idle=6), **{change: at})
    assert allowed == cooldown(proposed(10, 4), situation).desired_nodes


def test_the_reason_names_the_change_that_holds_it() -> None:
    """The scale-up, where the scale-down is long over."""
    situation = remembered(
        calm(10, idle=6), scaled_up_seconds=NOW - 60, scaled_down_seconds=NOW - 9000
    )
    text = "the last scale-up was 60 s ago, and a scale-down waits for 1800 s"
    assert text == cooldown(proposed(10, 4), situation).reasons[0].text


def test_a_scale_up_does_not_wait() -> None:
    """Demand does not either."""
    situation = remembered(calm(10), scaled_up_seconds=NOW - 60, scaled_down_seconds=NOW - 60)
    assert 12 == cooldown(proposed(10, 12), situation).desired_nodes
