"""Stored forecasts: what may be stored, which have closed, and how many were due."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from features.errors import BadInput
from models.stored_forecasts import StoredForecasts
from tests.fakes.demand import WHOLE
from tests.fakes.live_scores import HORIZON, STEP_SECONDS

GOOD = StoredForecasts(
    pool=WHOLE,
    horizon=HORIZON,
    since_seconds=0,
    every_seconds=STEP_SECONDS,
    origins_seconds=np.array([0, 1, 3]) * STEP_SECONDS,
    peak_gpus=np.ones((3, 7)),
    models=(("combined", "6"), ("persistence", "1"), ("combined", "7")),
)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"every_seconds": 0}, "due every 0 s"),
        ({"peak_gpus": np.ones((3, 6))}, "peaks of shape (3, 6) for 3 origins and 7 levels"),
        ({"models": ()}, "0 models for 3 origins"),
        ({"origins_seconds": np.array([0, 1, 1])}, "keep one forecast per origin"),
        ({"since_seconds": 1}, "before 1, when the first was due"),
    ],
)
def test_what_cannot_be_scored_is_refused(change: dict[str, object], problem: str) -> None:
    """Each broken invariant has its own line."""
    with pytest.raises(BadInput, match="stored forecasts of a100/whole-node") as error:
        dataclasses.replace(GOOD, **change)  # type: ignore[arg-type]
    assert problem in str(error.value)


def test_a_forecast_counts_once_its_window_has_closed() -> None:
    """At the very second of its close, and no longer a span later."""
    close = STEP_SECONDS + HORIZON.peak_seconds
    assert [STEP_SECONDS] == GOOD.closed_between(close - 1, close).origins_seconds.tolist()
    assert [] == GOOD.closed_between(close, close + 1).origins_seconds.tolist()


def test_the_answers_of_one_model_can_be_taken_alone() -> None:
    """Another model's answers become missing; what was due stays due."""
    own = GOOD.by_model("combined")
    assert ("combined 6", "combined 7") == own.model_names
    assert [0, 3 * STEP_SECONDS] == own.origins_seconds.tolist()
    assert GOOD.due_between(0, 10**6) == own.due_between(0, 10**6)


@given(st.integers(-50, 400), st.integers(0, 400), st.integers(1, 40), st.integers(-50, 300))
def test_due_forecasts_are_counted(after: int, length: int, every: int, since: int) -> None:
    """As many as a loop over every due origin finds."""
    forecasts = StoredForecasts(
        WHOLE, HORIZON, since, every, np.empty(0, np.int64), np.empty((0, 7)), ()
    )
    shift = HORIZON.peak_seconds
    expected = sum(
        after < origin <= after + length for origin in range(since, after + length + 1, every)
    )
    assert expected == forecasts.due_between(after + shift, after + length + shift)
