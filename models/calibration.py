"""Calibration: what a pool's own errors, one after another, teach about each quantile.

Each quantile's rise is multiplied by a factor that moves up when the peak was higher than said and
down when it was lower, by the slope of the pinball loss (Gibbs and Candes, 'Adaptive conformal
inference', 2021, on the loss instead of the coverage). A tie moves nothing, since on many pools
most rises are exactly zero. A quantile between two blocks of GPUs is moved onto one of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from features.series import FloatArray, IntArray
from models.forecast import QUANTILE_LEVELS

STEP_PER_DAY = 0.576
"""What a day of windows that were all too high, or all too low, would move a factor by at most."""
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
class Calibration:
    """How each pool's quantiles are stretched.

    Attributes:
        log_factor: natural logarithm of the factor on the rise, shape (pools, levels); on pools
            whose rises may be negative, the shift in units of their swing.
    """

    log_factor: FloatArray

    @classmethod
    def blank(cls, pools: int) -> "Calibration":
        """Every factor is one."""
        return cls(np.zeros((pools, len(QUANTILE_LEVELS))))

    def applied(self, rise_gpus: FloatArray, habits: Habits) -> FloatArray:
        """Stretched rises, in the pool's blocks.

        Args:
            rise_gpus: shape (pools, origins, levels).
            habits: of the same pools.
        """
        factor = self.log_factor[:, None]
        stretched = rise_gpus * np.exp(factor)
        shifted = rise_gpus + factor * habits.swing_gpus[:, None, None]
        falls = habits.swing_gpus[:, None, None] > 0
        return snapped(np.where(falls, shifted, stretched), habits.blocks_gpus)

    def updated(
        self, said_rise_gpus: FloatArray, came_rise_gpus: FloatArray, rounds_per_day: float
    ) -> "Calibration":
        """The calibration after one more outcome; one that is not known changes nothing.

        Args:
            said_rise_gpus: what was published, shape (pools, levels).
            came_rise_gpus: what came, shape (pools,).
            rounds_per_day: how many outcomes a day has.
        """
        levels = np.array(QUANTILE_LEVELS)
        came = came_rise_gpus[:, None]
        slope = np.where(came > said_rise_gpus, levels, 0.0)
        slope = np.where(came < said_rise_gpus, levels - 1.0, slope)
        slope = np.where(levels >= CALIBRATED_FROM, slope, 0.0)
        moved = np.clip(self.log_factor + STEP_PER_DAY / rounds_per_day * slope, -LARGEST, LARGEST)
        return replace(self, log_factor=np.where(np.isfinite(came), moved, self.log_factor))

    def of_pools(self, rows: IntArray) -> "Calibration":
        """The calibration of some pools by position; -1 stands for a pool without one."""
        blank = np.zeros((1, self.log_factor.shape[1]))
        return Calibration(np.concatenate([self.log_factor, blank])[rows])

    def plain(self) -> dict[str, object]:
        """As JSON can hold it."""
        return {"log_factor": self.log_factor.tolist()}

    @classmethod
    def from_plain(cls, plain: Mapping[str, object]) -> "Calibration":
        """The inverse of `plain`."""
        return cls(np.array(plain["log_factor"], dtype=np.float64))


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
