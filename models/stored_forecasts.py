"""What one pool was told, origin by origin, as it was stored at the time.

A value for scoring in operation. It holds what was said then and is never filled in or made again
later: a forecast that was not made stays missing.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from features.errors import BadInput
from features.pool import Pool
from features.series import BoolArray, FloatArray, IntArray
from models.forecast import QUANTILE_LEVELS, Horizon


@dataclass(frozen=True, eq=False)
class StoredForecasts:
    """Forecasts of one pool's peak, oldest first.

    Attributes:
        pool: whose demand.
        horizon: steps and window of every forecast.
        since_seconds: Unix time of the first origin that was due; nothing was due before.
        every_seconds: from then on a forecast was due this often.
        origins_seconds: Unix time of each origin, ascending, shape (origins,).
        peak_gpus: highest demand of the window at `QUANTILE_LEVELS`, shape (origins, levels); a
            row of NaN where the answer was that it is not known.
        models: name and version of the model that answered, one per origin.

    Raises:
        BadInput: at construction, when an invariant does not hold.
    """

    pool: Pool
    horizon: Horizon
    since_seconds: int
    every_seconds: int
    origins_seconds: IntArray
    peak_gpus: FloatArray
    models: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        count = len(self.origins_seconds)
        problems = {
            f"one is due every {self.every_seconds} s; give a positive time": self.every_seconds
            <= 0,
            f"peaks of shape {self.peak_gpus.shape} for {count} origins and "
            f"{len(QUANTILE_LEVELS)} levels": self.peak_gpus.shape != (count, len(QUANTILE_LEVELS)),
            f"{len(self.models)} models for {count} origins": len(self.models) != count,
            "origins are not in ascending order; keep one forecast per origin": bool(
                np.any(np.diff(self.origins_seconds) <= 0)
            ),
            f"an origin lies before {self.since_seconds}, when the first was due": bool(
                np.any(self.origins_seconds < self.since_seconds)
            ),
        }
        for problem, found in problems.items():
            if found:
                raise BadInput(f"{self.pool}: stored forecasts: {problem}")

    def __len__(self) -> int:
        return len(self.origins_seconds)

    @property
    def said(self) -> BoolArray:
        """True where the answer was a forecast; shape (origins,)."""
        return np.isfinite(self.peak_gpus).all(axis=-1)

    @property
    def model_names(self) -> tuple[str, ...]:
        """The models that answered, as `name version`, in the order of their first answer."""
        return tuple(dict.fromkeys(" ".join(model) for model in self.models))

    def closed_between(self, after_seconds: int, until_seconds: int) -> "StoredForecasts":
        """The forecasts whose peak window closed after one moment and by another."""
        closes = self.origins_seconds + self.horizon.peak_seconds
        return self._where((closes > after_seconds) & (closes <= until_seconds))

    def by_model(self, name: str) -> "StoredForecasts":
        """The forecasts of one model in all its versions; the others' become missing."""
        return self._where(np.array([model == name for model, _ in self.models], dtype=np.bool_))

    def due_between(self, after_seconds: int, until_seconds: int) -> int:
        """How many forecasts should have closed after one moment and by another."""
        first_close = self.since_seconds + self.horizon.peak_seconds

        def due_by(seconds: int) -> int:
            return max(0, (seconds - first_close) // self.every_seconds + 1)

        return due_by(until_seconds) - due_by(after_seconds)

    def _where(self, kept: BoolArray) -> "StoredForecasts":
        def chosen() -> Iterator[tuple[str, str]]:
            return (model for model, keep in zip(self.models, kept, strict=True) if keep)

        return replace(
            self,
            origins_seconds=self.origins_seconds[kept],
            peak_gpus=self.peak_gpus[kept],
            models=tuple(chosen()),
        )
