"""A pool's own past rises: what was known when, by plain loops."""

import json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from features.pool import Pool, Shape
from features.rises import closed_rises, quantiles_of_sorted
from models.forecast import QUANTILE_LEVELS, Horizon
from models.own_rises import (
    EVER,
    FORTNIGHT,
    RiseProfiles,
    SortedRises,
    quantiles_by_day,
    rise_profiles,
    rises_of_targets,
    sorted_rises,
)
from tests.fakes.demand import tidal_panel

HORIZON = Horizon.of(300)


@given(st.integers(0, 500))
@settings(max_examples=40)
def test_share_exceeded_equals_a_count(seed):
    """How often a threshold was exceeded is a count, a little smoothed."""
    random = np.random.default_rng(seed)
    rises = random.integers(0, 6, (2, 30)).astype(float)
    rises[random.random(rises.shape) < 0.3] = np.nan
    thresholds = random.integers(-1, 7, (2, 4)).astype(float)
    ordered = SortedRises((np.sort(rises, axis=-1),))
    got = ordered.exceeded(0, thresholds)
    for pool in range(2):
        known = rises[pool][~np.isnan(rises[pool])]
        for index, threshold in enumerate(thresholds[pool]):
            share = (np.sum(known > threshold) + 0.02) / (len(known) + 1)
            np.testing.assert_allclose(got[pool, index], np.clip(share, 2e-4, 0.9995))


def test_targets_are_the_peak_and_every_step():
    """The rise of step h stands at the row it ends with, above the close h rows before."""
    panel = tidal_panel(days=1)
    peak, *path = rises_of_targets(panel, HORIZON)
    assert HORIZON.steps == len(path)
    np.testing.assert_array_equal(
        peak, closed_rises(panel.demand_gpus, panel.closing_gpus, panel.capped, 6)
    )
    for ahead in (1, 7, 12):
        expected = panel.demand_gpus[1, 100] - panel.closing_gpus[1, 100 - ahead]
        assert expected == path[ahead - 1][1, 100]


def test_quantiles_by_day_are_those_of_last_midnight():
    """Origins of one day share what was known at its midnight, and no more."""
    panel = tidal_panel(days=4)
    rises, *_ = rises_of_targets(panel, HORIZON)
    tampered = rises.copy()
    tampered[:, 3 * 288 :] = 1e6
    origins = np.array([2 * 288, 3 * 288 + 1, 3 * 288 + 200])
    got = quantiles_by_day(tampered, origins, 300, (0.5, 0.9))
    for index, midnight in enumerate((2 * 288, 3 * 288, 3 * 288)):
        expected = sorted_rises(rises, midnight, 300).quantiles(EVER, (0.5, 0.9))
        np.testing.assert_array_equal(got[:, index, 1], expected)


def test_windows_reach_back_as_far_as_they_say():
    """The recent window holds three days, the fortnight fourteen, thinned to every third."""
    rises = np.arange(20 * 288.0)[None, :]
    recent, fortnight, ever = sorted_rises(rises, 20 * 288, 300).windows
    assert (3 * 288, 17 * 288) == (recent.shape[1], recent[0, 0])
    assert 14 * 288 // 3 == fortnight.shape[1]
    assert 20 * 288 // 3 == ever.shape[1]
    assert fortnight[0, -1] == 20 * 288 - 1


def test_profile_holds_quantiles_and_rising_thresholds():
    """Profiles are taken at the panel's end; thresholds rise and are exceeded less and less."""
    panel = tidal_panel(days=3)
    profiles = rise_profiles(panel, HORIZON)
    peak = np.sort(rises_of_targets(panel, HORIZON)[0][:, ::-1][:, ::3], axis=-1)
    np.testing.assert_array_equal(
        profiles.quantiles[:, 0, FORTNIGHT - 1], quantiles_of_sorted(peak, QUANTILE_LEVELS)
    )
    assert (np.diff(profiles.thresholds, axis=-1) >= 0).all()
    assert (np.diff(profiles.exceeded, axis=-1) <= 0).all()


def test_profiles_read_back_and_strangers_are_unknown():
    """Profiles survive JSON, and a pool that has none is NaN, not zero."""
    panel = tidal_panel(days=2)
    profiles = rise_profiles(panel, HORIZON)
    again = RiseProfiles.from_plain(json.loads(json.dumps(profiles.plain())))
    np.testing.assert_allclose(profiles.quantiles, again.quantiles)
    stranger = again.of_pools([Pool("h100", Shape.FRAGMENT), panel.pools[1]])
    assert np.isnan(stranger.quantiles[0]).all()
    np.testing.assert_allclose(stranger.thresholds[1], profiles.thresholds[1])
