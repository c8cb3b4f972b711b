"""How good forecasts were: pinball loss, coverage, weighted quantile loss, and the yardstick.

Pure arithmetic on what was said and what came. An instant whose outcome is not wholly known is
left out; it is never scored as zero.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from features.pool import Pool
from features.series import BoolArray, FloatArray
from features.trailing import known_ratio
from models.forecast import QUANTILE_LEVELS, QuantileArrays
from models.targets import Targets

MEDIAN = QUANTILE_LEVELS.index(0.5)


@dataclass(frozen=True)
class PoolScore:
    """How one model did on one pool; losses in GPUs, by quantile level where mapped.

    Attributes:
        pool: the pool.
        model: the model's name.
        origins: how many forecasts of the peak were scored.
        pinball: mean pinball loss of the peak.
        coverage: share of peaks at or below the quantile.
        coverage_below: share of peaks strictly below it; many rises are exactly zero.
        pinball_ratio: pinball loss over that of the yardstick; NaN where that is zero or missing.
        wql: weighted quantile loss of the path, over all steps and levels.
        wql_ratio: the same over the yardstick's.
        mae_gpus: mean absolute error of the path's median.
    """

    pool: Pool
    model: str
    origins: int
    pinball: Mapping[float, float]
    coverage: Mapping[float, float]
    coverage_below: Mapping[float, float]
    pinball_ratio: Mapping[float, float]
    wql: float
    wql_ratio: float
    mae_gpus: float


@dataclass(frozen=True, eq=False)
class Losses:
    """Mean losses of one model, before they are set against the yardstick's.

    Attributes:
        peak_pinball: shape (pools, levels).
        path_pinball: shape (pools, levels), mean over steps.
        path_absolute_error: of the median, shape (pools,).
    """

    peak_pinball: FloatArray
    path_pinball: FloatArray
    path_absolute_error: FloatArray


def pinball_loss(quantiles: FloatArray, came: FloatArray) -> FloatArray:
    """Pinball loss of each quantile (Koenker and Bassett, 1978).

    Args:
        quantiles: shape (..., levels), at `QUANTILE_LEVELS`.
        came: what came, shape (...).

    Returns:
        GPUs, shape (..., levels); NaN where either is not known.
    """
    levels = np.array(QUANTILE_LEVELS)
    missed = came[..., None] - quantiles
    return np.maximum(levels * missed, (levels - 1.0) * missed)


def losses(forecasts: QuantileArrays, came: Targets, where: BoolArray) -> Losses:
    """Mean losses of one model's forecasts over some origins; `where` is (pools, origins)."""
    peak = pinball_loss(forecasts.peak, came.peak)
    path = pinball_loss(forecasts.path, came.path)
    error = np.abs(forecasts.path[..., MEDIAN] - came.path)
    return Losses(
        peak_pinball=_known_mean(np.where(where[..., None], peak, np.nan), (1,)),
        path_pinball=_known_mean(np.where(where[..., None, None], path, np.nan), (1, 2)),
        path_absolute_error=_known_mean(np.where(where[..., None], error, np.nan), (1, 2)),
    )


def best_of(candidates: list[Losses]) -> Losses:
    """The better of several models per pool and level: the yardstick that all are held to."""
    return Losses(
        peak_pinball=np.fmin.reduce([one.peak_pinball for one in candidates]),
        path_pinball=np.fmin.reduce([one.path_pinball for one in candidates]),
        path_absolute_error=np.fmin.reduce([one.path_absolute_error for one in candidates]),
    )


def pool_scores(
    model: str,
    pools: tuple[Pool, ...],
    forecasts: QuantileArrays,
    came: Targets,
    yardsticks: Sequence[QuantileArrays],
) -> list[PoolScore]:
    """Score one model on each pool.

    Args:
        model: its name.
        pools: in the order of the arrays' first axis.
        forecasts: what it said.
        came: what came.
        yardsticks: simple models; the better of them, per pool and level, counts as one. They
            are judged on the origins that this model forecast, and on no others.
    """
    said = np.isfinite(forecasts.peak[..., 0])
    own = losses(forecasts, came, said)
    yardstick = best_of([losses(one, came, said) for one in yardsticks])
    scored = said & np.isfinite(came.peak)
    at_or_below = _share(came.peak[..., None] <= forecasts.peak, scored)
    below = _share(came.peak[..., None] < forecasts.peak, scored)
    ratio = known_ratio(own.peak_pinball, yardstick.peak_pinball)
    # weighted by the demand that came: comparable between pools of any size (Gneiting and Ranjan)
    weight = _known_mean(came.path, (1, 2))
    wql = 2 * known_ratio(own.path_pinball.mean(axis=-1), weight)
    wql_ratio = known_ratio(own.path_pinball.mean(axis=-1), yardstick.path_pinball.mean(axis=-1))
    return [
        PoolScore(
            pool=pool,
            model=model,
            origins=int(scored[index].sum()),
            pinball=_by_level(own.peak_pinball[index]),
            coverage=_by_level(at_or_below[index]),
            coverage_below=_by_level(below[index]),
            pinball_ratio=_by_level(ratio[index]),
            wql=float(wql[index]),
            wql_ratio=float(wql_ratio[index]),
            mae_gpus=float(own.path_absolute_error[index]),
        )
        for index, pool in enumerate(pools)
    ]


def _known_mean(values: FloatArray, axes: tuple[int, ...]) -> FloatArray:
    known = np.isfinite(values)
    return known_ratio(
        np.where(known, values, 0.0).sum(axis=axes), known.sum(axis=axes).astype(np.float64)
    )


def _share(hits: BoolArray, scored: BoolArray) -> FloatArray:
    counted = np.where(scored[..., None], hits, 0.0).sum(axis=1)
    return known_ratio(counted, np.broadcast_to(scored.sum(axis=1)[:, None], counted.shape))


def _by_level(values: FloatArray) -> dict[float, float]:
    return {level: float(value) for level, value in zip(QUANTILE_LEVELS, values, strict=True)}
