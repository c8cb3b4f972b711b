"""AutoETS and AutoTheta of statsforecast, with the prediction intervals they give themselves.

Between refits the new observations are run through the fitted model (`forward`), without
estimating anew, as a user of the library would do every few minutes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.peers.peer import INTERVALS, NotKept, at_levels, filled, with_window_peak
from features.baselines import DAY_SECONDS
from features.panel import DemandPanel
from features.pool import Pool
from features.series import IntArray
from models.forecast import QuantileArrays
from models.protocol import Context

LAST_ROWS = 2_016
"""A week of five-minute steps, twelve of hours: the time Theta takes grows with the square."""
ETS_LONGEST_SEASON_ROWS = 24
"""Beyond this the library itself leaves the season out."""
THETA_LONGEST_SEASON_ROWS = 288


@dataclass(frozen=True, eq=False)
class FittedStatsForecast(NotKept):
    """One fitted model per pool.

    Attributes:
        estimators: the library's, which `forward` leaves as they are.
        start_seconds: when the rows begin that they were fitted to.
    """

    estimators: Mapping[Pool, Any]
    start_seconds: int

    def predict(self, panel: DemandPanel, origins: IntArray, context: Context) -> QuantileArrays:
        """The library's intervals per step, after all that was observed before each origin."""
        path = QuantileArrays.unavailable(len(panel.pools), len(origins), context.horizon).path
        first = panel.row_at(self.start_seconds)
        for index, pool in enumerate(panel.pools):
            if pool not in self.estimators:
                continue
            demand = filled(panel.demand_gpus[index, first : int(origins.max())])
            for place, origin in enumerate(origins):
                seen = demand[: origin - first]
                said = self.estimators[pool].forward(seen, context.horizon.steps, level=INTERVALS)
                path[index, place] = at_levels(said)
        return with_window_peak(path, context.horizon)


@dataclass(frozen=True)
class StatsForecastPeer(NotKept):
    """Settings of a model of statsforecast.

    Attributes:
        name: what the table calls it.
        estimator: makes the library's model for a season of so many rows.
        longest_season_rows: a day of more rows than this is left out as a season.
        refit_seconds: how old a fit may become.
    """

    name: str
    estimator: Callable[[int], Any]
    longest_season_rows: int
    refit_seconds: int = DAY_SECONDS

    def fit(self, panel: DemandPanel, context: Context) -> FittedStatsForecast:
        """Fit each pool's last rows on its own."""
        day_rows = DAY_SECONDS // panel.step_seconds
        season = day_rows if day_rows <= self.longest_season_rows else 1
        recent = panel.rows(max(0, len(panel) - LAST_ROWS), len(panel))
        estimators = {
            pool: self.estimator(season).fit(filled(demand))
            for pool, demand in zip(recent.pools, recent.demand_gpus, strict=True)
            if np.isfinite(demand).any()
        }
        return FittedStatsForecast(estimators, recent.start_seconds)


def auto_ets() -> StatsForecastPeer:
    """Exponential smoothing, its form chosen by AICc."""
    from statsforecast.models import AutoETS

    return StatsForecastPeer(
        name="statsforecast AutoETS",
        estimator=lambda season: AutoETS(season_length=season),
        longest_season_rows=ETS_LONGEST_SEASON_ROWS,
    )


def auto_theta() -> StatsForecastPeer:
    """The best of the Theta models; an additive season, since demand may be zero."""
    from statsforecast.models import AutoTheta

    return StatsForecastPeer(
        name="statsforecast AutoTheta",
        estimator=lambda season: AutoTheta(season_length=season, decomposition_type="additive"),
        longest_season_rows=THETA_LONGEST_SEASON_ROWS,
    )
