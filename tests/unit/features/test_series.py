"""A demand series holds its invariants from the moment it is made."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from features.errors import BadInput
from features.pool import Pool, Shape
from features.series import DemandSeries

POOL = Pool("a100", Shape.FRAGMENT)


def series(demand, **more):
    return DemandSeries(POOL, 600, 300, np.array(demand, dtype=float), **more)


def test_unknown_columns_are_missing_not_zero():
    """A column that the source does not know is NaN throughout."""
    made = series([1, 2])
    assert np.isnan(made.capacity_gpus).all()
    assert np.isnan(made.pending_gpus).all()


def test_gap_stays_a_gap():
    """A missing step is not observed, and still missing."""
    made = series([1, np.nan, 3])
    np.testing.assert_array_equal(made.observed, [True, False, True])
    assert np.isnan(made.demand_gpus[1])


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"demand_gpus": np.array([1.0, -2.0])}, "'demand_gpus' is -2.0 at 1970-01-01T00:15:00Z"),
        ({"demand_gpus": np.array([np.inf, 1.0])}, "'demand_gpus' is inf at 1970-01-01T00:10:00Z"),
        ({"pending_gpus": np.array([1.0])}, "'pending_gpus' has 1 rows, demand has 2"),
        ({"start_seconds": 601}, "off the grid"),
        ({"step_seconds": 0}, "must be positive"),
        ({"capped": np.array([True])}, "'capped' has 1 rows"),
        ({"demand_gpus": np.ones((2, 2))}, "2 dimensions"),
    ],
)
def test_broken_invariant_is_refused(more, message):
    """What breaks an invariant is named, with its place."""
    given_ = {"demand_gpus": np.array([1.0, 2.0]), "start_seconds": 600, "step_seconds": 300}
    with pytest.raises(BadInput, match=message.replace("(", r"\(")):
        DemandSeries(pool=POOL, **{**given_, **more})


def test_arrays_cannot_be_written():
    """A series does not change after it was checked."""
    with pytest.raises(ValueError, match="read-only"):
        series([1, 2]).demand_gpus[0] = -1


def test_closing_level_is_running_plus_pending_where_known():
    """The close of a step comes from running and pending, else from the step's highest."""
    made = series([9, 9], running_gpus=np.array([4, np.nan]), pending_gpus=np.array([1.0, 1.0]))
    np.testing.assert_array_equal(made.closing_gpus, [5, 9])


@given(st.lists(st.integers(0, 50), min_size=1, max_size=20, unique=True), st.randoms())
def test_rows_in_any_order_land_on_their_step(steps, random):
    """Rows are laid on the grid by time, and steps without a row become gaps."""
    random.shuffle(steps)
    times = np.array(steps) * 300
    made = DemandSeries.from_rows(POOL, 300, times, {"demand_gpus": np.array(steps, dtype=float)})
    for row, value in enumerate(made.demand_gpus):
        step = min(steps) + row
        assert (step in steps) == bool(made.observed[row])
        assert np.isnan(value) or value == step


def test_two_rows_for_one_step_are_refused():
    """Nobody decides silently which of two rows is true."""
    with pytest.raises(BadInput, match=r"more than one row for 1970-01-01T00:05:00Z"):
        DemandSeries.from_rows(
            POOL, 300, np.array([300, 300]), {"demand_gpus": np.array([1.0, 2.0])}
        )


@given(st.integers(-2, 12), st.integers(-2, 12))
def test_between_keeps_whole_steps_inside(first, stop):
    """A cut holds exactly the steps that lie wholly inside the span."""
    whole = DemandSeries(POOL, 0, 300, np.arange(8.0))
    cut = whole.between(first * 300 - 10, stop * 300 + 10)
    expected = [v for v in range(8) if v * 300 >= first * 300 - 10 and v < stop]
    assert expected == list(cut.demand_gpus)


def test_frame_has_every_column():
    """The frame names time, columns, observed and capped."""
    frame = series([1, np.nan]).to_frame()
    assert list(frame["observed"]) == [True, False]
    assert "1970-01-01 00:15:00+00:00" == str(frame["time"].iloc[1])


def test_relative_times_have_no_calendar():
    """Seconds since a trace began are no dates."""
    assert not series([1]).has_calendar
    assert DemandSeries(POOL, 1_767_571_200, 300, np.ones(1)).has_calendar
