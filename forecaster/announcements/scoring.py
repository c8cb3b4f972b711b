"""What was announced against what came, once an announcement's time is over.

Only what was observed is compared: a window that was seen for less than half is not scored, and
its score is missing, never zero.
"""

from dataclasses import dataclass

import numpy as np

from features.errors import Unavailable
from features.events import EventKind
from features.series import DemandSeries, FloatArray
from forecaster.announcements.board import Occurrence

LEAST_OBSERVED_SHARE = 0.5
USUAL_SECONDS = 3_600


@dataclass(frozen=True)
class AnnouncementScore:
    """One time that was announced, and what came of it in one pool.

    Attributes:
        identifier: the announcement.
        pool: whose demand.
        start_seconds: Unix time at which it began.
        end_seconds: when it was over.
        announced_gpus: demand that was announced.
        before_gpus: demand in the hour before it.
        came_gpus: highest demand that came.
        observed_share: share of its steps that were seen, 0 to 1.
    """

    identifier: str
    pool: str
    start_seconds: int
    end_seconds: int
    announced_gpus: float
    before_gpus: float
    came_gpus: float
    observed_share: float

    @property
    def came_share(self) -> float:
        """What came as a share of what was announced; above 1 it was announced too low."""
        return self.came_gpus / self.announced_gpus


def scored(occurrence: Occurrence, series: DemandSeries) -> AnnouncementScore | Unavailable:
    """Hold one past time of an announcement against the demand that came.

    Extra GPUs and factors are taken on top of the highest demand of the hour before.
    """
    begin, end = occurrence.start_seconds, occurrence.end_seconds
    if series.end_seconds < end:
        return Unavailable("it is not over yet, or its history has not been pulled yet")
    during = _between(series, begin, end)
    before = _between(series, begin - USUAL_SECONDS, begin)
    seen = float(np.isfinite(during).mean()) if len(during) else 0.0
    if seen < LEAST_OBSERVED_SHARE:
        return Unavailable(f"only {seen:.0%} of its time was observed")
    if not np.isfinite(before).any():
        return Unavailable("the hour before it was not observed")
    usual = float(np.nanmax(before))
    return AnnouncementScore(
        identifier=occurrence.announcement.identifier,
        pool=str(series.pool),
        start_seconds=begin,
        end_seconds=end,
        announced_gpus=_announced(occurrence, usual),
        before_gpus=usual,
        came_gpus=float(np.nanmax(during)),
        observed_share=seen,
    )


def _announced(occurrence: Occurrence, usual_gpus: float) -> float:
    one = occurrence.announcement
    if one.kind is EventKind.ABSOLUTE:
        return one.amount
    return usual_gpus + one.amount if one.kind is EventKind.EXTRA else usual_gpus * one.amount


def _between(series: DemandSeries, since_seconds: int, until_seconds: int) -> FloatArray:
    """Demand of the steps that touch [since, until), as far as the series holds them."""
    first = (since_seconds - series.start_seconds) // series.step_seconds
    stop = -((series.start_seconds - until_seconds) // series.step_seconds)
    return series.demand_gpus[max(0, first) : max(0, stop)]
