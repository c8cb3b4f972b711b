"""What the combination publishes, and what one closed window teaches it."""

import numpy as np
import pytest

from models.calibration import Habits
from models.forecast import QUANTILE_LEVELS
from models.learned import Learned
from models.members import PATH_MEMBERS, PEAK_MEMBERS, Members

LEVELS = np.arange(7.0)
BLOCKS_OF_EIGHT = Habits(np.array([8.0]), np.zeros(1))
NO_BLOCKS = Habits(np.zeros(1), np.zeros(1))


def members(peak_rise=None, path_rise=None):
    """One pool, one origin at 100 GPUs; every member says the same but where given."""
    peak = np.tile(4.0 * LEVELS, (1, 1, len(PEAK_MEMBERS), 1))
    path = np.tile(3.0 * LEVELS, (1, 1, 2, len(PATH_MEMBERS), 1))
    for member, rise in (peak_rise or {}).items():
        peak[:, :, PEAK_MEMBERS.index(member)] = rise
    for member, rise in (path_rise or {}).items():
        path[:, :, :, PATH_MEMBERS.index(member)] = rise
    return Members(np.array([10]), np.array([[100.0]]), peak, path, np.array([2]))


def test_members_that_agree_are_what_is_published():
    """The level now plus what all say, in any pool without blocks."""
    said = Learned.blank(1, 0).published(members(), NO_BLOCKS)
    np.testing.assert_allclose(said.peak[0, 0], 100 + 4 * LEVELS)
    np.testing.assert_allclose(said.path[0, 0, 1], 100 + 3 * LEVELS)


def test_peak_and_path_lie_on_the_pools_blocks():
    """Where demand comes in eights, so does what is said of it, falls included."""
    falling = dict.fromkeys(PATH_MEMBERS, 3.0 * LEVELS - 9)
    said = Learned.blank(1, 0).published(members(path_rise=falling), BLOCKS_OF_EIGHT)
    assert (np.mod(said.peak - 100, 8) == 0).all()
    assert (np.mod(said.path - 100, 8) == 0).all()
    assert said.path[0, 0, 0, 0] == 92


def test_a_closed_window_moves_weights_to_who_was_right():
    """The member that said what came gains on the others, on the peak alone."""
    right = members(peak_rise={"hazard": np.full(7, 40.0)})
    learned = Learned.blank(1, 0)
    for _ in range(20):
        learned = learned.after_peak(right, np.array([140.0]), NO_BLOCKS, 48)
    assert learned.peak.regret[0, PEAK_MEMBERS.index("hazard"), 4] < 0
    assert (learned.peak.regret[0, 0, 4] > 0).all()
    assert (learned.path.rounds == 0).all()
    published = learned.published(right, NO_BLOCKS).peak[0, 0, QUANTILE_LEVELS.index(0.9)]
    assert published > Learned.blank(1, 0).published(right, NO_BLOCKS).peak[0, 0, 4] + 5


@pytest.mark.parametrize("came", [np.nan])
def test_an_unknown_window_teaches_nothing(came):
    """Neither weights nor calibration move without an outcome."""
    learned = Learned.blank(1, 0)
    after = learned.after_peak(members(), np.array([came]), NO_BLOCKS, 48)
    after = after.after_path(members(), np.full((1, 2), came), 48)
    np.testing.assert_array_equal(after.peak.regret, learned.peak.regret)
    np.testing.assert_array_equal(after.path.rounds, learned.path.rounds)
    np.testing.assert_array_equal(after.calibration.log_factor, learned.calibration.log_factor)


def test_learned_reads_back():
    """What is saved and read back publishes the same."""
    right = members(peak_rise={"hazard": np.full(7, 40.0)})
    learned = Learned.blank(1, 0).after_peak(right, np.array([140.0]), NO_BLOCKS, 48)
    again = Learned.from_plain(learned.plain())
    np.testing.assert_array_equal(
        learned.published(right, NO_BLOCKS).peak, again.published(right, NO_BLOCKS).peak
    )
