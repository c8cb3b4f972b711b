"""Periodic regression learns a tide that 'the same as now' cannot see."""

import numpy as np

from features.calendar import CalendarSettings, ClusterCalendar
from features.events import NoKnownEvents
from features.panel import DemandPanel
from features.series import DemandSeries
from models.backtest import backtest, scores
from models.forecast import Horizon
from models.periodic_regression import FittedRegression, PeriodicRegression, PoolRegression
from models.protocol import Context
from tests.fakes.demand import MONDAY, WHOLE

CONTEXT = Context(Horizon.of(300), ClusterCalendar(CalendarSettings()), NoKnownEvents())


def pure_tide(days):
    hours = np.arange(days * 288) / 12
    demand = np.round(100 + 60 * np.sin(hours / 24 * 2 * np.pi), 6)
    return DemandPanel.of([DemandSeries(WHOLE, MONDAY, 300, demand)])


def test_a_pure_tide_is_forecast_far_better_than_by_persistence():
    """Where demand is all tide, the change from now is known."""
    result = backtest(pure_tide(8), [PeriodicRegression()], CONTEXT, days=1)
    score = {one.model: one for one in scores(result)}["periodic-regression"]
    assert score.pinball_ratio[0.9] < 0.3
    assert score.wql_ratio < 0.3


def test_inputs_far_beyond_what_was_seen_are_held_back():
    """A straight line is not followed to where no data has been."""
    panel = pure_tide(8)
    fitted = PeriodicRegression().fit(panel, CONTEXT).change
    assert isinstance(fitted, FittedRegression)
    wild = {
        pool: PoolRegression(one.centre, one.spread / 1e9, one.coefficients, one.intercept)
        for pool, one in fitted.pools.items()
    }
    change = FittedRegression(wild).expected_change(panel, np.array([len(panel)]), CONTEXT)
    bound = 6 * np.abs(wild[WHOLE].coefficients).sum(axis=1) + np.abs(wild[WHOLE].intercept)
    assert (np.abs(change[0, 0]) <= bound + 1e-9).all()
