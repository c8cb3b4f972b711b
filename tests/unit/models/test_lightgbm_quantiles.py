"""The LightGBM model learns across pools of any size, and only from histories like its own."""

import numpy as np
import pytest

from features.calendar import CalendarSettings, ClusterCalendar
from features.errors import BadInput
from features.events import NoKnownEvents
from features.panel import DemandPanel
from features.series import DemandSeries
from models.forecast import QUANTILE_LEVELS, Horizon
from models.lightgbm_quantiles import FittedLightGBM, LightGBMQuantiles
from models.own_rises import rise_profiles
from models.protocol import Context
from tests.fakes.demand import FRAGMENT, MONDAY, WHOLE, tidal_panel

CONTEXT = Context(Horizon.of(300), ClusterCalendar(CalendarSettings()), NoKnownEvents())


def sawtooth(pool, height):
    """Every two hours demand jumps by `height` for half an hour, right on the hour."""
    demand = np.full(6 * 288, 100.0)
    for start in range(0, len(demand), 24):
        demand[start : start + 6] += height
    return DemandSeries(pool, MONDAY, 300, demand)


def test_one_pool_learns_from_another_at_any_scale():
    """A pattern learned on a small pool is seen coming on one twenty times its size."""
    small = DemandPanel.of([sawtooth(WHOLE, 10.0)])
    large = DemandPanel.of([sawtooth(FRAGMENT, 200.0)])
    trees = LightGBMQuantiles().trees([small], CONTEXT)
    fitted = FittedLightGBM(trees, rise_profiles(large, CONTEXT.horizon))
    before_jump, after_jump = np.array([5 * 288 + 24 - 3]), np.array([5 * 288 + 24 + 8])
    upper = QUANTILE_LEVELS.index(0.9)
    rises = [
        fitted.predict(large, origin, CONTEXT).peak[0, 0, upper] - 100
        for origin in (before_jump, after_jump)
    ]
    assert rises[0] > 120
    assert rises[1] < 40


def test_history_of_another_step_is_refused():
    """A model trained on five-minute steps cannot read hourly ones."""
    fitted = LightGBMQuantiles().fit(tidal_panel(days=4), CONTEXT)
    hourly = tidal_panel(days=4, step_seconds=3600)
    of_an_hour = Context(Horizon.of(3600), CONTEXT.calendar, CONTEXT.events)
    with pytest.raises(BadInput, match="trained for another step"):
        fitted.predict(hourly, np.array([90]), of_an_hour)
