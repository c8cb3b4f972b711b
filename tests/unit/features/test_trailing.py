"""Trailing windows against naive loops, and their blindness to the future."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from features.series import FloatArray, IntArray
from features.trailing import (
    rows_before,
    trailing_counts,
    trailing_max,
    trailing_means,
    trailing_min,
    trailing_totals,
    value_before,
)

VALUES = arrays(
    np.float64,
    st.tuples(st.integers(1, 3), st.integers(1, 40)),
    elements=st.one_of(st.just(np.nan), st.floats(0, 1000, width=32)),
)

MARKED = st.one_of(
    arrays(np.bool_, st.tuples(st.integers(1, 3), st.integers(1, 20))),
    st.integers(1, 20).map(lambda rows: np.ones((2, rows), np.bool_)),
)


def trailing_mean(values: FloatArray, origins: IntArray, width: int) -> FloatArray:
    """The middle of three widths at once, so that widths cannot be mixed up."""
    return list(trailing_means(values, origins, [1, width, width + 3]))[1]


FUNCTIONS = {
    trailing_mean: np.mean,
    trailing_max: np.max,
    trailing_min: np.min,
}


def naive(values: FloatArray, origin: int, width: int, reduce: object) -> list[float]:
    out = []
    for row in values:
        known = [value for value in row[max(0, origin - width) : origin] if not np.isnan(value)]
        out.append(reduce(known) if known else np.nan)
    return out


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@given(values=VALUES, width=st.integers(1, 50))
def test_equals_naive_loop(function, values, width):
    """Each trailing window holds what a plain loop over its rows finds."""
    origins = np.arange(1, values.shape[1] + 1)
    expected = np.array([naive(values, origin, width, FUNCTIONS[function]) for origin in origins]).T
    np.testing.assert_allclose(function(values, origins, width), expected, atol=1e-6)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@given(values=VALUES, data=st.data())
def test_one_origin_equals_many(function, values, data):
    """Asking for one origin gives what asking for all of them gives."""
    origins = np.arange(1, values.shape[1] + 1)
    chosen = data.draw(st.sampled_from(list(origins)))
    all_at_once = function(values, origins, 7)[:, chosen - 1]
    np.testing.assert_allclose(
        function(values, np.array([chosen]), 7)[:, 0], all_at_once, atol=1e-6
    )


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@given(values=VALUES, data=st.data())
def test_future_changes_nothing(function, values, data):
    """Rows at and after the origin have no influence."""
    origin = data.draw(st.integers(1, values.shape[1]))
    changed = values.copy()
    changed[:, origin:] = 1e9
    np.testing.assert_array_equal(
        function(values, np.array([origin]), 5), function(changed, np.array([origin]), 5)
    )


@given(marked=MARKED, data=st.data())
def test_counts_are_those_of_a_naive_loop(marked, data):
    """Marked rows are counted, whether all of them are marked or some, for one origin or many."""
    ends = st.integers(1, marked.shape[1])
    origins = np.array(data.draw(st.lists(ends, min_size=1, max_size=5)))
    expected = [
        [[row[max(0, origin - width) : origin].sum() for origin in origins] for row in marked]
        for width in (2, 9)
    ]
    np.testing.assert_array_equal(expected, list(trailing_counts(marked, origins, [2, 9])))
    np.testing.assert_array_equal(expected, list(trailing_totals(marked, origins, [2, 9])))


@given(values=VALUES, data=st.data())
def test_the_stretch_before_origins_is_all_that_windows_read(values, data):
    """Sums over the stretch, at the origins within it, are the sums over everything."""
    ends = st.integers(1, values.shape[1])
    origins = np.array(data.draw(st.lists(ends, min_size=1, max_size=5)))
    filled = np.nan_to_num(values)
    stretch, within = rows_before(filled, origins, 4)
    assert stretch.shape[1] <= origins.max() - origins.min() + 4
    (expected,) = trailing_totals(filled, origins, [4])
    (got,) = trailing_totals(stretch, within, [4])
    np.testing.assert_allclose(expected, got, atol=1e-6)


def test_value_before_reads_the_newest_closed_row():
    """Origin i sees row i - 1, and NaN where history has not begun."""
    values = np.array([[10.0, 20.0, 30.0]])
    np.testing.assert_array_equal(
        value_before(values, np.array([0, 1, 3]), 1), [[np.nan, np.nan, 20.0]]
    )
