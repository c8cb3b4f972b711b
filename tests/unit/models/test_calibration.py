"""Calibration moves quantiles by the slope of their own loss, and knows the atoms of demand."""

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.calibration import (
    LARGEST,
    QUARTERS,
    STEP_PER_DAY,
    Calibration,
    Habits,
    Outcome,
    granules,
    snapped,
)
from models.forecast import QUANTILE_LEVELS

FREE = Habits(np.zeros(1), np.zeros(1))
SAID = np.array([[0.0, 0, 0, 4, 8, 16, 32]])
PER_DAY = 48
NOON = np.array([2])


def after(calibration, came, said=SAID, quarter=2):
    return calibration.updated(Outcome(said, np.array([came]), quarter), FREE, PER_DAY)


def even(log_factor):
    """The same factor all day, of one pool."""
    blank = Calibration.blank(1)
    return dataclasses.replace(blank, log_factor=np.full_like(blank.log_factor, log_factor))


@pytest.mark.parametrize(
    ("came", "expected"),
    [
        (100.0, [0, 0, 0, 0.75, 0.9, 0.95, 0.99]),
        (0.0, [0, 0, 0, -0.25, -0.1, -0.05, -0.01]),
        (8.0, [0, 0, 0, 0.75, 0, -0.05, -0.01]),
        (np.nan, [0] * 7),
    ],
)
def test_one_outcome_moves_each_quantile_by_its_slope(came, expected):
    """Above: up by the level. Below: down by the rest. A tie or an unknown outcome: not at all.

    The quarter of the day takes larger steps than the whole, and the others take none.
    """
    moved = after(Calibration.blank(1), came).log_factor[0]
    np.testing.assert_allclose(moved[[0, 3]], np.outer(STEP_PER_DAY / PER_DAY, expected))
    assert (moved[[1, 2, 4]] == 0).all()


def test_coverage_is_brought_back_after_a_lasting_change():
    """When rises become three times larger, coverage at 0.9 returns, first fast and then near."""
    random = np.random.default_rng(1)
    level = QUANTILE_LEVELS.index(0.9)
    calibration, covered = Calibration.blank(1), []
    said = np.full((1, 7), 2.3)  # the 0.9 quantile of an exponential of scale one
    for window in range(2400):
        came = random.exponential(3.0 if window >= 800 else 1.0, 1)
        quarter = window % PER_DAY * QUARTERS // PER_DAY
        published = calibration.applied(said[:, None], FREE, np.array([quarter]))[:, 0]
        covered.append(came[0] <= published[0, level])
        calibration = after(calibration, came[0], said, quarter)
    assert np.mean(covered[:800]) == pytest.approx(0.9, abs=0.03)
    assert np.mean(covered[800:900]) < 0.75
    assert np.mean(covered[-800:]) == pytest.approx(0.9, abs=0.03)


@pytest.mark.parametrize(("busy", "trusted"), [(6.0, "quarters"), (1.0, "the whole day")])
def test_quarters_count_where_they_differ(busy, trusted):
    """One busy quarter makes the factors of quarters win; on equal quarters they are but noise."""
    random = np.random.default_rng(1)
    level = QUANTILE_LEVELS.index(0.9)
    calibration, said = Calibration.blank(1), np.full((1, 7), 2.3)
    covered = np.zeros((40, PER_DAY))
    for day, window in np.ndindex(covered.shape):
        quarter = window * QUARTERS // PER_DAY
        came = random.exponential(busy if quarter == 1 else 1.0)
        published = calibration.applied(said[:, None], FREE, np.array([quarter]))
        covered[day, window] = came <= published[0, 0, level]
        calibration = after(calibration, came, said, quarter)
    whole_day, quarters = calibration.record.regret[0, :, level]
    assert (trusted == "quarters") == (quarters < whole_day)
    by_quarter = covered[20:].reshape(20, QUARTERS, -1).mean(axis=(0, 2))
    np.testing.assert_allclose(by_quarter, 0.9, atol=0.06)


@given(st.lists(st.sampled_from([0.0, 1e9]), max_size=300))
def test_factors_stay_within_bounds(outcomes):
    """No run of bad luck makes a factor absurd."""
    calibration = Calibration.blank(1)
    for came in outcomes:
        calibration = after(calibration, came)
    assert (np.abs(calibration.log_factor) <= LARGEST).all()


def test_pools_that_fall_are_shifted_and_not_stretched():
    """Stretching a quantile below the level now would move it the wrong way."""
    falling = Habits.of(np.array([[-4.0, 4.0, np.nan, 4.0]]))
    assert (4.0, 0.0) == (falling.swing_gpus[0], falling.blocks_gpus[0])
    moved = even(0.5).applied(np.full((1, 1, 7), -3.0), falling, NOON)
    np.testing.assert_array_equal(moved, np.full((1, 1, 7), -1.0))


def test_stretched_rises_lie_on_blocks():
    """A rise of 8 that is stretched by half again is 16 on a pool of blocks of 8."""
    blocks = Habits.of(np.array([[0.0, 8.0, 16.0]]))
    stretched = even(np.log(1.6)).applied(np.full((1, 1, 7), 8.0), blocks, NOON)
    np.testing.assert_array_equal(stretched, np.full((1, 1, 7), 16.0))


@pytest.mark.parametrize(
    ("rises", "expected"),
    [
        ([0, 8, 16, 24, 0, np.nan], 8),
        ([16, 32], 16),
        ([8, 16, 24, 32, 40, 1], 8),
        ([1, 2, 3], 1),
        ([0.5, 0.25], 0),
        ([0, 0], 0),
        ([np.nan], 0),
    ],
)
def test_granule_is_the_largest_block_of_most_rises(rises, expected):
    """Four in five rises must be multiples of it; rises of zero say nothing."""
    np.testing.assert_array_equal(granules(np.array([rises], dtype=float)), [expected])


def test_snapped_rounds_to_blocks_where_there_are_any():
    """Eleven of blocks of eight is eight; without blocks it stays eleven."""
    rise = np.full((2, 1, 1), 11.0)
    np.testing.assert_array_equal(snapped(rise, np.array([8.0, 0.0]))[:, 0, 0], [8, 11])


def test_calibration_reads_back():
    """What is saved and read back stretches the same, and a new pool is not stretched."""
    pair, three = (Habits(np.zeros(pools), np.zeros(pools)) for pools in (2, 3))
    made = Calibration.blank(2)
    for came in (100.0, 3.0):
        outcome = Outcome(np.tile(SAID, (2, 1)), np.array([0.0, came]), 2)
        made = made.updated(outcome, pair, PER_DAY)
    again = Calibration.from_plain(json.loads(json.dumps(made.plain())))
    stretched = again.of_pools(np.array([1, 0, -1])).applied(np.full((3, 1, 7), 8.0), three, NOON)
    expected = made.applied(np.full((2, 1, 7), 8.0), pair, NOON)
    np.testing.assert_array_equal(stretched, [expected[1], expected[0], np.full((1, 7), 8.0)])
    assert (stretched[0] != stretched[1]).any()
