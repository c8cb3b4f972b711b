"""The paths of forecasts as they were given, many at once and without all that came with them.

`forecasts` keeps them and knows what they mean; this only reads their numbers fast.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select

from features.pool import Pool
from features.series import IntArray
from forecaster.database.database import Database
from forecaster.database.tables import FORECASTS
from models.forecast import QUANTILE_LEVELS

_COLUMNS = FORECASTS.c
_PATH = np.dtype("<f4")

PathArray = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class ForecastPaths:
    """Forecasts of one pool that have steps of one length and reach equally far.

    Attributes:
        pool: whose demand.
        step_seconds: length of a step.
        origins_seconds: Unix time of each origin, ascending, shape (origins,).
        path_gpus: demand per step at `QUANTILE_LEVELS`, shape (origins, steps, levels); NaN where
            the answer was that it is not known.
    """

    pool: Pool
    step_seconds: int
    origins_seconds: IntArray
    path_gpus: PathArray

    @property
    def reach_seconds(self) -> int:
        """Unix time at which the last step of the newest forecast closes."""
        steps: int = self.path_gpus.shape[1]
        return int(self.origins_seconds[-1]) + steps * self.step_seconds


def forecast_paths(
    database: Database, since_seconds: int, until_seconds: int
) -> tuple[ForecastPaths, ...]:
    """The paths of all pools from origins in [since, until), the last made for each origin.

    A pool's paths stand in the order of time, in a new value wherever step or reach change.

    Raises:
        SourceUnavailable: the database does not answer.
    """
    wanted = (
        select(_COLUMNS.pool, _COLUMNS.origin_seconds, _COLUMNS.step_seconds, _COLUMNS.path_gpus)
        .where(_COLUMNS.origin_seconds >= since_seconds, _COLUMNS.origin_seconds < until_seconds)
        .order_by(_COLUMNS.origin_seconds, _COLUMNS.made_seconds, _COLUMNS.model_name)
    )
    by_pool: dict[str, dict[int, tuple[int, bytes | None]]] = {}
    with database.reading() as connection:
        for pool, origin, step_seconds, path in connection.execute(wanted):
            by_pool.setdefault(pool, {})[origin] = (step_seconds, path)
    return tuple(
        paths for pool, told in sorted(by_pool.items()) for paths in _runs(Pool.parse(pool), told)
    )


def _runs(pool: Pool, told: dict[int, tuple[int, bytes | None]]) -> Iterator[ForecastPaths]:
    """Forecasts of like form; one that says 'not known' has the form of the one before it."""
    form = next(((step, len(path)) for step, path in told.values() if path is not None), None)
    if form is None:
        return
    rows = []
    for origin, (step_seconds, path) in told.items():
        form = form if path is None else (step_seconds, len(path))
        rows.append((form, origin, path))
    for (step_seconds, length), some in groupby(rows, key=lambda row: row[0]):
        run = list(some)
        unknown = np.full(length // _PATH.itemsize, np.nan, dtype=_PATH).tobytes()
        packed = b"".join(unknown if path is None else path for _, _, path in run)
        yield ForecastPaths(
            pool,
            step_seconds,
            np.array([origin for _, origin, _ in run], dtype=np.int64),
            np.frombuffer(packed, dtype=_PATH).reshape(len(run), -1, len(QUANTILE_LEVELS)),
        )
