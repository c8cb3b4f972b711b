"""The feature table: what it holds, what it must not see, and what it does with gaps."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from features.calendar import CalendarSettings, ClusterCalendar
from features.events import EventKind, KnownEvent, NoKnownEvents
from features.panel import DemandPanel
from features.pipeline import feature_table
from tests.fakes.demand import MONDAY, WHOLE, tidal_panel, tidal_series

CALENDAR = ClusterCalendar(CalendarSettings(time_zone="Europe/Berlin", countries=("DE",)))
PANEL = tidal_panel(days=9)


def table_of(panel, origins, events=None):
    return feature_table(
        panel,
        np.array(origins),
        CALENDAR,
        events or NoKnownEvents(),
        peak_steps=6,
        horizon_steps=12,
    )


def rewritten(panel, origin, factor):
    """The same panel with everything from the origin on replaced."""
    changed = {}
    for name in ("demand_gpus", "closing_gpus", "pending_gpus", "submitted_jobs", "submitted_gpus"):
        values = getattr(panel, name).copy()
        values[:, origin:] = factor
        changed[name] = values
    capped = panel.capped.copy()
    capped[:, origin:] = True
    return dataclasses.replace(panel, **changed, capped=capped)


@given(st.integers(1, len(PANEL)), st.sampled_from([np.nan, 0.0, 1e6]))
@settings(max_examples=40, deadline=None)
def test_changing_the_future_changes_no_feature(origin, factor):
    """Everything at origin t uses only what was known at t."""
    honest = table_of(PANEL, [origin])
    tampered = table_of(rewritten(PANEL, origin, factor), [origin])
    np.testing.assert_array_equal(honest.values, tampered.values)
    np.testing.assert_array_equal(honest.scale_gpus, tampered.scale_gpus)


@given(st.integers(1, len(PANEL)))
@settings(max_examples=25, deadline=None)
def test_cutting_the_future_changes_no_feature(origin):
    """A panel that ends at the origin gives the same row as one that goes on."""
    np.testing.assert_array_equal(
        table_of(PANEL, [origin]).values, table_of(PANEL.before(origin), [origin]).values
    )


def test_one_origin_equals_many():
    """A forecast made alone and one made in a backtest see the same features."""
    origins = [700, 1500, 2592]
    together = table_of(PANEL, origins).values
    for index, origin in enumerate(origins):
        np.testing.assert_allclose(table_of(PANEL, [origin]).values[:, 0], together[:, index])


def test_an_outage_is_unknown_not_zero():
    """Slopes that would reach into an outage are missing, and the level is not zero."""
    series = tidal_series(days=9)
    broken = {
        name: np.where(np.arange(len(series)) >= len(series) - 4, np.nan, getattr(series, name))
        for name in ("demand_gpus", "running_gpus", "pending_gpus")
    }
    table = table_of(DemandPanel.of([dataclasses.replace(series, **broken)]), [len(series)])
    assert np.isnan(table.now_gpus[0, 0])
    assert np.isnan(table.columns(("change_15m_gpus",))[0, 0, 0])


def test_names_are_unique_and_match_the_values():
    """Every column has one name."""
    table = table_of(PANEL, [100, 200])
    assert len(table.names) == len(set(table.names)) == table.values.shape[-1]
    assert (2, 2) == table.values.shape[:2]


def test_scaled_divides_only_what_is_in_gpus():
    """Ratios and flags keep their value; GPUs become multiples of the pool's scale."""
    table = table_of(PANEL, [2000])
    scaled = dict(zip(table.names, table.scaled()[0, 0], strict=True))
    plain = dict(zip(table.names, table.values[0, 0], strict=True))
    assert scaled["time_of_day_sine"] == plain["time_of_day_sine"]
    assert scaled["change_1h_gpus"] == plain["change_1h_gpus"] / table.scale_gpus[0, 0]


@pytest.mark.parametrize("step_seconds", [60, 300, 3600])
def test_steps_of_a_minute_and_an_hour_work_too(step_seconds):
    """Spans are given in time, so another step only changes how many rows they are."""
    panel = tidal_panel(days=8, step_seconds=step_seconds)
    table = feature_table(
        panel, np.array([len(panel)]), CALENDAR, NoKnownEvents(), peak_steps=1, horizon_steps=1
    )
    level = panel.closing_gpus
    expected = level[:, -1] - level[:, -1 - 3600 // step_seconds]
    np.testing.assert_array_equal(table.columns(("change_1h_gpus",))[:, 0, 0], expected)


@dataclasses.dataclass(frozen=True)
class OneEvent:
    event: KnownEvent

    def known_at(self, pool, origin_seconds, until_seconds):
        known = self.event.known_since_seconds <= origin_seconds
        touches = self.event.start_seconds < until_seconds
        return [self.event] if known and touches and pool == self.event.pool else []


@pytest.mark.parametrize(
    ("kind", "amount", "expected"),
    [(EventKind.EXTRA, 16.0, 16.0), (EventKind.FACTOR, 2.0, None), (EventKind.ABSOLUTE, 0.0, 0.0)],
)
def test_known_events_enter_in_gpus(kind, amount, expected):
    """An event adds what it says to the level now, and never takes from it when absolute."""
    start = MONDAY + 7 * 86_400
    event = KnownEvent(WHOLE, start, start + 3600, MONDAY, kind, amount, "a test")
    table = table_of(PANEL, [7 * 288], OneEvent(event))
    got = table.columns(("known_events_30m_gpus",))[:, 0, 0]
    now = table.now_gpus[0, 0]
    assert (now if expected is None else expected) == got[0]
    assert 0 == got[1]
