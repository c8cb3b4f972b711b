"""Who is ahead: pinball loss of the champion over that of a peer, in the reading that suits it.

A peer without a joint distribution of the steps has no quantile of the window's peak. Two readings
are taken: the highest in the window of its per-step quantiles, and the highest of its median path
with the quantiles of its own past errors at that. The better of both counts, pool by pool, chosen
in hindsight; a choice that the champion does not get.
"""

from dataclasses import dataclass

import numpy as np

from benchmarks.peers.replaying import Replay
from features.baselines import DAY_SECONDS
from features.panel import DemandPanel
from features.pool import Pool
from features.rises import trailing_quantiles
from features.series import BoolArray, FloatArray, IntArray
from features.trailing import known_ratio
from models.change import ERROR_DAYS
from models.forecast import QUANTILE_LEVELS, Horizon, QuantileArrays
from models.scores import MEDIAN, pinball_loss

RESAMPLES = 2_000
INTERVAL = (0.025, 0.975)


@dataclass(frozen=True, eq=False)
class Course:
    """What is replayed, and what came of it.

    Attributes:
        panel: the history.
        horizon: steps and window.
        origins: indices into the panel's rows, ascending.
        scored: whether an origin counts, or only fills the record of past errors; (origins,).
        came_gpus: highest demand of each window, shape (pools, origins).
    """

    panel: DemandPanel
    horizon: Horizon
    origins: IntArray
    scored: BoolArray
    came_gpus: FloatArray

    @property
    def day(self) -> IntArray:
        """Of each origin the day it lies in, from the first that is scored; negative before it."""
        first = self.origins[self.scored][0]
        days: IntArray = (self.origins - first) * self.panel.step_seconds // DAY_SECONDS
        return days


@dataclass(frozen=True)
class Comparison:
    """The champion beside one peer, at one level.

    Attributes:
        ratio: geometric mean over pools of loss over the peer's; below 1 the champion is ahead.
        low: lower end of the ratio's 95 % interval, over resampled days.
        high: upper end of it.
        worst_ratio: of the pool where the peer does best.
        worst_pool: that pool.
        from_errors: pools whose peer was taken with its past errors.
        pools: how many pools were compared.
    """

    ratio: float
    low: float
    high: float
    worst_ratio: float
    worst_pool: Pool
    from_errors: int
    pools: int


def peak_from_own_errors(said: QuantileArrays, course: Course) -> FloatArray:
    """Highest of the median path in the window, plus the quantiles of its own past errors.

    Only errors whose window had closed at an origin count, of the last days.

    Returns:
        GPUs, shape (pools, origins, levels).
    """
    point = said.path[:, :, : course.horizon.peak_steps, MEDIAN].max(axis=2)
    closed_by = course.origins - course.horizon.peak_steps
    closed = np.searchsorted(course.origins, closed_by, side="right")
    stride = int(np.diff(course.origins).min()) * course.panel.step_seconds
    errors = trailing_quantiles(
        course.came_gpus - point, closed, ERROR_DAYS * DAY_SECONDS // stride, QUANTILE_LEVELS
    )
    peak: FloatArray = np.maximum(point[..., None] + errors, 0.0)
    return peak


def compared(champion: Replay, peer: Replay, course: Course, level: float) -> Comparison:
    """Set the champion beside a peer on the origins that both forecast.

    Args:
        champion: ours.
        peer: another.
        course: what came.
        level: one of `QUANTILE_LEVELS`.
    """
    at = QUANTILE_LEVELS.index(level)
    own = pinball_loss(champion.forecasts.peak, course.came_gpus)[..., at]
    readings = (peer.forecasts.peak, peak_from_own_errors(peer.forecasts, course))
    theirs = [pinball_loss(one, course.came_gpus)[..., at] for one in readings]
    counted = np.isfinite(own + sum(theirs))
    own_days = _by_day(own, counted, course.day)
    peer_days = [_by_day(one, counted, course.day) for one in theirs]
    total = np.stack([one.sum(axis=1) for one in peer_days])
    chosen = total.argmin(axis=0)
    best_days = np.where(chosen[:, None] == 0, *peer_days)
    ratio = known_ratio(own_days.sum(axis=1), best_days.sum(axis=1))
    low, high = _interval(own_days, best_days)
    worst = int(np.nanargmax(ratio))
    return Comparison(
        ratio=geometric_mean(ratio),
        low=low,
        high=high,
        worst_ratio=float(ratio[worst]),
        worst_pool=course.panel.pools[worst],
        from_errors=int((chosen == 1).sum()),
        pools=int(np.isfinite(ratio).sum()),
    )


def geometric_mean(ratios: FloatArray) -> float:
    """Of those that are known."""
    return float(np.exp(np.nanmean(np.log(ratios))))


def _by_day(loss: FloatArray, counted: BoolArray, day: IntArray) -> FloatArray:
    """Loss summed by day, from the first that is scored; shape (pools, days)."""
    kept = np.where(counted, loss, 0.0)
    return np.stack([kept[:, day == one].sum(axis=1) for one in range(day.max() + 1)], axis=1)


def _interval(own_days: FloatArray, peer_days: FloatArray) -> tuple[float, float]:
    """Bootstrap over days, the same days for both and for all pools."""
    days = own_days.shape[1]
    drawn = np.random.default_rng(0).integers(days, size=(RESAMPLES, days))
    ratios = known_ratio(own_days[:, drawn].sum(axis=-1), peer_days[:, drawn].sum(axis=-1))
    means = np.exp(np.nanmean(np.log(ratios), axis=0))
    low, high = np.quantile(means, INTERVAL)
    return float(low), float(high)
