"""Members side by side, and the trust each starts with."""

import numpy as np
import pytest

from features.calendar import CalendarSettings, ClusterCalendar
from features.events import NoKnownEvents
from models.forecast import Horizon
from models.members import (
    PATH_MEMBERS,
    PEAK_MEMBERS,
    Roster,
    members_of,
    path_prior,
    peak_prior,
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


@pytest.mark.parametrize(
    ("prior", "names"), [(peak_prior, PEAK_MEMBERS), (path_prior, PATH_MEMBERS)]
)
def test_trust_in_the_pretrained_goes_to_the_others(prior, names):
    """Priors are shares; with no trust in the pre-trained they have none, and nobody else loses."""
    full, none = prior(1.0), prior(0.0)
    travelled = np.array([name.startswith("pretrained") for name in names])
    np.testing.assert_allclose([full.sum(), none.sum()], 1.0)
    assert (none[travelled] == 0).all()
    assert (none[~travelled] > full[~travelled]).all()
