"""Forecasts and verdicts as the scheduled jobs left them in the database.

It makes nothing: a forecast that no job has made is not there, and one that is old says so by its
origin.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from features.pool import Pool
from forecaster.database.forecasts import Forecasts as KeptForecasts
from forecaster.database.scores import Scores
from forecaster.surroundings import Forecasts
from models.verdict import Verdict

LOOKED_BACK_SECONDS = 3_600
"""An older forecast is of no use to a plan, which takes none beyond a quarter of an hour."""


@dataclass(frozen=True)
class StoredSource:
    """Reads what the jobs have kept.

    Attributes:
        kept_forecasts: forecasts by pool and origin.
        scores: scores and verdicts by pool.
    """

    kept_forecasts: KeptForecasts
    scores: Scores

    def forecasts(self, now_seconds: int) -> Forecasts:
        """The newest forecast of each pool."""
        newest = self.kept_forecasts.newest(now_seconds - LOOKED_BACK_SECONDS)
        return {pool: kept.forecast for pool, kept in newest.items()}

    def verdicts(self, now_seconds: int) -> Mapping[Pool, Verdict]:
        """The newest verdict on each pool."""
        return {pool: kept.verdict for pool, kept in self.scores.newest().items()}
