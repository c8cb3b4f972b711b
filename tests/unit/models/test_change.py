"""Quantiles from a point model and its own errors."""

from dataclasses import dataclass

import numpy as np

from features.calendar import CalendarSettings, ClusterCalendar
from features.events import NoKnownEvents
from features.panel import DemandPanel
from features.series import DemandSeries
from models.change import with_errors
from models.forecast import Horizon
from models.protocol import Context
from tests.fakes.demand import MONDAY, WHOLE

CONTEXT = Context(Horizon.of(300), ClusterCalendar(CalendarSettings()), NoKnownEvents())


@dataclass(frozen=True)
class Climbing:
    """Expects one GPU more per step."""

    def expected_change(self, panel, origins, context):
        steps = np.arange(1.0, context.horizon.steps + 1)
        return np.broadcast_to(steps, (len(panel.pools), len(origins), len(steps)))

    def artifact(self):
        return {}


def test_a_model_that_is_right_has_no_spread():
    """Demand that climbs as expected leaves no error, so every quantile is the expectation."""
    panel = DemandPanel.of([DemandSeries(WHOLE, MONDAY, 300, np.arange(300.0))])
    said = with_errors(Climbing(), panel, CONTEXT).predict(panel, np.array([300]), CONTEXT)
    np.testing.assert_allclose(said.peak[0, 0], 299 + 6)
    np.testing.assert_allclose(said.path[0, 0], 299 + np.repeat(np.arange(1.0, 13)[:, None], 7, 1))


def test_a_model_that_is_wrong_by_habit_is_put_right():
    """Demand that never climbs makes the errors carry the climb away again."""
    panel = DemandPanel.of([DemandSeries(WHOLE, MONDAY, 300, np.full(300, 50.0))])
    said = with_errors(Climbing(), panel, CONTEXT).predict(panel, np.array([300]), CONTEXT)
    np.testing.assert_allclose(said.peak[0, 0], 50)


def test_a_pool_with_a_silent_model_is_left_out():
    """Where the point model says nothing there are no quantiles."""

    class Silent(Climbing):
        def expected_change(self, panel, origins, context):
            return super().expected_change(panel, origins, context) * np.nan

    panel = DemandPanel.of([DemandSeries(WHOLE, MONDAY, 300, np.full(300, 50.0))])
    assert {} == with_errors(Silent(), panel, CONTEXT).errors
