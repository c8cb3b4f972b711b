"""What the peers share: how they are given history, and how their intervals become quantiles."""

from collections.abc import Mapping, Sequence

import numpy as np

from features.errors import BadInput
from features.series import FloatArray
from models.forecast import QUANTILE_LEVELS, Horizon, QuantileArrays
from models.protocol import FittedModel


def _bound(level: float) -> str:
    """What the libraries call a quantile: `hi-80` is the upper end of the 80 % interval."""
    width = round(abs(2 * level - 1) * 100)
    return f"{'hi' if level > 0.5 else 'lo'}-{width}" if width else "mean"


BOUNDS = tuple(_bound(level) for level in QUANTILE_LEVELS)
"""By quantile level, the bound of an interval that stands for it; `mean` for the median."""

INTERVALS = sorted({int(bound[3:]) for bound in BOUNDS if bound != "mean"})
"""Widths of the intervals to ask for, in percent."""


class NotKept:
    """A peer lives as long as the benchmark: nothing is saved, nothing restored."""

    def artifact(self) -> Mapping[str, bytes]:
        """No files."""
        return {}

    def restore(self, artifact: Mapping[str, bytes]) -> FittedModel:
        """Refused.

        Raises:
            BadInput: always.
        """
        raise BadInput("a peer of the benchmark is not kept; fit it again")


def filled(demand_gpus: FloatArray) -> FloatArray:
    """Demand without gaps, as the libraries want it: each row as the last known one before it.

    Rows before the first known one are as that one.

    Args:
        demand_gpus: of one pool, shape (rows,), with at least one known row.
    """
    known = np.flatnonzero(np.isfinite(demand_gpus))
    last = np.searchsorted(known, np.arange(len(demand_gpus)), side="right") - 1
    return demand_gpus[known[np.maximum(last, 0)]]


def with_window_peak(path: FloatArray, horizon: Horizon) -> QuantileArrays:
    """Per-step quantiles, and as the peak's the highest in the window of those at its level.

    Args:
        path: shape (pools, origins, steps, levels).
        horizon: steps and window.
    """
    peak = path[:, :, : horizon.peak_steps].max(axis=2)
    return QuantileArrays(path=path, peak=peak).made_valid()


def at_levels(intervals: Mapping[str, Sequence[float] | FloatArray]) -> FloatArray:
    """A library's mean and interval bounds, by name, as quantiles; shape (steps, levels)."""
    return np.stack([np.asarray(intervals[bound], dtype=np.float64) for bound in BOUNDS], axis=-1)
