"""From fits to forecasts that people read, and to reasons where there is none."""

import dataclasses

import numpy as np
import pytest

from features.calendar import CalendarSettings, ClusterCalendar
from features.errors import Unavailable
from features.events import NoKnownEvents
from features.panel import DemandPanel
from features.series import DemandSeries
from models.forecast import Forecast, Horizon
from models.forecasting import NamedFit, forecast
from models.persistence import Persistence
from models.protocol import Context
from models.seasonal_naive import SeasonalNaive
from tests.fakes.demand import FRAGMENT, WHOLE, tidal_panel, tidal_series

CONTEXT = Context(Horizon.of(300), ClusterCalendar(CalendarSettings()), NoKnownEvents())


def fits(panel, *models):
    return [NamedFit(model.name, "v1", model.fit(panel, CONTEXT)) for model in models]


def test_forecast_says_what_it_is_and_what_it_knew():
    """A forecast carries its origin, level, model and knowledge."""
    panel = tidal_panel(days=4)
    made = forecast(panel, fits(panel, Persistence()), CONTEXT, len(panel))[WHOLE]
    assert isinstance(made, Forecast)
    assert ("persistence", "v1") == (made.model_name, made.model_version)
    assert panel.closing_gpus[0, -1] == made.now_gpus
    assert panel.end_seconds == made.origin.timestamp() == made.knowledge.last_observed_seconds
    assert made.knowledge.history_seconds == 4 * 86_400
    assert 1.0 == made.knowledge.observed_share
    assert "4.0 days of history; its seasons need 30" in made.knowledge.notes
    assert sum(made.explanation.values()) == pytest.approx(made.peak_at(0.5))
    assert f"the next 30 minutes stay at or below {round(made.peak_at(0.9), 1):g}" in made.sentence


def test_no_history_is_unavailable_never_zero():
    """A pool without an observed step has a reason in place of a forecast."""
    blank = DemandSeries(FRAGMENT, tidal_series().start_seconds, 300, np.full(500, np.nan))
    panel = DemandPanel.of([tidal_series(days=2), blank])
    made = forecast(panel, fits(panel, Persistence()), CONTEXT, len(panel))
    assert isinstance(made[WHOLE], Forecast)
    assert isinstance(made[FRAGMENT], Unavailable)
    assert "no step of its history was observed" in made[FRAGMENT].reason


def test_silent_model_gives_way_to_a_simpler_one():
    """With two hours of history the simple model answers, and the forecast says so."""
    panel = DemandPanel.of([tidal_series(days=2)]).before(40)
    chain = fits(panel, SeasonalNaive(), Persistence())
    made = forecast(panel, chain, CONTEXT, len(panel))[WHOLE]
    assert "persistence" == made.model_name
    assert "seasonal-naive has too little history" in made.knowledge.notes[0]


def test_too_little_for_any_model_is_unavailable():
    """Ten minutes of history are no ground for quantiles."""
    panel = DemandPanel.of([tidal_series(days=1)]).before(2)
    made = forecast(panel, fits(panel, Persistence()), CONTEXT, 2)[WHOLE]
    assert made == Unavailable("10 min of history are too little even for the simplest model")


@pytest.mark.parametrize(("missing", "available"), [(1, True), (3, True), (4, False)])
def test_old_data_is_said_and_too_old_data_refused(missing, available):
    """A forecast from ten minutes ago is marked; one from twenty minutes ago is not made."""
    series = tidal_series(days=3)
    lost = np.arange(len(series)) >= len(series) - missing
    columns = {
        name: np.where(lost, np.nan, getattr(series, name))
        for name in ("demand_gpus", "running_gpus", "pending_gpus")
    }
    panel = DemandPanel.of([dataclasses.replace(series, **columns)])
    made = forecast(panel, fits(panel, Persistence()), CONTEXT, len(panel))[WHOLE]
    assert available == isinstance(made, Forecast)
    if available:
        assert panel.end_seconds - 300 * missing == made.origin.timestamp()
        assert f"made from {5 * missing} min before the newest step" in made.knowledge.notes


def test_rows_after_the_origin_are_not_read():
    """A forecast for an earlier moment uses only what was known then."""
    panel = tidal_panel(days=4)
    origin = 3 * 288
    chain = fits(panel.before(origin), Persistence())
    ours = forecast(panel, chain, CONTEXT, origin)[WHOLE]
    theirs = forecast(panel.before(origin), chain, CONTEXT, origin)[WHOLE]
    np.testing.assert_array_equal(ours.path_gpus, theirs.path_gpus)
