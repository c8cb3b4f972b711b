"""Windows that overlap, against naive counts and sums over pairs."""

import itertools
import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from models.overlap import long_run_spread, separate_windows


def most_separate(origins: list[int], peak_steps: int) -> int:
    """The largest choice without overlap, by trying all."""
    return max(
        count
        for count in range(len(origins) + 1)
        for chosen in itertools.combinations(origins, count)
        if all(b - a >= peak_steps for a, b in itertools.pairwise(chosen))
    )


@given(st.sets(st.integers(0, 30), max_size=9), st.integers(1, 8))
def test_as_many_windows_are_counted_as_can_stand_apart(origins: set[int], steps: int) -> None:
    """The greedy count is the best of all choices."""
    ordered = sorted(origins)
    found = separate_windows(np.array(ordered, dtype=np.int64), steps)
    assert most_separate(ordered, steps) == found


@given(st.integers(0, 10_000), st.integers(1, 9))
def test_the_spread_is_a_weighted_sum_over_pairs(seed: int, reach: int) -> None:
    """Every pair of errors counts, less the farther apart; gaps between them are kept."""
    random = np.random.default_rng(seed)
    positions = np.sort(random.choice(40, size=12, replace=False)) + 1_000
    errors = random.normal(size=12)
    total = sum(
        max(0.0, 1 - abs(int(a - b)) / reach) * x * y
        for a, x in zip(positions, errors, strict=True)
        for b, y in zip(positions, errors, strict=True)
    )
    expected = math.sqrt(total / 12 * 5 / 4)
    found = long_run_spread(errors[:, None], positions, reach, windows=5)
    np.testing.assert_allclose(found, [expected], atol=1e-9)


def test_one_window_has_no_spread() -> None:
    """What is not known is NaN, and not zero."""
    assert np.isnan(long_run_spread(np.zeros((3, 2)), np.arange(3), 6, windows=1)).all()
