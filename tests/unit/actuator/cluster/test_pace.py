"""However many ask, no second sees more requests than allowed."""

from hypothesis import given
from hypothesis import strategies as st

from actuator.cluster.pace import Pace


class Time:
    """A clock that moves when somebody waits, or time passes by itself."""

    def __init__(self) -> None:
        self.now = 100.0

    def wait(self, seconds: float) -> None:
        self.now += seconds


@given(st.lists(st.floats(0, 2), max_size=40), st.integers(1, 6))
def test_no_second_sees_too_many(gaps: list[float], per_second: int) -> None:
    """Any run of one more than allowed takes a second at least."""
    time = Time()
    pace = Pace(per_second, lambda: time.now, time.wait)
    begun = []
    for gap in gaps:
        time.now += gap
        pace.take_turn()
        begun.append(time.now)
    runs = zip(begun, begun[per_second:], strict=False)
    assert all(later - earlier >= 1 - 1e-6 for earlier, later in runs)


def test_nobody_waits_without_need() -> None:
    """The first requests go at once."""
    time = Time()
    pace = Pace(5, lambda: time.now, time.wait)
    for _ in range(5):
        pace.take_turn()
    assert 100.0 == time.now
    pace.take_turn()
    assert 101.0 == time.now


def test_a_hold_holds_all_and_lets_no_burst_through() -> None:
    """What a server asks us to wait is waited, and then the pace is kept."""
    time = Time()
    pace = Pace(2, lambda: time.now, time.wait)
    pace.hold(30)
    begun = []
    for _ in range(4):
        pace.take_turn()
        begun.append(time.now)
    assert [130.0, 130.0, 131.0, 131.0] == begun
