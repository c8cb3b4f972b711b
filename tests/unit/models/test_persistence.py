"""'The same as now': its quantiles are its own past errors, and nothing else."""

import numpy as np

from features.calendar import CalendarSettings, ClusterCalendar
from features.events import NoKnownEvents
from features.panel import DemandPanel
from features.rises import quantiles_of_sorted
from features.series import DemandSeries
from models.forecast import QUANTILE_LEVELS, Horizon
from models.persistence import Persistence, persistence_over_all_history
from models.protocol import Context
from tests.fakes.demand import WHOLE, tidal_panel

CONTEXT = Context(Horizon.of(300), ClusterCalendar(CalendarSettings()), NoKnownEvents())


def naive_peak_errors(panel, pool, first_origin):
    """Every past rise of the peak whose whole horizon has closed, by a plain loop."""
    demand, closing = panel.demand_gpus[pool], panel.closing_gpus[pool]
    return [
        max(demand[origin : origin + 6]) - closing[origin - 1]
        for origin in range(first_origin, len(demand) - 12 + 1)
    ]


def test_peak_is_now_plus_the_quantiles_of_past_rises():
    """The forecast equals what a plain loop over the history finds."""
    panel = tidal_panel(days=3)
    origin = np.array([len(panel)])
    said = persistence_over_all_history().fit(panel, CONTEXT).predict(panel, origin, CONTEXT)
    for pool in (0, 1):
        errors = np.sort(naive_peak_errors(panel, pool, 1))
        expected = panel.closing_gpus[pool, -1] + quantiles_of_sorted(errors, QUANTILE_LEVELS)
        np.testing.assert_allclose(said.peak[pool, 0], np.maximum(expected, 0))


def test_only_the_last_days_count():
    """With a day of errors, what was before it has no influence."""
    panel = tidal_panel(days=3)
    origin = np.array([len(panel)])
    said = Persistence(error_days=1).fit(panel, CONTEXT).predict(panel, origin, CONTEXT)
    errors = np.sort(naive_peak_errors(panel, 0, len(panel) - 11 - 288))
    expected = panel.closing_gpus[0, -1] + quantiles_of_sorted(errors, QUANTILE_LEVELS)
    np.testing.assert_allclose(said.peak[0, 0], np.maximum(expected, 0))


def test_open_windows_teach_nothing():
    """A jump in the last hour, whose windows are still open, is not yet an error."""
    demand = np.full(600, 8.0)
    demand[-11:] = 800
    panel = DemandPanel.of([DemandSeries(WHOLE, 0, 300, demand)])
    fitted = persistence_over_all_history().fit(panel.before(595), CONTEXT)
    said = fitted.predict(panel, np.array([589]), CONTEXT)
    assert 8.0 == said.peak[0, 0, -1]


def test_few_errors_widen_and_do_not_narrow():
    """With ten past errors the 0.99 quantile is the largest of them."""
    demand = np.array(
        [10.0, 20, 10, 40, 10, 10, 90, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10]
    )
    panel = DemandPanel.of([DemandSeries(WHOLE, 0, 300, demand)])
    said = persistence_over_all_history().fit(panel, CONTEXT)
    peak = said.predict(panel, np.array([20]), CONTEXT).peak[0, 0]
    assert 90.0 == peak[-1]
    assert peak[-1] == peak[-2]
