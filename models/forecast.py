"""What a forecast is: quantiles of demand per future step and of the peak of the window.

A forecast never crosses its own quantiles, is never negative, and says what it knew. Where nothing
is known there is no forecast but an `Unavailable` with its reason.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from features.errors import BadInput
from features.pool import Pool
from features.series import FloatArray

QUANTILE_LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)


@dataclass(frozen=True)
class Horizon:
    """How far a forecast reaches, in steps of the series.

    Attributes:
        step_seconds: spacing of the series.
        steps: steps of the path.
        peak_steps: steps of the window whose peak is forecast.
    """

    step_seconds: int
    steps: int
    peak_steps: int

    @classmethod
    def of(
        cls, step_seconds: int, horizon_seconds: int = 3600, peak_seconds: int = 1800
    ) -> "Horizon":
        """Whole steps that cover the horizon and the window; at least one step each.

        Raises:
            BadInput: the peak window is longer than the horizon.
        """
        if peak_seconds > horizon_seconds:
            raise BadInput(
                f"a peak window of {peak_seconds} s is longer than the horizon of "
                f"{horizon_seconds} s; shorten it or lengthen the horizon"
            )
        return cls(
            step_seconds=step_seconds,
            steps=max(1, -(-horizon_seconds // step_seconds)),
            peak_steps=max(1, -(-peak_seconds // step_seconds)),
        )

    @property
    def peak_seconds(self) -> int:
        """Length of the peak window as it is on this grid."""
        return self.peak_steps * self.step_seconds


@dataclass(frozen=True, eq=False)
class QuantileArrays:
    """Forecasts of several pools from several origins, in GPUs; NaN where there is none.

    Attributes:
        path: demand per future step, shape (pools, origins, steps, levels).
        peak: highest demand in the window, shape (pools, origins, levels).
    """

    path: FloatArray
    peak: FloatArray

    @classmethod
    def unavailable(cls, pools: int, origins: int, horizon: Horizon) -> "QuantileArrays":
        """Arrays of the right shape in which nothing is known."""
        levels = len(QUANTILE_LEVELS)
        return cls(
            path=np.full((pools, origins, horizon.steps, levels), np.nan),
            peak=np.full((pools, origins, levels), np.nan),
        )

    def made_valid(self) -> "QuantileArrays":
        """The same forecasts with quantiles in order and none below zero.

        Sorting a set of quantiles never raises its pinball loss (Chernozhukov, Fernandez-Val and
        Galichon, 2010, 'Quantile and probability curves without crossing').
        """
        return QuantileArrays(
            path=np.maximum(np.sort(self.path, axis=-1), 0.0),
            peak=np.maximum(np.sort(self.peak, axis=-1), 0.0),
        )


@dataclass(frozen=True)
class Knowledge:
    """What a forecast knew when it was made.

    Attributes:
        history_seconds: span of the pool's history up to the origin.
        observed_share: share of that history's steps that were observed, 0 to 1.
        last_observed_seconds: Unix time at which the newest observed step closed.
        notes: what a reader should know before trusting it, one line each.
    """

    history_seconds: int
    observed_share: float
    last_observed_seconds: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Forecast:
    """One pool's forecast from one origin.

    Attributes:
        pool: whose demand.
        origin: the last observed instant it used, UTC.
        horizon: steps and window.
        levels: the quantile levels, ascending.
        now_gpus: demand at the origin.
        path_gpus: demand per future step, shape (steps, levels).
        peak_gpus: highest demand of the window, shape (levels,).
        model_name: which model made it.
        model_version: which version of that model.
        knowledge: what it knew.
        explanation: additive parts of the median peak in GPUs, by name.
        sentence: the same in plain words.
    """

    pool: Pool
    origin: datetime
    horizon: Horizon
    levels: tuple[float, ...]
    now_gpus: float
    path_gpus: FloatArray
    peak_gpus: FloatArray
    model_name: str
    model_version: str
    knowledge: Knowledge
    explanation: Mapping[str, float]
    sentence: str = ""

    def __post_init__(self) -> None:
        for name, values in (("path", self.path_gpus), ("peak", self.peak_gpus)):
            if not np.all(np.isfinite(values)) or np.any(values < 0):
                raise ValueError(f"{self.pool}: a {name} that is negative or not finite")
            if np.any(np.diff(values, axis=-1) < 0):
                raise ValueError(f"{self.pool}: quantiles of the {name} cross")

    def peak_at(self, level: float) -> float:
        """The peak's quantile at one of the levels, in GPUs.

        Raises:
            KeyError: the level is not one of the forecast's.
        """
        if level not in self.levels:
            raise KeyError(f"no quantile {level}; there are {self.levels}")
        return float(self.peak_gpus[self.levels.index(level)])
