"""From an expected change to quantiles: any point model plus its own past errors.

At 30 minutes the level now is the best single fact, so these models forecast the change from it,
and take their spread from how wrong they were. The spread is never assumed, and never taken from
errors whose window was still open.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from features.errors import BadInput
from features.panel import DemandPanel
from features.pool import Pool
from features.rises import quantiles_of_sorted
from features.series import FloatArray, IntArray
from models.forecast import QUANTILE_LEVELS, QuantileArrays
from models.protocol import Context
from models.targets import closed_origins, now_gpus, targets_of

ERROR_DAYS = 14
ERRORS_FILE = "error_quantiles.json"


class FittedChange(Protocol):
    """A point model of the change from now."""

    def expected_change(
        self, panel: DemandPanel, origins: IntArray, context: Context
    ) -> FloatArray:
        """Change from now until each future step; GPUs, shape (pools, origins, steps)."""
        ...

    def artifact(self) -> Mapping[str, bytes]:
        """The learned state as plain files."""
        ...


@dataclass(frozen=True, eq=False)
class ErrorQuantiles:
    """Quantiles of one pool's past errors, in GPUs.

    Attributes:
        path: per future step, shape (steps, levels).
        peak: of the window's peak, shape (levels,).
    """

    path: FloatArray
    peak: FloatArray


@dataclass(frozen=True, eq=False)
class ChangeWithErrors:
    """A fitted change model with the error quantiles of each pool it knows."""

    change: FittedChange
    errors: Mapping[Pool, ErrorQuantiles]

    def predict(self, panel: DemandPanel, origins: IntArray, context: Context) -> QuantileArrays:
        """Level now + expected change + quantiles of past errors."""
        horizon = context.horizon
        expected = _expected(self.change, panel, origins, context)
        blank = QuantileArrays.unavailable(len(panel.pools), len(origins), horizon)
        for index, pool in enumerate(panel.pools):
            if pool in self.errors:
                errors = self.errors[pool]
                blank.path[index] = expected.path[index, :, :, None] + errors.path
                blank.peak[index] = expected.peak[index, :, None] + errors.peak
        return blank.made_valid()

    def artifact(self) -> Mapping[str, bytes]:
        """The change model's files and the error quantiles as JSON."""
        return {**self.change.artifact(), ERRORS_FILE: _errors_to_json(self.errors)}


def with_errors(
    change: FittedChange, panel: DemandPanel, context: Context, days: float = ERROR_DAYS
) -> ChangeWithErrors:
    """Measure how wrong a change model was on each pool over the last days.

    Args:
        change: the fitted point model.
        panel: history that ends where fitting ended.
        context: horizon, calendar and events.
        days: how far back errors are taken from.
    """
    origins = closed_origins(panel, context.horizon, days)
    if not len(origins):
        return ChangeWithErrors(change, {})
    expected = _expected(change, panel, origins, context)
    came = targets_of(panel, origins, context.horizon)
    path = np.sort(came.path - expected.path, axis=1)
    peak = np.sort(came.peak - expected.peak, axis=1)
    path_quantiles = quantiles_of_sorted(np.swapaxes(path, 1, 2), QUANTILE_LEVELS)
    peak_quantiles = quantiles_of_sorted(peak, QUANTILE_LEVELS)
    known = {
        pool: ErrorQuantiles(path_quantiles[index], peak_quantiles[index])
        for index, pool in enumerate(panel.pools)
        if np.all(np.isfinite(path_quantiles[index])) and np.all(np.isfinite(peak_quantiles[index]))
    }
    return ChangeWithErrors(change, known)


@dataclass(frozen=True, eq=False)
class _Expected:
    path: FloatArray
    peak: FloatArray


def _expected(
    change: FittedChange, panel: DemandPanel, origins: IntArray, context: Context
) -> _Expected:
    now = now_gpus(panel, origins)
    path = now[..., None] + change.expected_change(panel, origins, context)
    return _Expected(path=path, peak=path[..., : context.horizon.peak_steps].max(axis=-1))


def _errors_to_json(errors: Mapping[Pool, ErrorQuantiles]) -> bytes:
    plain = {
        str(pool): {"path": one.path.tolist(), "peak": one.peak.tolist()}
        for pool, one in errors.items()
    }
    return json.dumps(plain, sort_keys=True).encode()


def restored_errors(artifact: Mapping[str, bytes]) -> dict[Pool, ErrorQuantiles]:
    """The inverse of what `ChangeWithErrors.artifact` writes.

    Raises:
        BadInput: the file is missing or has another shape.
    """
    try:
        plain = json.loads(artifact[ERRORS_FILE])
        return {
            Pool.parse(name): ErrorQuantiles(np.array(one["path"]), np.array(one["peak"]))
            for name, one in plain.items()
        }
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(
            f"the model's {ERRORS_FILE} cannot be read ({error}); train the model again"
        ) from error
