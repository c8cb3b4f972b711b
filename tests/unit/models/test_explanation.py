"""An explanation adds up to its forecast, and says in words what its parts say."""

from datetime import date

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from features.calendar import CalendarSettings, ClusterCalendar
from features.events import EventKind, KnownEvent, NoKnownEvents
from features.panel import DemandPanel
from features.series import DemandSeries
from models.explanation import Explanation, explained
from models.forecast import QUANTILE_LEVELS, Horizon, QuantileArrays
from models.protocol import Context
from tests.fakes.demand import MONDAY, WHOLE, tidal_series

CALENDAR = ClusterCalendar(CalendarSettings())
CONTEXT = Context(Horizon.of(300), CALENDAR, NoKnownEvents())
PANEL = DemandPanel.of([tidal_series(days=8)])
LEVELS = np.array([-4.0, 0, 4, 8, 16, 24, 40])


class Announced:
    """A hundred more GPUs from the origin on."""

    def known_at(self, pool, origin_seconds, until_seconds):
        return [
            KnownEvent(
                pool, origin_seconds, until_seconds, MONDAY, EventKind.EXTRA, 100.0, "announced"
            )
        ]


def said(rise, origin, panel=PANEL):
    peak = panel.closing_gpus[0, origin - 1] + rise + LEVELS
    return QuantileArrays(np.tile(peak, (1, 1, 12, 1)), peak[None, None]).made_valid()


@given(st.floats(-30, 60), st.integers(300, 8 * 288), st.booleans())
@settings(max_examples=60, deadline=None)
def test_parts_add_up_to_every_quantile(rise, origin, announced):
    """Now, tide, slope, calendar, events and width make the forecast, whatever it is."""
    events = Announced() if announced else NoKnownEvents()
    final, account = explained(
        said(rise, origin), PANEL, origin, Context(Horizon.of(300), CALENDAR, events)
    )
    for index, level in enumerate(QUANTILE_LEVELS):
        assert account.peak_at(level) == pytest.approx(final.peak[0, 0, index])
    assert account.width_gpus[0.5] == 0
    assert account.events_gpus == pytest.approx(100.0 if announced else 0.0)


def test_a_marked_day_is_the_calendars_part():
    """What the multiplier of a promotion adds to the median is said to be the calendar's."""
    marked = ClusterCalendar(CalendarSettings(promotion_days=(date(2026, 1, 12),)))
    origin = 7 * 288 + 100
    final, account = explained(
        said(8.0, origin), PANEL, origin, Context(Horizon.of(300), marked, NoKnownEvents())
    )
    assert account.calendar_gpus == pytest.approx(12.0)
    assert account.peak_at(0.9) == pytest.approx(final.peak[0, 0, 4])


def test_the_tide_gets_what_the_baseline_explains():
    """Demand that rises by 12 in every window of the hour is explained by the time of day."""
    ramp = np.tile(np.concatenate([np.arange(144.0), np.arange(144.0)[::-1]]), 10)
    panel = DemandPanel.of([DemandSeries(WHOLE, MONDAY, 300, 50 + 2 * ramp)])
    origin = 9 * 288 + 60
    _, account = explained(said(16.0 - 4, origin, panel), panel, origin, CONTEXT)
    assert account.seasonal_gpus == pytest.approx(12.0)
    assert account.slope_gpus == pytest.approx(4.0)


def test_the_tide_never_explains_more_than_there_is():
    """A tide of twelve explains all of a rise of three, and none of a fall."""
    ramp = np.tile(np.concatenate([np.arange(144.0), np.arange(144.0)[::-1]]), 10)
    panel = DemandPanel.of([DemandSeries(WHOLE, MONDAY, 300, 50 + 2 * ramp)])
    origin = 9 * 288 + 60
    _, small = explained(said(3.0 - 4, origin, panel), panel, origin, CONTEXT)
    assert (3.0, 0.0) == (pytest.approx(small.seasonal_gpus), pytest.approx(small.slope_gpus))
    _, fall = explained(said(-5.0 - 4, origin, panel), panel, origin, CONTEXT)
    assert (0.0, -5.0) == (fall.seasonal_gpus, pytest.approx(fall.slope_gpus))


def test_sentence_says_what_matters_and_nothing_else():
    """Parts too small to matter are left out; a quiet forecast says so."""
    loud = Explanation(96.0, 12.0, -4.0, 0.0, 64.0, {0.9: 16.0})
    assert loud.sentence(30) == (
        "96 GPUs now; the time of day adds 12, what has been happening takes 4, what was "
        "announced or scheduled adds 64; nine times in ten the next 30 minutes stay at or below "
        "184."
    )
    quiet = Explanation(96.0, 0.2, 0.0, 0.0, 0.0, {0.9: 0.0})
    assert "nothing speaks for a change" in quiet.sentence(30)
