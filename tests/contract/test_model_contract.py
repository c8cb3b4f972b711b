"""What every model of the zoo must keep to, whatever is inside it."""

import dataclasses

import numpy as np
import pytest

from features.calendar import CalendarSettings, ClusterCalendar
from features.errors import BadInput
from features.events import NoKnownEvents
from features.panel import DemandPanel
from features.pool import Pool, Shape
from models.forecast import QUANTILE_LEVELS, Horizon
from models.protocol import Context
from models.zoo import MODELS, models_named
from tests.fakes.demand import tidal_panel, tidal_series

CONTEXT = Context(
    horizon=Horizon.of(300),
    calendar=ClusterCalendar(CalendarSettings(time_zone="Europe/Berlin", countries=("DE",))),
    events=NoKnownEvents(),
)
PANEL = tidal_panel(days=6)
TRAINED_ROWS = 5 * 288
ORIGINS = np.array([TRAINED_ROWS, TRAINED_ROWS + 37, TRAINED_ROWS + 200])


@pytest.fixture(scope="module", params=sorted(MODELS))
def model(request):
    return MODELS[request.param]()


@pytest.fixture(scope="module")
def fitted(model):
    return model.fit(PANEL.before(TRAINED_ROWS), CONTEXT)


def test_forecasts_have_shape_order_and_no_negative(fitted):
    """Every pool, origin, step and level is there, in order and not below zero."""
    said = fitted.predict(PANEL, ORIGINS, CONTEXT)
    assert (2, 3, 12, len(QUANTILE_LEVELS)) == said.path.shape
    assert (2, 3, len(QUANTILE_LEVELS)) == said.peak.shape
    for values in (said.path, said.peak):
        assert np.isfinite(values).all()
        assert (values >= 0).all()
        assert (np.diff(values, axis=-1) >= 0).all()


def test_future_changes_no_forecast(fitted):
    """Rows from the origin on have no influence."""
    for origin in ORIGINS:
        tampered = {
            name: np.where(np.arange(len(PANEL)) >= origin, 4e5, getattr(PANEL, name))
            for name in ("demand_gpus", "closing_gpus", "submitted_jobs", "submitted_gpus")
        }
        ours = fitted.predict(PANEL, np.array([origin]), CONTEXT)
        theirs = fitted.predict(dataclasses.replace(PANEL, **tampered), np.array([origin]), CONTEXT)
        np.testing.assert_array_equal(ours.path, theirs.path)
        np.testing.assert_array_equal(ours.peak, theirs.peak)


def test_fitting_twice_gives_the_same(model, fitted):
    """Nothing is left to chance: the same history gives the same forecast to the last digit."""
    again = model.fit(PANEL.before(TRAINED_ROWS), CONTEXT)
    np.testing.assert_array_equal(
        fitted.predict(PANEL, ORIGINS, CONTEXT).path, again.predict(PANEL, ORIGINS, CONTEXT).path
    )


def test_restored_model_says_the_same(model, fitted):
    """What is saved and read back forecasts what the original did."""
    restored = model.restore(fitted.artifact())
    np.testing.assert_allclose(
        fitted.predict(PANEL, ORIGINS, CONTEXT).peak,
        restored.predict(PANEL, ORIGINS, CONTEXT).peak,
        rtol=1e-12,
    )


def test_damaged_artifact_is_refused(model, fitted):
    """A file that is missing or cut short is an error of one clear line, not a wrong forecast."""
    artifact = dict(fitted.artifact())
    name = min(artifact)
    for damaged in ({}, {**artifact, name: artifact[name][: len(artifact[name]) // 2]}):
        with pytest.raises(BadInput, match="train"):
            model.restore(damaged)


def test_more_demand_moves_the_forecast_up(fitted):
    """A pool that stands 50 GPUs higher is forecast higher."""
    raised = {name: getattr(PANEL, name) + 50.0 for name in ("demand_gpus", "closing_gpus")}
    low = fitted.predict(PANEL, ORIGINS, CONTEXT).peak
    high = fitted.predict(dataclasses.replace(PANEL, **raised), ORIGINS, CONTEXT).peak
    assert (high[..., 4] > low[..., 4]).all()


def test_too_short_a_history_is_silence_or_sense(model):
    """With an hour of history a model is silent, or says something finite; it never invents."""
    short = PANEL.before(14)
    said = model.fit(short, CONTEXT).predict(PANEL, np.array([14]), CONTEXT)
    silent = np.isnan(said.peak).all(axis=-1)
    assert (silent | np.isfinite(said.peak).all(axis=-1)).all()
    if model.name not in {"persistence", "persistence-all", "combined"}:
        assert silent.all()


def test_gaps_are_survived(model):
    """An outage of three hours and a pool without a single row leave the rest intact."""
    series = tidal_series(days=4)
    hole = (np.arange(len(series)) > 500) & (np.arange(len(series)) < 536)
    broken = dataclasses.replace(
        series,
        **{
            name: np.where(hole, np.nan, getattr(series, name))
            for name in ("demand_gpus", "running_gpus", "pending_gpus", "submitted_jobs")
        },
    )
    empty = dataclasses.replace(
        series,
        pool=Pool("h100", Shape.FRAGMENT),
        **{
            name: np.full(len(series), np.nan)
            for name in ("demand_gpus", "running_gpus", "pending_gpus", "submitted_jobs")
        },
    )
    panel = DemandPanel.of([broken, empty])
    origin = np.array([len(panel)])
    said = model.fit(panel, CONTEXT).predict(panel, origin, CONTEXT)
    assert np.isfinite(said.peak[0]).all()
    assert np.isnan(said.peak[1]).all()


def test_unknown_name_is_refused():
    """A model that is not in the table is named, with the ones that are."""
    with pytest.raises(BadInput, match="no model 'oracle'; choose from persistence"):
        models_named(["oracle"])
