"""Rare days multiply a rise, events add to it, and neither ever lowers a forecast."""

import dataclasses
from datetime import UTC, date, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from features.calendar import CalendarSettings, ClusterCalendar, DayFlag
from features.events import EventKind, KnownEvent, NoKnownEvents
from features.panel import DemandPanel
from models.adjustments import adjusted, flag_factors
from models.forecast import Horizon, QuantileArrays
from models.protocol import Context
from models.targets import now_gpus
from tests.fakes.demand import FRAGMENT, MONDAY, WHOLE, tidal_panel

PANEL = tidal_panel(days=8)
ORIGINS = np.array([7 * 288 + 100, 8 * 288])
NEXT_MONDAY = date(2026, 1, 12)


def context(events=NoKnownEvents(), **marked):  # noqa: B008 - a frozen value without state
    calendar = ClusterCalendar(CalendarSettings(**marked))
    return Context(Horizon.of(300), calendar, events)


def said(rise):
    now = now_gpus(PANEL, ORIGINS)
    levels = np.array([-8, -4, 0, 4, 8, 16, 32.0]) * rise
    peak = now[..., None] + np.sort(levels)
    return QuantileArrays(path=np.repeat(peak[:, :, None], 12, axis=2), peak=peak)


def test_nothing_known_changes_nothing():
    """Without flags and events a forecast stays as it is."""
    given_ = said(1.0)
    np.testing.assert_array_equal(given_.peak, adjusted(given_, PANEL, ORIGINS, context()).peak)


def test_unlearned_day_multiplies_the_rise_and_not_the_level():
    """On a marked day a rise of 16 becomes 32, and what lies below now stays."""
    marked = context(promotion_days=(NEXT_MONDAY,))
    got = adjusted(said(1.0), PANEL, ORIGINS, marked).peak[:, 0] - now_gpus(PANEL, ORIGINS)[:, :1]
    np.testing.assert_allclose(got, [[-8, -4, 0, 8, 16, 32, 64]] * 2)


def test_learned_day_is_left_to_the_model():
    """With three such days in the history the model is taken to know them."""
    seen = tuple(date(2026, 1, day) for day in (6, 7, 8))
    factor = flag_factors(PANEL, ORIGINS, context(promotion_days=(*seen, NEXT_MONDAY)))
    assert (factor == 1).all()
    factor = flag_factors(PANEL, ORIGINS, context(promotion_days=(*seen[:2], NEXT_MONDAY)))
    assert (factor[0] == 2).all()


def test_only_the_steps_of_the_day_are_multiplied():
    """Half an hour before midnight the flag of tomorrow concerns the second half hour."""
    origin = np.array([7 * 288 - 6])
    factor = flag_factors(PANEL, origin, context(promotion_days=(NEXT_MONDAY,)))
    np.testing.assert_array_equal(factor, [[1] * 6 + [2] * 6])


def test_multiplier_is_a_setting_per_flag():
    """A flag whose multiplier is one does nothing."""
    calm = context(promotion_days=(NEXT_MONDAY,), multipliers={DayFlag.PROMOTION: 1.0})
    assert (flag_factors(PANEL, ORIGINS, calm) == 1).all()


def test_relative_time_has_no_flags():
    """Seconds since a trace began are no dates."""
    relative = dataclasses.replace(PANEL, start_seconds=0)
    marked = context(promotion_days=(date(1970, 1, 8),))
    assert (flag_factors(relative, ORIGINS, marked) == 1).all()


@dataclasses.dataclass(frozen=True)
class Events:
    events: tuple[KnownEvent, ...]

    def known_at(self, pool, origin_seconds, until_seconds):
        return [
            event
            for event in self.events
            if event.pool == pool
            and event.known_since_seconds <= origin_seconds
            and event.start_seconds < until_seconds
            and event.end_seconds > origin_seconds
        ]


def event(kind, amount, start_minutes, known_since=MONDAY):
    origin = MONDAY + int(ORIGINS[0]) * 300
    start = origin + start_minutes * 60
    return KnownEvent(WHOLE, start, start + 3600, known_since, kind, amount, "announced")


@pytest.mark.parametrize(
    ("kind", "amount", "minutes", "expected"),
    [
        (EventKind.EXTRA, 64.0, 10, lambda q: q + 64),
        (EventKind.FACTOR, 2.0, 10, lambda q: q * 2),
        (EventKind.ABSOLUTE, 300.0, 10, lambda q: np.maximum(q, 300)),
        (EventKind.ABSOLUTE, 300.0, -10, lambda q: np.maximum(q, 300)),
        (EventKind.EXTRA, 64.0, -10, lambda q: q),
        (EventKind.EXTRA, 64.0, 45, lambda q: q),
        (EventKind.FACTOR, 0.5, 10, lambda q: q),
    ],
)
def test_event_enters_the_peak_of_its_pool_alone(kind, amount, minutes, expected):
    """An event in the window changes its own pool's peak as its kind says."""
    given_ = said(1.0)
    told = context(Events((event(kind, amount, minutes),)))
    got = adjusted(given_, PANEL, ORIGINS, told).peak
    np.testing.assert_allclose(got[0, 0], expected(given_.peak[0, 0]))
    np.testing.assert_array_equal(got[1], given_.peak[1])


def test_event_enters_the_steps_it_touches():
    """Steps before an event begins keep their forecast."""
    given_ = said(1.0)
    told = context(Events((event(EventKind.EXTRA, 64.0, 30),)))
    got = adjusted(given_, PANEL, ORIGINS, told).path[0, 0] - given_.path[0, 0]
    np.testing.assert_allclose(got[:, 4], [0] * 6 + [64] * 6)


def test_event_is_unknown_before_it_was_announced():
    """What is announced later changes no earlier forecast."""
    late = event(EventKind.EXTRA, 64.0, 10, known_since=MONDAY + 9 * 86_400)
    given_ = said(1.0)
    got = adjusted(given_, PANEL, ORIGINS, context(Events((late,)))).peak
    np.testing.assert_array_equal(got, given_.peak)


@given(
    st.floats(0, 20),
    st.sampled_from(list(EventKind)),
    st.floats(0, 500),
    st.integers(-50, 50),
    st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_adjustments_never_lower_a_forecast(rise, kind, amount, minutes, marked):
    """Whatever people say, no quantile falls."""
    given_ = said(rise).made_valid()
    days = (NEXT_MONDAY,) if marked else ()
    told = context(Events((event(kind, amount, minutes),)), promotion_days=days)
    got = adjusted(given_, PANEL, ORIGINS, told)
    assert (got.peak >= given_.peak - 1e-9).all()
    assert (got.path >= given_.path - 1e-9).all()


def test_pools_are_those_of_the_panel():
    """The made-up cluster is what these tests think it is."""
    assert PANEL.pools == (WHOLE, FRAGMENT)
    assert datetime(2026, 1, 5, tzinfo=UTC).timestamp() == MONDAY
    assert isinstance(PANEL, DemandPanel)
