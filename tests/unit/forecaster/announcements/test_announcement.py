"""An announcement that cannot be meant is refused where it is made."""

from dataclasses import replace

import pytest

from features.errors import BadInput
from features.events import EventKind
from forecaster.announcements.announcement import Announcement

FLOOD = Announcement(
    identifier="a1",
    pool="a100/whole-node",
    start_seconds=1_000,
    end_seconds=4_600,
    kind=EventKind.ABSOLUTE,
    amount=64,
    reason="sweep before the deadline",
    owner="ada",
    announced_seconds=500,
)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"end_seconds": 1_000}, "ends before it begins"),
        ({"end_seconds": 1_000 + 32 * 86_400}, "longer than 31 days"),
        ({"amount": 0.0}, "an amount of 0"),
        ({"amount": float("nan")}, "an amount of nan"),
        ({"kind": EventKind.FACTOR, "amount": 1.0}, "an amount of 1; factor"),
        ({"kind": EventKind.FACTOR, "amount": 101.0}, "at most 100"),
        ({"certainty": 0.0}, "a certainty of 0"),
        ({"certainty": 1.1}, "a certainty of 1.1"),
        ({"owner": " "}, "no owner"),
        ({"reason": "x" * 501}, "longer than 500"),
        ({"pool": ""}, "an empty pool"),
    ],
)
def test_what_cannot_be_meant_is_refused(change: dict[str, object], complaint: str) -> None:
    """With one line that says what is wrong."""
    with pytest.raises(BadInput, match=complaint):
        replace(FLOOD, **change)  # type: ignore[arg-type]


def test_it_is_known_from_when_it_was_made_until_it_was_called_off() -> None:
    """Nothing is told of it before."""
    cancelled = replace(FLOOD, cancelled_seconds=900)
    assert [False, True, True] == [FLOOD.known_at(at) for at in (499, 500, 9_999)]
    assert [False, True, False] == [cancelled.known_at(at) for at in (499, 899, 900)]
