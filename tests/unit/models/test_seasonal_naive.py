"""'The same as last week', and yesterday while there is no last week."""

import numpy as np
import pytest

from features.calendar import CalendarSettings, ClusterCalendar
from features.events import NoKnownEvents
from features.panel import DemandPanel
from features.series import DemandSeries
from models.forecast import Horizon
from models.protocol import Context
from models.seasonal_naive import SeasonalChange
from tests.fakes.demand import MONDAY, WHOLE

CONTEXT = Context(Horizon.of(3600), ClusterCalendar(CalendarSettings()), NoKnownEvents())


@pytest.mark.parametrize(("days", "same_as"), [(3, 24), (9, 168)])
def test_level_of_a_week_else_of_a_day_ago(days, same_as):
    """The expected level is the one at the same time a season ago."""
    demand = np.random.default_rng(1).integers(0, 99, days * 24).astype(float)
    panel = DemandPanel.of([DemandSeries(WHOLE, MONDAY, 3600, demand)])
    origin = len(demand)
    change = SeasonalChange().expected_change(panel, np.array([origin]), CONTEXT)
    assert demand[origin - same_as] - demand[-1] == change[0, 0, 0]
