"""What forecasts are fitted to and judged by: the demand that came after an origin.

These functions look into the future of an origin, which is why they stand apart: only fitting on
closed windows and scoring may call them, never a prediction.
"""

from dataclasses import dataclass

import numpy as np

from features.panel import DemandPanel
from features.rises import future_peak
from features.series import FloatArray, IntArray
from features.trailing import value_before
from models.forecast import Horizon


@dataclass(frozen=True, eq=False)
class Targets:
    """What came after some origins, in GPUs; NaN where it is not wholly known.

    Attributes:
        path: demand of each future step, shape (pools, origins, steps).
        peak: highest demand of the window, shape (pools, origins).
    """

    path: FloatArray
    peak: FloatArray


def targets_of(panel: DemandPanel, origins: IntArray, horizon: Horizon) -> Targets:
    """What came after each origin, as far as the panel reaches.

    A step whose demand was capped counts as unknown: there was at least as much as was seen.
    """
    seen = np.where(panel.capped, np.nan, panel.demand_gpus)
    rows = origins[:, None] + np.arange(horizon.steps)
    inside = rows < len(panel)
    path = np.where(inside, seen[:, np.where(inside, rows, 0)], np.nan)
    return Targets(path=path, peak=future_peak(seen, horizon.peak_steps)[:, origins])


def closed_origins(
    panel: DemandPanel, horizon: Horizon, days: float, every_rows: int = 1
) -> IntArray:
    """Origins of the last days whose whole horizon has closed within the panel; ascending."""
    stop = len(panel) - horizon.steps + 1
    first = max(1, stop - int(days * 86_400 / panel.step_seconds))
    return np.arange(stop - 1, first - 1, -every_rows, dtype=np.int64)[::-1]


def now_gpus(panel: DemandPanel, origins: IntArray) -> FloatArray:
    """Demand at each origin: the close of the row before it; shape (pools, origins)."""
    return value_before(panel.closing_gpus, origins)
