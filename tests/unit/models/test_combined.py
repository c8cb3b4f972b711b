"""The champion: what it learns when, and that going on equals having been there."""

import dataclasses

import numpy as np
import pytest

from features.calendar import CalendarSettings, ClusterCalendar
from features.errors import BadInput
from features.events import NoKnownEvents
from features.panel import DemandPanel
from models.combined import Combined
from models.forecast import Horizon
from models.persistence import Persistence
from models.protocol import Context
from tests.fakes.demand import tidal_panel

CONTEXT = Context(Horizon.of(300), ClusterCalendar(CalendarSettings()), NoKnownEvents())
PANEL = tidal_panel(days=7)
FITTED_ROWS = 5 * 288


@pytest.fixture(scope="module")
def fitted():
    return Combined(warm_up_days=(1,)).fit(PANEL.before(FITTED_ROWS), CONTEXT)


def test_learning_in_steps_equals_learning_at_once(fitted):
    """Advanced every few hours or once at the end, the same has been learned."""
    at_once = fitted.advanced(PANEL, CONTEXT)
    in_steps = fitted
    for rows in range(FITTED_ROWS + 50, len(PANEL), 97):
        in_steps = in_steps.advanced(PANEL.before(rows), CONTEXT)
    in_steps = in_steps.advanced(PANEL, CONTEXT)
    assert at_once.learned.until_seconds == in_steps.learned.until_seconds
    np.testing.assert_allclose(at_once.learned.peak.regret, in_steps.learned.peak.regret)
    np.testing.assert_allclose(
        at_once.learned.calibration.log_factor, in_steps.learned.calibration.log_factor
    )


def test_forecast_of_an_old_fit_equals_that_of_an_advanced_one(fitted):
    """A forecast first learns what has closed, so when it was advanced does not matter."""
    origins = np.array([len(PANEL) - 40, len(PANEL) - 3])
    advanced = fitted.advanced(PANEL.before(len(PANEL) - 60), CONTEXT)
    np.testing.assert_allclose(
        fitted.predict(PANEL, origins, CONTEXT).peak,
        advanced.predict(PANEL, origins, CONTEXT).peak,
    )


def test_a_window_is_learned_only_when_closed(fitted):
    """Demand inside a window that is still open has no influence on what is learned."""
    until = FITTED_ROWS + 60
    changed = PANEL.demand_gpus.copy()
    changed[:, until:] += 500
    other = dataclasses.replace(PANEL, demand_gpus=changed)
    ours = fitted.advanced(PANEL.before(until), CONTEXT).learned
    theirs = fitted.advanced(other.before(until), CONTEXT).learned
    np.testing.assert_array_equal(ours.peak.regret, theirs.peak.regret)
    later = fitted.advanced(other.before(until + 12), CONTEXT).learned
    assert not np.array_equal(ours.peak.regret, later.peak.regret)


def test_going_on_keeps_what_was_learned_and_young_trees(fitted):
    """Six hours later profiles are renewed, the record goes on, and trees stay until a day old."""
    model = Combined().continued_from(fitted)
    soon = model.fit(PANEL.before(FITTED_ROWS + 72), CONTEXT)
    assert soon.own is fitted.own
    assert (soon.learned.peak.rounds > fitted.learned.peak.rounds).all()
    assert not np.array_equal(soon.profiles.quantiles, fitted.profiles.quantiles)
    tomorrow = model.fit(PANEL.before(FITTED_ROWS + 288), CONTEXT)
    assert tomorrow.own is not fitted.own


def test_warm_up_leaves_a_record():
    """A first fit has lived through its last days; without warm-up it is a novice."""
    novice = Combined(warm_up_days=()).fit(PANEL.before(FITTED_ROWS), CONTEXT)
    lived = Combined(warm_up_days=(1,)).fit(PANEL.before(FITTED_ROWS), CONTEXT)
    assert (novice.learned.peak.rounds == 0).all()
    assert (lived.learned.peak.rounds > 40).all()
    assert (novice.learned.calibration.log_factor == 0).all()
    assert (lived.learned.calibration.log_factor[..., 3:] != 0).any(axis=-1).all()


def test_trees_start_with_less_trust_on_a_pool_that_never_moves():
    """Where demand stood still, persistence has most of the prior; elsewhere trees have."""
    still = PANEL.demand_gpus.copy()
    still[0] = 64.0
    panel = dataclasses.replace(PANEL, demand_gpus=still, closing_gpus=still)
    prior = Combined(warm_up_days=()).fit(panel.before(FITTED_ROWS), CONTEXT).learned.peak.prior
    assert prior[0, :2].sum() > 0.9
    assert prior[1, :2].sum() < 0.4


def test_a_new_pool_is_silent_until_the_next_fit(fitted):
    """A pool the fit never saw gets no forecast, and the others are as they were."""
    renamed = dataclasses.replace(
        PANEL, pools=(PANEL.pools[0], dataclasses.replace(PANEL.pools[1], gpu_type="h100"))
    )
    origin = np.array([FITTED_ROWS + 30])
    said = fitted.predict(renamed, origin, CONTEXT).peak
    assert np.isnan(said[1]).all()
    assert np.isfinite(said[0]).all()


def test_pools_may_come_in_any_order(fitted):
    """A forecast belongs to its pool, wherever it stands in the panel."""
    turned = PANEL.select(PANEL.pools[::-1])
    origin = np.array([FITTED_ROWS + 30])
    np.testing.assert_allclose(
        fitted.predict(PANEL, origin, CONTEXT).peak,
        fitted.predict(turned, origin, CONTEXT).peak[::-1],
    )


def test_threads_change_no_forecast(fitted):
    """How many threads grow the trees makes no difference to what they say."""
    threaded = Combined(warm_up_days=(1,)).with_threads(2)
    assert (2, 2) == (threaded.quantiles.threads, threaded.hazard.threads)
    origin = np.array([FITTED_ROWS + 30])
    np.testing.assert_array_equal(
        threaded.fit(PANEL.before(FITTED_ROWS), CONTEXT).predict(PANEL, origin, CONTEXT).peak,
        fitted.predict(PANEL, origin, CONTEXT).peak,
    )


def test_another_models_fit_cannot_be_continued():
    """Going on from something else is refused in one line."""
    other = Persistence().fit(PANEL, CONTEXT)
    with pytest.raises(BadInput, match="can only go on from a combined model"):
        Combined().continued_from(other)


def test_little_history_is_persistence_alone():
    """After two hours only the simple members speak, and they are enough."""
    short = DemandPanel.of([*_first_rows(40)])
    said = Combined().fit(short, CONTEXT).predict(short, np.array([40]), CONTEXT)
    simple = Persistence().fit(short, CONTEXT).predict(short, np.array([40]), CONTEXT)
    assert np.isfinite(said.peak).all()
    assert np.abs(said.peak - simple.peak).max() < 40


def _first_rows(rows):
    from tests.fakes.demand import FRAGMENT, WHOLE, tidal_series

    for seed, pool in enumerate((WHOLE, FRAGMENT), 1):
        series = tidal_series(pool, days=1, seed=seed)
        yield series.between(series.start_seconds, series.start_seconds + rows * 300)
