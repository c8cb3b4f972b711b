"""What one pool was told, origin by origin, as it was stored at the time.

A value for scoring in operation. It holds what was said then and is never filled in or made again
later: a forecast that was not made stays missing.
"""

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
        levels, origins = len(QUANTILE_LEVELS), self.origins_seconds
        checks = (
            (self.every_seconds > 0, f"due every {self.every_seconds} s; give a positive time"),
            (
                self.peak_gpus.shape == (count, levels),
                f"peaks of shape {self.peak_gpus.shape} for {count} origins and {levels} levels",
            ),
            (len(self.models) == count, f"{len(self.models)} models for {count} origins"),
            (
                bool(np.all(np.diff(origins) > 0)),
                "origins do not ascend; sort them and keep one forecast per origin",
            ),
            (
                bool(np.all(origins >= self.since_seconds)),
                f"an origin lies before {self.since_seconds}, when the first was due",
            ),
        )
        for holds, problem in checks:
            if not holds:
                raise BadInput(f"stored forecasts of {self.pool}: {problem}")

    def __len__(self) -> int:
        return len(self.origins_seconds)

    @property
    def model_names(self) -> tuple[str, ...]:
        """The models that answered, as `name version`, in the order of their first answer."""
        return tuple(" ".join(model) for model in dict.fromkeys(self.models))

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
        return replace(
            self,
            origins_seconds=self.origins_seconds[kept],
            peak_gpus=self.peak_gpus[kept],
            models=tuple(self.models[row] for row in np.flatnonzero(kept)),
        )
