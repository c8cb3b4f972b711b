"""Hazard trees: a distribution that starts from the pool's own record and stays one."""

import numpy as np

from features.calendar import CalendarSettings, ClusterCalendar
from features.events import NoKnownEvents
from features.panel import DemandPanel
from features.series import DemandSeries
from models.forecast import QUANTILE_LEVELS, Horizon
from models.hazard import Hazard
from models.own_rises import rise_profiles
from models.protocol import Context
from models.tree_table import TreeTable
from models.trees import profiled_inputs
from tests.fakes.demand import MONDAY, WHOLE, tidal_panel

CONTEXT = Context(Horizon.of(300), ClusterCalendar(CalendarSettings()), NoKnownEvents())


def said(trees, panel, origins):
    profiles = rise_profiles(panel, CONTEXT.horizon)
    inputs = profiled_inputs(panel, np.array(origins), CONTEXT, profiles)
    return trees.peak_quantiles(inputs, profiles) - inputs.now_gpus[..., None], profiles


def test_quantiles_are_in_order_and_within_reach():
    """Quantiles rise with their level, from the smallest threshold to beyond the largest rise."""
    panel = tidal_panel(days=5)
    rises, profiles = said(Hazard().trees([panel], CONTEXT), panel, [1000, 1200, len(panel)])
    assert (np.diff(rises, axis=-1) >= 0).all()
    assert (rises >= profiles.thresholds[:, None, :1] - 1e-9).all()
    assert (rises <= profiles.thresholds[:, None, -1:] + 1e-9).all()


def test_without_trees_to_add_the_own_record_remains():
    """A booster of no rounds gives back the pool's own quantiles, within a threshold's width."""
    panel = tidal_panel(days=6)
    rises, profiles = said(Hazard(rounds=1).trees([panel], CONTEXT), panel, [len(panel)])
    for level in (0.9, 0.95):
        index = QUANTILE_LEVELS.index(level)
        own = profiles.quantiles[:, 0, :, index].mean(axis=-1)
        np.testing.assert_allclose(rises[:, 0, index], own, rtol=0.35)


def test_learns_when_rises_come():
    """Where demand jumps every two hours, the chance of a rise is seen to come and go."""
    demand = np.full(8 * 288, 100.0)
    for start in range(0, len(demand), 24):
        demand[start : start + 6] += 16
    panel = DemandPanel.of([DemandSeries(WHOLE, MONDAY, 300, demand)])
    trees = Hazard(rounds=80).trees([panel.before(7 * 288)], CONTEXT)
    before_jump, after_jump = 7 * 288 + 24 - 2, 7 * 288 + 24 + 8
    rises, _ = said(trees, panel, [before_jump, after_jump])
    upper = QUANTILE_LEVELS.index(0.75)
    assert rises[0, 0, upper] > 2 * rises[0, 1, upper] + 3


def test_too_little_history_learns_nothing():
    """Without enough closed windows there is no booster, and nothing is said."""
    panel = tidal_panel(days=1).before(100)
    trees = Hazard().trees([panel], CONTEXT)
    assert trees.booster is None
    rises, _ = said(trees, panel, [100])
    assert np.isnan(rises).all()


def test_wobbling_odds_are_those_of_the_rarest_threshold_so_far(monkeypatch):
    """A larger rise is never likelier than a smaller one, whatever the trees say."""
    panel = tidal_panel(days=3)
    trees = Hazard().trees([panel], CONTEXT)
    asked = []

    def wobbling(_table, inputs):
        scores = np.random.default_rng(1).normal(0, 3, (*inputs.shape[:-1], 1))
        asked.append(inputs[..., -4] + scores[..., 0])
        return scores

    monkeypatch.setattr(TreeTable, "raw_scores", wobbling)
    rises, profiles = said(trees, panel, range(500, 540))
    (odds,) = asked
    for level, quantile in zip(QUANTILE_LEVELS, np.moveaxis(rises, -1, 0), strict=True):
        rare = odds <= np.log((1 - level) / level)
        first = np.argmax(rare, axis=-1)
        highest = np.take_along_axis(profiles.thresholds, first, axis=-1)
        found = rare.any(axis=-1)
        assert found.any()
        assert (quantile <= highest + 1e-9)[found].all()
    assert (np.diff(rises, axis=-1) >= 0).all()
