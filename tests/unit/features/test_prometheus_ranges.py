"""Which instants are asked for, and how they are cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from features.errors import BadInput
from features.sources.prometheus_ranges import InstantRange, closing_instants


@pytest.mark.parametrize(
    ("start", "end", "step", "first", "last"),
    [
        (0, 300, 300, 300, 300),
        (0, 900, 300, 300, 900),
        (1, 900, 300, 600, 900),
        (0, 899, 300, 300, 600),
        (1_000_000_020, 1_000_000_140, 60, 1_000_000_080, 1_000_000_140),
    ],
)
def test_rows_are_asked_for_when_they_close(
    start: int, end: int, step: int, first: int, last: int
) -> None:
    """The whole steps inside a span, each at its end."""
    assert InstantRange(first, last, step) == closing_instants(start, end, step)


@pytest.mark.parametrize(
    ("start", "end", "step"), [(0, 299, 300), (600, 300, 300), (1, 300, 300), (0, 300, 0)]
)
def test_a_span_without_a_whole_step_is_refused(start: int, end: int, step: int) -> None:
    """An end before its start, or too close to it, is told apart from an empty answer."""
    with pytest.raises(BadInput, match="step"):
        closing_instants(start, end, step)


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        (2, [(300, 600), (900, 1200), (1500, 1500)]),
        (3, [(300, 900), (1200, 1500)]),
        (5, [(300, 1500)]),
        (9, [(300, 1500)]),
    ],
)
def test_chunks_by_table(points: int, expected: list[tuple[int, int]]) -> None:
    """Five instants in chunks of two, three, five and more."""
    chunks = InstantRange(300, 1500, 300).chunks(points)
    assert expected == [(one.first_seconds, one.last_seconds) for one in chunks]


@given(
    first=st.integers(0, 10**6),
    steps=st.integers(1, 500),
    step=st.sampled_from([1, 60, 300]),
    points=st.integers(1, 600),
)
def test_chunks_hold_every_instant_once(first: int, steps: int, step: int, points: int) -> None:
    """However a range is cut, its instants come once, in order, and never too many at a time."""
    whole = InstantRange(first, first + (steps - 1) * step, step)
    chunks = whole.chunks(points)
    instants = [at for one in chunks for at in range(one.first_seconds, one.last_seconds + 1, step)]
    assert list(range(first, first + steps * step, step)) == instants
    assert max(len(one) for one in chunks) <= points


@given(steps=st.integers(2, 500))
def test_halves_are_two_and_shorter(steps: int) -> None:
    """Halving ends, since both halves are shorter than the whole."""
    first, second = InstantRange(0, (steps - 1) * 60, 60).halves()
    assert steps == len(first) + len(second)
    assert max(len(first), len(second)) < steps
