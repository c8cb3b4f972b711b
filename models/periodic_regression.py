"""Periodic regression: a ridge regression of the change from now on the tide and recent slopes.

Fourier terms of the day and the week, the change the seasonal baselines expect, recent slopes and
the calendar; one regression per pool with one output per future step. It must never model the
level itself: at 30 minutes the level now is known, and the change is all there is to say.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from features.baselines import BASELINE_DAYS, DAILY, DAY_SECONDS, WEEKLY, seasonal_change
from features.errors import BadInput
from features.panel import DemandPanel
from features.pipeline import feature_table
from features.pool import Pool
from features.series import FloatArray, IntArray
from models.change import ChangeWithErrors, restored_errors, with_errors
from models.protocol import Context
from models.targets import closed_origins, now_gpus, targets_of

COEFFICIENTS_FILE = "coefficients.json"
DAY_HARMONICS = 4
WEEK_HARMONICS = 3
MINIMUM_DAYS = 3.0
SLOPES = ("change_", "above_mean_", "mean_rise_", "pending_", "submitted_", "same_time_rise_")
FLAGS = ("is_working_day", "is_holiday", "is_before_holiday", "is_after_holiday")


@dataclass(frozen=True, eq=False)
class PoolRegression:
    """One pool's regression on standardised inputs.

    Attributes:
        centre: mean of each input while fitting, shape (inputs,).
        spread: standard deviation of each input while fitting, shape (inputs,).
        coefficients: GPUs per spread, shape (steps, inputs).
        intercept: GPUs, shape (steps,).
    """

    centre: FloatArray
    spread: FloatArray
    coefficients: FloatArray
    intercept: FloatArray


@dataclass(frozen=True, eq=False)
class FittedRegression:
    """The regressions of all pools that had enough history."""

    pools: Mapping[Pool, PoolRegression]

    def expected_change(
        self, panel: DemandPanel, origins: IntArray, context: Context
    ) -> FloatArray:
        """Change from now until each future step; GPUs, NaN for pools it does not know."""
        inputs = regression_inputs(panel, origins, context)
        out = np.full((len(panel.pools), len(origins), context.horizon.steps), np.nan)
        for index, pool in enumerate(panel.pools):
            if pool in self.pools:
                one = self.pools[pool]
                # beyond what fitting saw, a straight line is a guess: stay within it
                scaled = np.clip(_standardised(inputs[index], one), -6.0, 6.0)
                out[index] = scaled @ one.coefficients.T + one.intercept
        return out

    def artifact(self) -> Mapping[str, bytes]:
        """Coefficients as JSON."""
        plain = {
            str(pool): {
                "centre": one.centre.tolist(),
                "spread": one.spread.tolist(),
                "coefficients": one.coefficients.tolist(),
                "intercept": one.intercept.tolist(),
            }
            for pool, one in self.pools.items()
        }
        return {COEFFICIENTS_FILE: json.dumps(plain, sort_keys=True).encode()}


@dataclass(frozen=True)
class PeriodicRegression:
    """Settings of the periodic regression.

    Attributes:
        penalty: ridge penalty per 1000 rows, on standardised inputs.
        rows_apart: distance of the origins that are fitted to.
        name: what users call it by.
        refit_seconds: how old a fit may become.
    """

    penalty: float = 50.0
    rows_apart: int = 3
    name: str = "periodic-regression"
    refit_seconds: int = DAY_SECONDS

    def fit(self, panel: DemandPanel, context: Context) -> ChangeWithErrors:
        """Fit one regression per pool on its last 30 days."""
        fitted = FittedRegression(self._regressions(panel, context))
        return with_errors(fitted, panel, context)

    def _regressions(self, panel: DemandPanel, context: Context) -> dict[Pool, PoolRegression]:
        origins = closed_origins(panel, context.horizon, BASELINE_DAYS, self.rows_apart)
        if not len(origins):
            return {}
        inputs = regression_inputs(panel, origins, context)
        change = targets_of(panel, origins, context.horizon).path
        change = change - now_gpus(panel, origins)[..., None]
        needed = MINIMUM_DAYS * DAY_SECONDS / panel.step_seconds / self.rows_apart
        pools = {}
        for index, pool in enumerate(panel.pools):
            known = np.all(np.isfinite(change[index]), axis=-1)
            if known.sum() >= needed:
                pools[pool] = self._regression(inputs[index, known], change[index, known])
        return pools

    def _regression(self, inputs: FloatArray, change: FloatArray) -> PoolRegression:
        from sklearn.linear_model import Ridge

        seen = np.ma.masked_invalid(inputs)
        blank = PoolRegression(
            centre=np.ma.filled(seen.mean(axis=0), 0.0),
            spread=np.ma.filled(np.ma.masked_less_equal(seen.std(axis=0), 1e-9), 1.0),
            coefficients=np.empty((0, 0)),
            intercept=np.empty(0),
        )
        ridge = Ridge(alpha=self.penalty * len(inputs) / 1000)
        ridge.fit(_standardised(inputs, blank), change)
        return replace(
            blank,
            coefficients=np.atleast_2d(ridge.coef_),
            intercept=np.atleast_1d(ridge.intercept_),
        )

    def restore(self, artifact: Mapping[str, bytes]) -> ChangeWithErrors:
        """Read back what was saved.

        Raises:
            BadInput: the files are not a periodic regression's.
        """
        try:
            plain = json.loads(artifact[COEFFICIENTS_FILE])
            pools = {
                Pool.parse(name): PoolRegression(
                    **{part: np.array(values) for part, values in one.items()}
                )
                for name, one in plain.items()
            }
        except (KeyError, TypeError, ValueError) as error:
            raise BadInput(
                f"the model's {COEFFICIENTS_FILE} cannot be read ({error}); train the model again"
            ) from error
        return ChangeWithErrors(FittedRegression(pools), restored_errors(artifact))


def regression_inputs(panel: DemandPanel, origins: IntArray, context: Context) -> FloatArray:
    """Inputs of the regression, shape (pools, origins, inputs); NaN where not known."""
    horizon = context.horizon
    table = feature_table(
        panel,
        origins,
        context.calendar,
        context.events,
        peak_steps=horizon.peak_steps,
        horizon_steps=horizon.steps,
    )
    chosen = tuple(name for name in table.names if name.startswith(SLOPES) or name in FLAGS)
    ahead = np.unique(np.linspace(1, horizon.steps, 4).astype(np.int64))
    seasonal = [
        seasonal_change(panel, origins, ahead, season, context.calendar)
        for season in (DAILY, WEEKLY)
    ]
    waves = _fourier_terms(panel, origins, context)
    waves = np.broadcast_to(waves, (len(panel.pools), *waves.shape))
    return np.concatenate([table.columns(chosen), *seasonal, waves], axis=-1)


def _fourier_terms(panel: DemandPanel, origins: IntArray, context: Context) -> FloatArray:
    """Sines and cosines of the local day and week; shape (origins, terms)."""
    seconds = panel.seconds_at(origins)
    day = context.calendar.local_seconds_of_day(seconds) / DAY_SECONDS
    week = (context.calendar.day_of_week(seconds) + day) / 7
    turns = [day * k for k in range(1, DAY_HARMONICS + 1)]
    turns += [week * k for k in range(1, WEEK_HARMONICS + 1)]
    angles = 2 * np.pi * np.stack(turns, axis=-1)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)


def _standardised(inputs: FloatArray, one: PoolRegression) -> FloatArray:
    """Inputs in spreads from their centre; one that is not known counts as its usual value."""
    scaled: FloatArray = np.nan_to_num((inputs - one.centre) / one.spread, nan=0.0)
    return scaled
