"""How sure a score is: intervals from resampling whole days.

Forecasts of neighbouring origins are judged by nearly the same demand, so single forecasts say
nothing of their own; days are the smallest pieces that may be drawn (a block bootstrap, after
Kuensch, 1989). Nothing here changes a score.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from features.baselines import DAY_SECONDS
from features.series import BoolArray, FloatArray, IntArray
from models.backtest import YARDSTICKS, BacktestResult
from models.forecast import QUANTILE_LEVELS, QuantileArrays
from models.scores import pinball_loss

DRAWS = 1_000


@dataclass(frozen=True)
class Interval:
    """A figure and the interval that nine in ten resamplings fall into.

    Attributes:
        value: the figure on all days.
        low: 5 % of resamplings lie below.
        high: 5 % of resamplings lie above.
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


def ratio_intervals(
    result: BacktestResult, model: str, pools: Sequence[int] | None = None, seed: int = 1
) -> dict[float, Interval]:
    """Geometric mean over pools of the peak's pinball ratio to the yardstick, per level.

    Args:
        result: of a backtest.
        model: its name.
        pools: positions of the pools that count; all if None.
        seed: of the resampling.

    Returns:
        By quantile level.
    """
    chosen = list(range(len(result.panel.pools))) if pools is None else list(pools)
    days = result.panel.seconds_at(result.origins) // DAY_SECONDS
    said = result.forecasts[model]
    # where the model was silent nobody is judged: no loss there is not a loss of zero
    judged = np.isfinite(said.peak[..., :1]) & np.isfinite(result.actual_peak)[..., None]
    own = _per_day(said, result, days, judged)[chosen]
    simple = [
        _per_day(result.forecasts[one.name], result, days, judged)[chosen] for one in YARDSTICKS
    ]
    random = np.random.default_rng(seed)
    count = own.shape[1]
    draws = random.integers(0, count, (DRAWS, count))
    on_all_days = _ratios(own, simple, np.arange(count)[None])[0]
    drawn = _ratios(own, simple, draws)
    low, high = np.quantile(drawn, [0.05, 0.95], axis=0)
    return {
        level: Interval(float(on_all_days[i]), float(low[i]), float(high[i]))
        for i, level in enumerate(QUANTILE_LEVELS)
    }


def _per_day(
    said: QuantileArrays, result: BacktestResult, days: IntArray, judged: BoolArray
) -> FloatArray:
    """Sum of the losses that are judged, per pool, day and level."""
    loss = np.where(judged, pinball_loss(said.peak, result.actual_peak), 0.0)
    first = np.flatnonzero(np.diff(days, prepend=days[0] - 1))
    sums: FloatArray = np.add.reduceat(loss, first, axis=1)
    return sums


def _ratios(own: FloatArray, simple: list[FloatArray], draws: IntArray) -> FloatArray:
    """Geometric mean of the ratios for each drawing of days, shape (draws, levels)."""
    lost = own[:, draws].sum(axis=2)
    best = np.minimum.reduce([one[:, draws].sum(axis=2) for one in simple])
    # a pool that lost nothing at a level has no ratio there, and takes no part
    logs = np.log(
        np.where((lost > 0) & (best > 0), lost, np.nan) / np.where(best > 0, best, np.nan)
    )
    count = np.isfinite(logs).sum(axis=0)
    mean = np.nansum(logs, axis=0) / np.maximum(count, 1)
    ratios: FloatArray = np.where(count > 0, np.exp(mean), np.nan)
    return ratios
