"""Rises, their quantiles and the pool's scale, against plain loops."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from features.rises import (
    POOLS_AT_ONCE,
    closed_rises,
    future_peak,
    quantiles_of_sorted,
    rise_scale,
    trailing_quantiles,
)

KNOWN_OR_NOT = st.one_of(st.just(np.nan), st.integers(0, 100).map(float))
VALUES = arrays(np.float64, st.tuples(st.just(2), st.integers(1, 30)), elements=KNOWN_OR_NOT)
LEVELS = (0.1, 0.5, 0.9, 0.99)


@given(VALUES, st.integers(1, 5))
def test_future_peak_equals_loop(demand, steps):
    """The peak of a window is its highest row, and unknown with any row unknown or missing."""
    peak = future_peak(demand, steps)
    for pool, row in enumerate(demand):
        for origin in range(len(row) + 1):
            window = row[origin : origin + steps]
            whole = len(window) == steps and not np.isnan(window).any()
            expected = window.max() if whole else np.nan
            np.testing.assert_equal(peak[pool, origin], expected)


def test_history_shorter_than_the_window_has_no_rise():
    """Before the first window has closed nothing is known of rises."""
    assert np.isnan(closed_rises(np.ones((1, 4)), np.ones((1, 4)), np.zeros((1, 4), bool), 6)).all()


@given(VALUES, st.integers(1, 5), st.data())
def test_rise_is_placed_where_its_window_closes(demand, steps, data):
    """A rise stands at the last row of its window and is measured from the row before it."""
    capped = data.draw(arrays(np.bool_, demand.shape))
    closing = np.where(np.isnan(demand), np.nan, demand / 2)
    rises = closed_rises(demand, closing, capped, steps)
    for pool in range(len(demand)):
        for row in range(demand.shape[1]):
            origin = row - steps + 1
            expected = np.nan
            if origin >= 1 and not capped[pool, origin : row + 1].any():
                expected = np.max(demand[pool, origin : row + 1]) - closing[pool, origin - 1]
            np.testing.assert_equal(rises[pool, row], expected)


def test_rises_of_a_pool_do_not_depend_on_the_others():
    """One pool alone, with or without an axis for pools, rises as it does among many."""
    demand = np.random.default_rng(1).poisson(5, (2 * POOLS_AT_ONCE + 1, 30)).astype(float)
    free = np.zeros(demand.shape, np.bool_)
    rises = closed_rises(demand, demand - 1, free, 4)
    for pool, own in enumerate(demand):
        np.testing.assert_array_equal(rises[pool], closed_rises(own, own - 1, free[pool], 4))


@given(VALUES)
def test_quantiles_follow_the_finite_sample_rule(values):
    """Level p of n values is the ceil((n + 1) p)-th, or the largest where there are too few."""
    got = quantiles_of_sorted(np.sort(values, axis=-1), LEVELS)
    for pool, row in enumerate(values):
        known = sorted(row[~np.isnan(row)])
        for index, level in enumerate(LEVELS):
            rank = min(math.ceil((len(known) + 1) * level - 1e-9), len(known))
            expected = known[max(rank, 1) - 1] if known else np.nan
            np.testing.assert_equal(got[pool, index], expected)


@given(VALUES, st.data())
def test_trailing_quantiles_do_not_see_the_future(values, data):
    """Changing rows from the origin on changes nothing."""
    origin = data.draw(st.integers(0, values.shape[1]))
    changed = values.copy()
    changed[:, origin:] = 1e6
    np.testing.assert_array_equal(
        trailing_quantiles(values, np.array([origin]), 10, LEVELS),
        trailing_quantiles(changed, np.array([origin]), 10, LEVELS),
    )


@given(VALUES, st.data())
def test_scale_equals_a_loop_and_does_not_see_the_future(rises, data):
    """The scale is the mean of the week's rises above zero, leaning on the fortnight's."""
    origin = data.draw(st.integers(1, rises.shape[1]))
    changed = rises.copy()
    changed[:, origin:] = 1e6
    got = rise_scale(changed, np.array([origin]), 86_400)[:, 0]
    for pool, row in enumerate(rises):
        older = [value for value in row[max(0, origin - 14) : origin] if value > 0]
        week = [value for value in row[max(0, origin - 7) : origin] if value > 0]
        usual = (sum(older) + 4) / (len(older) + 1)
        expected = (sum(week) + 0.07 * usual) / (len(week) + 0.07)
        np.testing.assert_allclose(got[pool], expected)


def test_scale_of_a_pool_without_rises_is_that_of_a_usual_pool():
    """Dividing by the scale stays tame where nothing ever moved."""
    np.testing.assert_array_equal(rise_scale(np.zeros((1, 50)), np.array([50]), 300), [[4.0]])
