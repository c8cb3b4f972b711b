"""What the learned members share: inputs, knots of the path, and rows drawn to learn from."""

import numpy as np
import pytest

from features.calendar import CalendarSettings, ClusterCalendar
from features.errors import BadInput
from features.events import NoKnownEvents
from models.forecast import Horizon
from models.own_rises import rise_profiles
from models.protocol import Context
from models.trees import (
    BY_COLUMN,
    BY_ROW,
    OWN_LEVELS,
    Rows,
    between_knots,
    booster_of,
    grown,
    path_knots,
    profiled_inputs,
    training_inputs,
)
from tests.fakes.demand import tidal_panel

CONTEXT = Context(Horizon.of(300), ClusterCalendar(CalendarSettings()), NoKnownEvents())


@pytest.mark.parametrize("step_seconds", [60, 300, 900, 3600])
def test_knots_reach_from_the_first_step_to_the_last(step_seconds):
    """The path's first and last step and the window's end are always asked for."""
    horizon = Horizon.of(step_seconds)
    knots = path_knots(horizon)
    assert {1, horizon.peak_steps, horizon.steps} <= set(knots.tolist())
    assert len(knots) <= 7


@pytest.mark.parametrize("step_seconds", [60, 300, 1800, 3600])
def test_a_straight_line_passes_through_knots_unchanged(step_seconds):
    """Values that lie on a line at the knots lie on it everywhere."""
    horizon = Horizon.of(step_seconds)
    line = 3.0 * path_knots(horizon)[None, None, :, None] + 1
    expected = 3.0 * np.arange(1, horizon.steps + 1) + 1
    np.testing.assert_allclose(between_knots(line, horizon)[0, 0, :, 0], expected)


def test_squeezing_is_undone_by_stretching():
    """Rises survive the way to the trees and back, whatever follows pools and origins."""
    panel = tidal_panel(days=2)
    inputs = profiled_inputs(
        panel, np.array([500, 501]), CONTEXT, rise_profiles(panel, CONTEXT.horizon)
    )
    rises = np.random.default_rng(1).normal(0, 50, (2, 2, 4, 3))
    np.testing.assert_allclose(inputs.stretched(inputs.squeezed(rises)), rises)


def test_own_quantiles_are_inputs_in_units_of_the_scale():
    """The last six inputs are the profile's quantiles over the pool's scale."""
    panel = tidal_panel(days=3)
    profiles = rise_profiles(panel, CONTEXT.horizon)
    inputs = profiled_inputs(panel, np.array([len(panel)]), CONTEXT, profiles)
    assert 2 * len(OWN_LEVELS) == sum(name.startswith("own_") for name in inputs.names)
    expected = profiles.quantiles[:, 0][..., 3:6].reshape(2, -1) / inputs.scale_gpus
    np.testing.assert_allclose(inputs.values[:, 0, -6:], expected, rtol=1e-6)


def test_rows_are_drawn_within_budget_from_closed_horizons():
    """No origin is drawn whose horizon is still open, and pools share the budget."""
    panel = tidal_panel(days=6)
    origins, inputs = training_inputs(panel, CONTEXT, 30, 500, np.random.default_rng(1))
    assert 500 == len(origins) == len(set(origins))
    assert origins.max() + CONTEXT.horizon.steps <= len(panel)
    assert (2, 500) == inputs.values.shape[:2]


def test_too_few_origins_are_none():
    """An afternoon is not enough to learn from."""
    panel = tidal_panel(days=1)
    assert training_inputs(panel, CONTEXT, 30, 500, np.random.default_rng(1)) is None


def test_how_rows_are_kept_changes_no_tree():
    """Column by column, and with bins of all rows, LightGBM grows what it grows row by row."""
    random = np.random.default_rng(1)
    inputs = random.normal(0, 1, (2_000, 8)).astype(np.float32)
    inputs[:, 3:6][random.random((2_000, 3)) < 0.7] = 0.0
    rows = Rows(inputs, inputs.sum(axis=1) + random.normal(0, 1, 2_000))
    growth = [({"objective": "quantile", "alpha": 0.9, "feature_fraction": 0.5}, 5)]
    by_row, by_column = (
        grown(rows, growth, layout)[0].model_to_string().partition("end of trees")[0]
        for layout in (BY_ROW, BY_COLUMN)
    )
    assert by_row == by_column


def test_what_is_no_booster_is_refused():
    """Text that LightGBM cannot read is one clear line."""
    with pytest.raises(BadInput, match="a booster cannot be read"):
        booster_of(b"\xff\xfe")
