"""A panel aligns pools and adds nothing."""

import numpy as np
import pytest

from features.errors import BadInput
from features.panel import DemandPanel
from features.series import DemandSeries
from tests.fakes.demand import FRAGMENT, MONDAY, WHOLE


def series(pool, start, demand, step=300):
    return DemandSeries(pool, start, step, np.array(demand, dtype=float))


def test_pools_of_different_spans_are_padded_with_unknown():
    """A pool that began later was not at zero before."""
    panel = DemandPanel.of([series(WHOLE, 300, [1, 2, 3]), series(FRAGMENT, 900, [7])])
    np.testing.assert_array_equal(panel.demand_gpus, [[1, 2, 3], [np.nan, np.nan, 7]])
    assert 300 == panel.start_seconds
    assert 1200 == panel.end_seconds
    assert 2 == panel.row_at(900)


def test_a_step_is_at_least_as_high_as_it_opens():
    """The level on which one step closes belongs to the next; an unknown step stays unknown."""
    ends = {"running_gpus": np.array([9.0, 2, 2, 2]), "pending_gpus": np.array([1.0, 0, 0, 0])}
    sampled = DemandSeries(WHOLE, 0, 300, np.array([10, 4, np.nan, 1]), **ends)
    np.testing.assert_array_equal(DemandPanel.of([sampled]).demand_gpus, [[10, 10, np.nan, 2]])


def test_before_cuts_the_future():
    """What was known at an origin is the rows before it."""
    panel = DemandPanel.of([series(WHOLE, 0, [1, 2, 3])])
    np.testing.assert_array_equal(panel.before(2).demand_gpus, [[1, 2]])


def test_rows_keeps_time():
    """A cut panel still knows when its rows began."""
    panel = DemandPanel.of([series(WHOLE, 0, [1, 2, 3])]).rows(1, 3)
    assert 300 == panel.start_seconds
    np.testing.assert_array_equal(panel.demand_gpus, [[2, 3]])


def test_select_keeps_order():
    """Chosen pools come in the order they were asked for."""
    panel = DemandPanel.of([series(WHOLE, 0, [1]), series(FRAGMENT, 0, [2])])
    assert panel.select([FRAGMENT, WHOLE]).pools == (FRAGMENT, WHOLE)
    np.testing.assert_array_equal(panel.select([FRAGMENT]).demand_gpus, [[2]])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "no pool has any history"),
        ([series(WHOLE, 0, [1]), series(FRAGMENT, 0, [1], 60)], "different steps"),
        ([series(WHOLE, 0, [1]), series(WHOLE, 300, [1])], "stands twice"),
        ([series(WHOLE, 0, [1]), series(FRAGMENT, MONDAY, [1])], "times since a trace began"),
    ],
)
def test_what_cannot_be_aligned_is_refused(given, message):
    """One clear line says why."""
    with pytest.raises(BadInput, match=message):
        DemandPanel.of(given)
