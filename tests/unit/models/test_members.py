"""Members side by side, and the trust each starts with."""

import dataclasses

import numpy as np
import pytest

from features.calendar import CalendarSettings, ClusterCalendar
from features.events import NoKnownEvents
from models.forecast import Horizon
from models.members import (
    PATH_MEMBERS,
    PEAK_MEMBERS,
    SELDOM,
    Roster,
    Trust,
    members_of,
    path_prior,
    peak_prior,
    trust_in_trees,
)
from models.own_rises import rise_profiles
from models.pretrained import TreePair
from models.protocol import Context
from models.shipped import shipped_trees
from tests.fakes.demand import tidal_panel

CONTEXT = Context(Horizon.of(300), ClusterCalendar(CalendarSettings()), NoKnownEvents())
PANEL = tidal_panel(days=3)


def asked(pretrained):
    roster = Roster(TreePair(), pretrained, rise_profiles(PANEL, CONTEXT.horizon))
    return members_of(roster, PANEL, np.array([700, len(PANEL)]), CONTEXT)


def test_persistence_is_the_profile_and_silent_members_are_unknown():
    """Simple members say the pool's own quantiles; trees that do not exist say nothing."""
    members = asked(TreePair())
    profile = rise_profiles(PANEL, CONTEXT.horizon).quantiles
    np.testing.assert_array_equal(members.peak[:, 1, :2], profile[:, 0])
    np.testing.assert_array_equal(members.path[:, 0, :, :2], profile[:, 1:])
    assert np.isnan(members.peak[:, :, 2:]).all()
    assert np.isnan(members.path[:, :, :, 2:]).all()


def test_pretrained_trees_take_their_own_places():
    """The pre-trained pair fills the last two members of the peak and the last of the path."""
    members = asked(shipped_trees())
    assert np.isfinite(members.peak[:, :, 4:]).all()
    assert np.isnan(members.peak[:, :, 2:4]).all()
    assert np.isfinite(members.path[:, :, :, 3]).all()


def test_at_picks_origins():
    """Some of the origins are the same as having asked for them alone."""
    members = asked(shipped_trees())
    last = members.at(np.array([len(PANEL)]))
    np.testing.assert_array_equal(last.peak[:, 0], members.peak[:, 1])
    assert (2, 1) == last.now_gpus.shape
    np.testing.assert_array_equal(last.quarters, members.quarters[1:])


def test_quarters_are_those_of_the_clusters_own_day():
    """In Shanghai, eight hours ahead, the last quarter of a day in UTC is already the first."""
    calendar = ClusterCalendar(CalendarSettings(time_zone="Asia/Shanghai"))
    context = dataclasses.replace(CONTEXT, calendar=calendar)
    roster = Roster(TreePair(), TreePair(), rise_profiles(PANEL, CONTEXT.horizon))
    midnight = (-PANEL.start_seconds // 300) % 288
    origins = midnight + np.array([0, 71, 72, 191, 192])
    assert [0, 0, 1, 2, 2] == members_of(roster, PANEL, origins, CONTEXT).quarters.tolist()
    assert [1, 2, 2, 3, 0] == members_of(roster, PANEL, origins, context).quarters.tolist()


@pytest.mark.parametrize(
    ("prior", "names"), [(peak_prior, PEAK_MEMBERS), (path_prior, PATH_MEMBERS)]
)
def test_trust_in_the_pretrained_goes_to_the_others(prior, names):
    """Priors are shares; with no trust in the pre-trained they have none, and nobody else loses."""
    full, none = prior(Trust(1.0, np.ones(1)))[0], prior(Trust(0.0, np.ones(1)))[0]
    travelled = np.array([name.startswith("pretrained") for name in names])
    np.testing.assert_allclose([full.sum(), none.sum()], 1.0)
    assert (none[travelled] == 0).all()
    assert (none[~travelled] > full[~travelled]).all()


@pytest.mark.parametrize(
    ("prior", "names"), [(peak_prior, PEAK_MEMBERS), (path_prior, PATH_MEMBERS)]
)
def test_trust_that_trees_lose_goes_to_persistence(prior, names):
    """Each pool's priors are shares; without trust in trees persistence has all of them."""
    full, half, none = prior(Trust(1.0, np.array([1.0, 0.5, 0.0])))
    simple = np.array([name.startswith("persistence") for name in names])
    np.testing.assert_allclose([full.sum(), half.sum(), none.sum()], 1.0)
    np.testing.assert_allclose(half, (full + none) / 2)
    assert (none[~simple] == 0).all()
    assert (none[simple] == 0.5).all()


def test_trees_are_believed_where_demand_moves():
    """Half where it seldom moves, nearly wholly where it always does, and nowhere not at all."""
    rises = np.full((4, 9999), np.nan)
    rises[0] = 8.0
    rises[1] = np.where(np.arange(9999) < SELDOM * 10_000 - 1, -8.0, 0.0)
    rises[2] = 0.0
    trust = trust_in_trees(rises)
    np.testing.assert_allclose(trust, [1 / (1 + SELDOM), 0.5, 1 / (1 + SELDOM * 1e4), trust[0]])
