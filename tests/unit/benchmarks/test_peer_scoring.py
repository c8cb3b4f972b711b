"""The comparison with peers: its replay, its two readings of a peak, its ratio."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from benchmarks.peers.peer import BOUNDS, INTERVALS, at_levels, filled, with_window_peak
from benchmarks.peers.replaying import Replay, sparse_replay
from benchmarks.peers.scoring import Course, compared, peak_from_own_errors
from features.calendar import CalendarSettings, ClusterCalendar
from features.errors import BadInput
from features.events import NoKnownEvents
from features.panel import DemandPanel
from models.backtest import replay
from models.forecast import QUANTILE_LEVELS, Horizon, QuantileArrays
from models.persistence import Persistence
from models.protocol import Context
from models.targets import targets_of
from tests.fakes.demand import FRAGMENT, WHOLE, tidal_series

HORIZON = Horizon.of(300)
CONTEXT = Context(HORIZON, ClusterCalendar(CalendarSettings()), NoKnownEvents())
PANEL = DemandPanel.of([tidal_series(WHOLE, 4), tidal_series(FRAGMENT, 4, seed=2)])
ORIGINS = np.arange(2 * 288, 4 * 288 - 5, 6)
AT_90 = QUANTILE_LEVELS.index(0.9)


def course() -> Course:
    """Two days every half hour, of which the second is scored."""
    came = targets_of(PANEL, ORIGINS, HORIZON).peak
    return Course(PANEL, HORIZON, ORIGINS, ORIGINS >= 3 * 288, came)


def saying(path_gpus: float | np.ndarray, peak_gpus: float | np.ndarray) -> Replay:
    """A replay that says the same at all levels."""
    blank = QuantileArrays.unavailable(len(PANEL.pools), len(ORIGINS), HORIZON)
    path, peak = np.zeros_like(blank.path), np.zeros_like(blank.peak)
    return Replay(QuantileArrays(path + path_gpus, peak + peak_gpus), 1.0, 2.0, 3)


def test_bounds_stand_for_their_levels() -> None:
    """Each level is an end of the interval that leaves out as much on either side."""
    assert ("lo-80", "lo-50", "mean", "hi-50", "hi-80", "hi-90", "hi-98") == BOUNDS
    assert [50, 80, 90, 98] == INTERVALS
    said = {bound: [place, place + 10.0] for place, bound in enumerate(BOUNDS)}
    np.testing.assert_array_equal([np.arange(7.0), np.arange(7.0) + 10], at_levels(said))


def test_gaps_are_filled_from_before() -> None:
    """Never from after, but for what lies before the first known row."""
    gaps = np.array([np.nan, 3.0, np.nan, np.nan, 5.0, np.nan])
    assert [3.0, 3.0, 3.0, 3.0, 5.0, 5.0] == list(filled(gaps))


def test_a_peak_is_the_highest_of_the_window_and_not_of_the_horizon() -> None:
    """Steps beyond the window do not count."""
    path = np.zeros((1, 1, HORIZON.steps, 7))
    path[0, 0, 2], path[0, 0, HORIZON.peak_steps] = 4.0, 9.0
    np.testing.assert_array_equal(np.full((1, 1, 7), 4.0), with_window_peak(path, HORIZON).peak)


@pytest.mark.parametrize("stride", [1, 6])
def test_a_sparse_replay_says_what_the_backtest_says(stride: int) -> None:
    """Asked less often, a model is refitted as often, and answers the same."""
    every = np.arange(2 * 288, 2 * 288 + 60)
    dense = replay(PANEL, Persistence(), CONTEXT, every)
    sparse = sparse_replay(PANEL, Persistence(), CONTEXT, every[::stride])
    np.testing.assert_array_equal(dense.path[:, ::stride], sparse.forecasts.path)
    np.testing.assert_array_equal(dense.peak[:, ::stride], sparse.forecasts.peak)
    assert 5 == sparse.fits


def test_a_model_that_goes_on_is_told_of_its_last_fit() -> None:
    """As in operation, each fit but the first takes up the one before."""

    @dataclass(frozen=True)
    class GoingOn(Persistence):
        told: list[object] = field(default_factory=list)

        def continued_from(self, previous: object) -> "GoingOn":
            self.told.append(previous)
            return self

    model = GoingOn()
    fits = sparse_replay(PANEL, model, CONTEXT, np.arange(2 * 288, 2 * 288 + 60, 6)).fits
    assert fits == len({id(one) for one in model.told})


def test_own_errors_are_those_of_windows_that_have_closed() -> None:
    """Against a loop over all earlier origins."""
    random = np.random.default_rng(4)
    shape = (len(PANEL.pools), len(ORIGINS), HORIZON.steps, 1)
    said = saying(np.repeat(40 + random.normal(size=shape), 7, -1), 0.0).forecasts
    it = course()
    got = peak_from_own_errors(said, it)
    point = said.path[:, :, :6, 3].max(axis=2)
    for now in (1, 40, len(ORIGINS) - 1):
        past = [i for i in range(now) if ORIGINS[i] + 6 <= ORIGINS[now]]
        errors = np.sort(it.came_gpus[1, past] - point[1, past])
        rank = min(len(past), int(np.ceil((len(past) + 1) * 0.9 - 1e-9))) - 1
        assert max(point[1, now] + errors[rank], 0) == pytest.approx(got[1, now, AT_90])
    assert np.isnan(got[:, 0]).all()


def test_the_ratio_is_the_mean_over_pools_against_the_better_reading() -> None:
    """A peer right by its errors is not judged by a peak it says badly."""
    it = course()
    missed = np.where(it.scored, np.array([[1.0], [4.0]]), 99.0)
    champion = saying(0.0, (it.came_gpus - missed)[..., None])
    low = saying(0.0, it.came_gpus[..., None] - 2.0)
    result = compared(champion, low, it, 0.9)
    assert 1.0 == pytest.approx(result.ratio)
    assert FRAGMENT == result.worst_pool
    assert 2.0 == pytest.approx(result.worst_ratio)
    assert (1.0, 1.0) == pytest.approx((result.low, result.high))
    assert (0, 2) == (result.from_errors, result.pools)


def test_a_path_that_is_wrong_by_habit_is_saved_by_its_own_errors() -> None:
    """10 or 12 GPUs too low in turn, it adds 12, and is 2 too high every other time."""
    it = course()
    low = 10.0 + 2.0 * (np.arange(len(ORIGINS)) % 2)
    path = np.repeat((it.came_gpus - low)[..., None, None], HORIZON.steps, axis=2)
    champion = saying(0.0, it.came_gpus[..., None] - 3.0)
    result = compared(champion, saying(path, 0.0), it, 0.9)
    assert (2, 2) == (result.from_errors, result.pools)
    assert 0.9 * 3 / (0.1 * 2 / 2) == pytest.approx(result.ratio, rel=0.05)


def test_a_peer_is_not_kept() -> None:
    """It says so in one line."""
    from benchmarks.peers.gocrane_fft import GocraneFFT

    with pytest.raises(BadInput, match="fit it again"):
        GocraneFFT().restore({})
