"""mlforecast with LightGBM: one model of all pools on scaled differences, conformal intervals.

Between refits the new observations are appended (`update`), without growing trees anew.
"""

import copy
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.peers.peer import BOUNDS, INTERVALS, NotKept, at_levels, filled, with_window_peak
from features.baselines import DAY_SECONDS
from features.panel import DemandPanel
from features.pool import Pool
from features.series import FloatArray, IntArray
from models.forecast import QuantileArrays
from models.protocol import Context

if TYPE_CHECKING:
    import pandas as pd

LAST_ROWS = 8_640
"""30 days of five-minute steps."""
SHORT_LAGS = (1, 2, 3, 6, 12, 24)
CONFORMAL_WINDOWS = 48
LEARNER = "lightgbm"


@dataclass(frozen=True, eq=False)
class FittedMLForecast(NotKept):
    """The fitted pipeline.

    Attributes:
        pipeline: the library's; it changes with what it is told, so forecasts use a copy.
        pools: whom it knows, in the order of its series.
        end_seconds: up to when it has seen demand.
    """

    pipeline: Any
    pools: tuple[Pool, ...]
    end_seconds: int

    def predict(self, panel: DemandPanel, origins: IntArray, context: Context) -> QuantileArrays:
        """The library's intervals per step, after all that was observed before each origin.

        Args:
            panel: history.
            origins: ascending.
            context: horizon, calendar and events.
        """
        path = QuantileArrays.unavailable(len(panel.pools), len(origins), context.horizon).path
        places = [panel.pools.index(pool) for pool in self.pools]
        known, pipeline = panel.select(self.pools), copy.deepcopy(self.pipeline)
        seen_until = known.row_at(self.end_seconds)
        with _deprecations_unheard():
            for place, origin in enumerate(origins):
                if origin > seen_until:
                    pipeline.update(_frame(known, seen_until, int(origin)))
                    seen_until = int(origin)
                said = pipeline.predict(h=context.horizon.steps, level=INTERVALS)
                path[places, place] = _quantiles(said).reshape(len(places), *path.shape[2:])
        return with_window_peak(path, context.horizon)


@dataclass(frozen=True)
class MLForecastPeer(NotKept):
    """Settings of mlforecast with LightGBM.

    Attributes:
        name: what the table calls it.
        refit_seconds: how old a fit may become.
    """

    name: str = "mlforecast + LightGBM"
    refit_seconds: int = DAY_SECONDS

    def fit(self, panel: DemandPanel, context: Context) -> FittedMLForecast:
        """Fit the last rows of all pools together."""
        from mlforecast.utils import PredictionIntervals

        recent = panel.rows(max(0, len(panel) - LAST_ROWS), len(panel))
        rows = zip(recent.pools, recent.demand_gpus, strict=True)
        known = recent.select([pool for pool, demand in rows if np.isfinite(demand).any()])
        pipeline = _pipeline(panel.step_seconds)
        intervals = PredictionIntervals(CONFORMAL_WINDOWS, context.horizon.steps)
        with _deprecations_unheard():
            frame = _frame(known, 0, len(known))
            pipeline.fit(frame, static_features=[], prediction_intervals=intervals)
        return FittedMLForecast(pipeline, known.pools, known.end_seconds)


def _pipeline(step_seconds: int) -> Any:
    """What the library's own guides would set up for a series with a day and a week."""
    from lightgbm import LGBMRegressor
    from mlforecast import MLForecast
    from mlforecast.lag_transforms import RollingMax, RollingMean, RollingMin, RollingStd
    from mlforecast.target_transforms import Differences, LocalStandardScaler

    day = DAY_SECONDS // step_seconds
    rolling = [RollingMean(6), RollingMean(12), RollingStd(12)]
    rolling += [of(day) for of in (RollingMean, RollingStd, RollingMax, RollingMin)]
    return MLForecast(
        models={LEARNER: LGBMRegressor(verbosity=-1, num_threads=1)},
        freq=f"{step_seconds}s",
        lags=sorted({*SHORT_LAGS, day, 7 * day}),
        lag_transforms={1: rolling},
        date_features=["hour", "day_of_week"],
        target_transforms=[Differences([1]), LocalStandardScaler()],
        num_threads=1,
    )


def _frame(panel: DemandPanel, first: int, stop: int) -> "pd.DataFrame":
    """Rows [first, stop) of all pools as the library wants them; ids sort as the pools stand."""
    import pandas as pd

    times = pd.to_datetime(panel.seconds_at(np.arange(first, stop)), unit="s")
    demand = [filled(one[:stop])[first:] for one in panel.demand_gpus]
    return pd.DataFrame(
        {
            "unique_id": np.repeat([f"{index:06d}" for index in range(len(demand))], len(times)),
            "ds": np.tile(times, len(demand)),
            "y": np.concatenate(demand),
        }
    )


def _quantiles(said: "pd.DataFrame") -> FloatArray:
    columns = {bound: LEARNER if bound == "mean" else f"{LEARNER}-{bound}" for bound in BOUNDS}
    return at_levels({bound: said[column].to_numpy() for bound, column in columns.items()})


@contextmanager
def _deprecations_unheard() -> Iterator[None]:
    """Silence on what pandas 4 will end: the library was written for pandas 2."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category=DeprecationWarning)
        yield
