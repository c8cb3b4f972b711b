"""Calibration: what a pool's own errors, one after another, teach about each quantile.

Each quantile's rise is multiplied by a factor that moves up when the peak was higher than said and
down when it was lower, by the slope of the pinball loss (Gibbs and Candes, 'Adaptive conformal
inference', 2021, on the loss instead of the coverage). A tie moves nothing, since on many pools
most rises are exactly zero. A quantile between two blocks of GPUs is moved onto one of them.

There is a factor of the whole day and one of each quarter of it, which are weighed by what either
has lost (after Gibbs and Candes, 'Conformal inference for online prediction with arbitrary
distribution shifts', 2022), so that quarters count where they differ and not where they are noise.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from features.series import FloatArray, IntArray
from models.combination import Record, combined
from models.forecast import QUANTILE_LEVELS
from models.scores import pinball_loss

QUARTERS = 4
STEP_PER_DAY = 0.576 * np.array([1, QUARTERS])
"""What a day of windows that were all too low would move a factor by, of the day and of a quarter.

A quarter sees a quarter of the windows, so it takes larger steps to get as far in a day."""
EVEN_TRUST = np.array([0.5, 0.5])
CALIBRATED_FROM = 0.75
LARGEST = 1.5
GRANULES_GPUS = (16.0, 8.0, 4.0, 2.0, 1.0)
GRANULE_SHARE = 0.8
WHOLE_WITHIN = 1e-6


@dataclass(frozen=True, eq=False)
class Habits:
    """How demand moves on each pool, as far as calibration must know it.

    Attributes:
        blocks_gpus: the block that rises come in, shape (pools,); 0 where there is none.
        swing_gpus: mean size of a move on pools whose window may lie wholly below the level
            before it, shape (pools,); 0 on pools where it never did.
    """

    blocks_gpus: FloatArray
    swing_gpus: FloatArray

    @classmethod
    def of(cls, rises_gpus: FloatArray) -> "Habits":
        """The habits that past rises show, shape (pools, rises), NaN where not known."""
        falls = (rises_gpus < 0).any(axis=-1)
        known = np.isfinite(rises_gpus)
        size = np.where(known, np.abs(rises_gpus), 0.0).sum(axis=-1)
        mean = size / np.maximum(known.sum(axis=-1), 1)
        return cls(
            blocks_gpus=np.where(falls, 0.0, granules(rises_gpus)),
            swing_gpus=np.where(falls, mean, 0.0),
        )

    def of_pools(self, rows: IntArray) -> "Habits":
        """Those of some pools by position; -1 stands for a pool that is new."""
        return Habits(np.append(self.blocks_gpus, 0.0)[rows], np.append(self.swing_gpus, 0.0)[rows])

    def plain(self) -> dict[str, object]:
        """As JSON can hold it."""
        return {"blocks_gpus": self.blocks_gpus.tolist(), "swing_gpus": self.swing_gpus.tolist()}

    @classmethod
    def from_plain(cls, plain: Mapping[str, object]) -> "Habits":
        """The inverse of `plain`."""
        names = ("blocks_gpus", "swing_gpus")
        return cls(*(np.array(plain[name], dtype=np.float64) for name in names))


@dataclass(frozen=True, eq=False)
class Outcome:
    """A window that has closed.

    Attributes:
        said_gpus: the rise that was said before calibration, shape (pools, levels).
        came_gpus: the rise that came, shape (pools,); NaN where it is not known.
        quarter: the quarter of the day that the window began in.
    """

    said_gpus: FloatArray
    came_gpus: FloatArray
    quarter: int


@dataclass(frozen=True, eq=False)
class Calibration:
    """How each pool's quantiles are stretched.

    Attributes:
        log_factor: natural logarithm of the factor on the rise, of the whole day and after it of
            each quarter, shape (pools, 1 + QUARTERS, levels); on pools whose rises may be
            negative, the shift in units of their swing.
        record: what either kind of factor has lost.
    """

    log_factor: FloatArray
    record: Record

    @classmethod
    def blank(cls, pools: int) -> "Calibration":
        """Every factor is one."""
        levels = len(QUANTILE_LEVELS)
        return cls(np.zeros((pools, 1 + QUARTERS, levels)), Record.blank(pools, levels, EVEN_TRUST))

    def applied(self, rise_gpus: FloatArray, habits: Habits, quarters: IntArray) -> FloatArray:
        """Stretched rises, in the pool's blocks.

        Args:
            rise_gpus: shape (pools, origins, levels).
            habits: of the same pools.
            quarters: of the day, shape (origins,).
        """
        both = np.stack([np.zeros_like(quarters), 1 + quarters], axis=-1)
        factor = combined(self.log_factor[:, both], self._weights()[:, None])
        return _stretched(rise_gpus, factor, habits)

    def updated(self, outcome: Outcome, habits: Habits, rounds_per_day: float) -> "Calibration":
        """The calibration after one more outcome; one that is not known changes nothing.

        Args:
            outcome: of the same pools.
            habits: of the same pools.
            rounds_per_day: how many outcomes a day has.
        """
        both = [0, 1 + outcome.quarter]
        factor, came = self.log_factor[:, both], outcome.came_gpus[:, None]
        said = _stretched(outcome.said_gpus[:, None], factor, habits)
        moved = factor + STEP_PER_DAY[:, None] / rounds_per_day * _slope(said, came[..., None])
        log_factor = self.log_factor.copy()
        log_factor[:, both] = np.clip(moved, -LARGEST, LARGEST)
        weights = self._weights()
        losses = pinball_loss(said, came)
        mean_loss = (weights * losses).sum(axis=1)
        return Calibration(
            log_factor, self.record.updated(losses, mean_loss, weights, rounds_per_day)
        )

    def _weights(self) -> FloatArray:
        return self.record.weights(np.ones(self.record.prior.shape, dtype=np.bool_))

    def of_pools(self, rows: IntArray) -> "Calibration":
        """The calibration of some pools by position; -1 stands for a pool without one."""
        blank = np.zeros((1, *self.log_factor.shape[1:]))
        return Calibration(
            np.concatenate([self.log_factor, blank])[rows], self.record.of_pools(rows)
        )

    def plain(self) -> dict[str, object]:
        """As JSON can hold it."""
        return {"log_factor": self.log_factor.tolist(), "record": self.record.plain()}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "Calibration":
        """The inverse of `plain`."""
        return cls(
            np.array(plain["log_factor"], dtype=np.float64), Record.from_plain(plain["record"])
        )


def _stretched(rise_gpus: FloatArray, log_factor: FloatArray, habits: Habits) -> FloatArray:
    """Rises times their factor, or shifted by it, in the pool's blocks; (pools, ..., levels)."""
    swing = habits.swing_gpus[:, None, None]
    stretched = rise_gpus * np.exp(log_factor)
    shifted = rise_gpus + log_factor * swing
    return snapped(np.where(swing > 0, shifted, stretched), habits.blocks_gpus)


def _slope(said_gpus: FloatArray, came_gpus: FloatArray) -> FloatArray:
    """Which way each calibrated quantile should have been, and how much its loss minds."""
    levels = np.array(QUANTILE_LEVELS)
    slope = np.where(came_gpus > said_gpus, levels, 0.0)
    slope = np.where(came_gpus < said_gpus, levels - 1.0, slope)
    return np.where(levels >= CALIBRATED_FROM, slope, 0.0)


def granules(rises_gpus: FloatArray) -> FloatArray:
    """The largest block of GPUs that most of a pool's rises are multiples of.

    Args:
        rises_gpus: past rises, shape (pools, rises); NaN where not known.

    Returns:
        GPUs, shape (pools,); 0 where demand comes in no blocks.
    """
    rose = rises_gpus > 0
    count = rose.sum(axis=-1)
    found = np.zeros(len(rises_gpus))
    for granule in GRANULES_GPUS:
        blocks = rises_gpus / granule
        fits = (rose & (np.abs(blocks - np.round(blocks)) < WHOLE_WITHIN)).sum(axis=-1)
        enough = (count > 0) & (fits >= GRANULE_SHARE * count)
        found = np.where((found == 0) & enough, granule, found)
    return found


def snapped(rise_gpus: FloatArray, granule_gpus: FloatArray) -> FloatArray:
    """Rises rounded to the pool's block: between two blocks lies no demand.

    Args:
        rise_gpus: shape (pools, ...).
        granule_gpus: shape (pools,); 0 leaves a pool's rises as they are.
    """
    granule = granule_gpus.reshape(-1, *(1,) * (rise_gpus.ndim - 1))
    block = np.where(granule > 0, granule, 1.0)
    return np.where(granule > 0, np.round(rise_gpus / block) * block, rise_gpus)
