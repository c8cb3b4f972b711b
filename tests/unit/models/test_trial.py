"""The judged days: at the end, unseen, one window apart, and never most of the history."""

import dataclasses

import numpy as np
import pytest

from features.calendar import CalendarSettings, ClusterCalendar
from features.errors import BadInput
from features.events import NoKnownEvents
from models.forecast import Horizon, QuantileArrays
from models.persistence import Persistence
from models.protocol import Context
from models.trial import trial_of
from tests.fakes.demand import tidal_panel

CONTEXT = Context(Horizon.of(300), ClusterCalendar(CalendarSettings()), NoKnownEvents())
DAY = 86_400


@dataclasses.dataclass
class Spy:
    """A model that remembers what it was given to learn from."""

    seen: list = dataclasses.field(default_factory=list)
    name: str = "spy"
    refit_seconds: int = DAY

    def fit(self, panel, context):
        self.seen.append(panel)
        return self

    def predict(self, panel, origins, context):
        self.asked = origins
        return QuantileArrays.unavailable(len(panel.pools), len(origins), context.horizon)


def test_windows_of_the_last_days_do_not_overlap():
    """Six steps apart, the last of them closing where the history ends."""
    panel = tidal_panel(days=10)
    trial = trial_of(panel, CONTEXT, 3)
    assert {6} == set(np.diff(trial.origins))
    assert len(panel) - 6 == trial.origins[-1]
    assert 3 * DAY == trial.end_seconds - trial.start_seconds
    assert np.isfinite(trial.came.peak).all()


def test_two_thirds_are_left_to_learn_from():
    """However many days the user wants to judge on."""
    trial = trial_of(tidal_panel(days=6), CONTEXT, 30)
    assert 2 * DAY == trial.end_seconds - trial.start_seconds


def test_an_hour_or_two_are_no_trial():
    """What is too little is said."""
    with pytest.raises(BadInput, match=r"12\.0 h of history are too few"):
        trial_of(tidal_panel(days=1).before(144), CONTEXT, 7)


def test_who_is_judged_has_seen_nothing_of_the_days():
    """It learns from the rows before the first origin, and is asked at every origin."""
    trial, spy = trial_of(tidal_panel(days=10), CONTEXT, 3), Spy()
    trial.unseen(spy)
    (learned,) = spy.seen
    assert trial.start_seconds == learned.end_seconds
    np.testing.assert_array_equal(trial.origins, spy.asked)


def test_blocks_are_days_or_shorter_where_there_are_few():
    """Seven of them at least, numbered from zero without a gap."""
    panel = tidal_panel(days=40)
    assert list(range(10)) == np.unique(trial_of(panel, CONTEXT, 10).blocks(7)).tolist()
    assert {48} == set(np.bincount(trial_of(panel, CONTEXT, 10).blocks(7)))
    assert list(range(7)) == np.unique(trial_of(panel, CONTEXT, 2).blocks(7)).tolist()


def test_a_model_is_judged_on_what_users_would_get():
    """Every pool and origin of the trial has an answer."""
    trial = trial_of(tidal_panel(days=6), CONTEXT, 2)
    said = trial.unseen(Persistence())
    assert (2, len(trial.origins), 7) == said.peak.shape
    assert np.isfinite(said.peak).all()
