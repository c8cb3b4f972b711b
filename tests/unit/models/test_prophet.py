"""Prophet is a curve laid out beforehand; a forecast looks it up and carries the residual."""

import subprocess
import sys

import numpy as np

from features.calendar import CalendarSettings, ClusterCalendar
from features.events import NoKnownEvents
from features.panel import DemandPanel
from features.series import DemandSeries
from models.forecast import Horizon
from models.prophet import Curve, FittedProphet, ProphetCarried
from models.protocol import Context
from tests.fakes.demand import FRAGMENT, MONDAY, WHOLE

CONTEXT = Context(Horizon.of(3600), ClusterCalendar(CalendarSettings()), NoKnownEvents())


def test_change_is_the_curve_from_now_on():
    """The residual of now is carried: only the curve's change counts."""
    panel = DemandPanel.of([DemandSeries(WHOLE, 0, 3600, np.array([7.0, 7.0]))])
    fitted = FittedProphet({WHOLE: Curve(0, 3600, np.array([10.0, 20.0, 35.0]))})
    change = fitted.expected_change(panel, np.array([2]), CONTEXT)
    np.testing.assert_array_equal(change, [[[15.0]]])


def test_beyond_the_curve_it_is_silent():
    """Days after its fit the model has nothing to say, rather than a flat line."""
    panel = DemandPanel.of([DemandSeries(WHOLE, 0, 3600, np.array([7.0, 7.0, 7.0]))])
    fitted = FittedProphet({WHOLE: Curve(0, 3600, np.array([10.0, 20.0, 35.0]))})
    assert np.isnan(fitted.expected_change(panel, np.array([3]), CONTEXT)).all()


def test_a_daily_wave_is_found():
    """Fitted to a wave, the curve rises and falls with it."""
    hours = np.arange(10 * 24)
    wave = 50 + 30 * np.sin(hours / 24 * 2 * np.pi)
    panel = DemandPanel.of([DemandSeries(FRAGMENT, MONDAY, 3600, wave)])
    fitted = ProphetCarried().fit(panel, CONTEXT).change
    assert isinstance(fitted, FittedProphet)
    curve = fitted.curves[FRAGMENT]
    ahead = MONDAY + 3600 * np.arange(240, 264)
    expected = 50 + 30 * np.sin(np.arange(240, 264) / 24 * 2 * np.pi)
    np.testing.assert_allclose(curve.level_at(ahead), expected, atol=4)


def test_forecasting_does_not_import_prophet():
    """A process that only forecasts must not pay for Prophet."""
    program = (
        "import sys, numpy as np; from models.prophet import Curve, FittedProphet; "
        "FittedProphet({}); sys.exit('prophet' in sys.modules)"
    )
    assert 0 == subprocess.run([sys.executable, "-c", program], check=False).returncode
