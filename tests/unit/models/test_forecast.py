"""What a forecast promises: quantiles in order, nothing negative, and a horizon in whole steps."""

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from features.errors import BadInput
from models.forecast import QUANTILE_LEVELS, Forecast, Horizon, Knowledge, QuantileArrays
from tests.fakes.demand import WHOLE


@pytest.mark.parametrize(
    ("step_seconds", "expected"), [(60, (60, 30)), (300, (12, 6)), (3600, (1, 1)), (420, (9, 5))]
)
def test_horizon_covers_whole_steps(step_seconds, expected):
    """The horizon and the window are rounded up to steps, and at least one step."""
    horizon = Horizon.of(step_seconds)
    assert expected == (horizon.steps, horizon.peak_steps)


def test_window_beyond_the_horizon_is_refused():
    """A peak cannot be forecast further than the path."""
    with pytest.raises(BadInput, match="longer than the horizon"):
        Horizon.of(300, horizon_seconds=600, peak_seconds=1200)


@given(arrays(np.float64, (1, 2, 3, 7), elements=st.floats(-50, 50)))
def test_made_valid_never_crosses_nor_goes_below_zero(path):
    """Whatever a model says, what leaves it is ordered and not negative."""
    valid = QuantileArrays(path=path, peak=path[:, :, 0]).made_valid()
    assert (np.diff(valid.path, axis=-1) >= 0).all()
    assert (valid.path >= 0).all()
    assert (valid.peak >= 0).all()


def forecast(**changed):
    parts = {
        "pool": WHOLE,
        "origin": datetime(2026, 1, 5, tzinfo=UTC),
        "horizon": Horizon.of(300),
        "levels": QUANTILE_LEVELS,
        "now_gpus": 8.0,
        "path_gpus": np.tile(np.arange(7.0), (12, 1)),
        "peak_gpus": np.arange(7.0),
        "model_name": "persistence",
        "model_version": "1",
        "knowledge": Knowledge(86_400, 1.0, 0),
        "explanation": {"now": 8.0},
    }
    return Forecast(**{**parts, **changed})


def test_peak_is_read_by_level():
    """A level that is not forecast is an error, not a neighbour's value."""
    assert 4.0 == forecast().peak_at(0.9)
    with pytest.raises(KeyError, match=r"no quantile 0\.8"):
        forecast().peak_at(0.8)


@pytest.mark.parametrize(
    "peak", [np.array([1, 2, 3, 2, 5, 6, 7.0]), np.full(7, -1.0), np.full(7, np.nan)]
)
def test_impossible_forecast_is_refused(peak):
    """Crossing, negative or missing quantiles never become a forecast."""
    with pytest.raises(ValueError, match="peak"):
        forecast(peak_gpus=peak)
