"""What a decision knows beside the cluster: forecasts and their worth, announcements, holidays.

It only brings together what others made. Where something cannot be had it says why, pool by pool;
it never holds a cycle up or back.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from functools import lru_cache
from typing import Protocol
from zoneinfo import ZoneInfo

import numpy as np

from actuator.deciding import Surroundings
from actuator.foreseeing import foreseen_pools
from actuator.policy import Policy
from features.calendar import ClusterCalendar, DayFlag
from features.errors import TidecastError, Unavailable
from features.pool import Pool
from forecaster.announcements.board import AnnouncementBoard
from models.forecast import Forecast
from models.verdict import Verdict

AHEAD_SECONDS = 86_400
"""How far ahead announcements are looked up; longer than any lead time."""

Forecasts = Mapping[Pool, Forecast | Unavailable]


class ForecastSource(Protocol):
    """Says what is foreseen of each pool."""

    def forecasts(self, now_seconds: int) -> Forecasts:
        """The newest forecasts there are."""
        ...

    def verdicts(self, now_seconds: int) -> Mapping[Pool, Verdict]:
        """What past forecasts are worth."""
        ...


@dataclass(frozen=True)
class ServiceSurroundings:
    """Brings together what a decision knows beside the cluster.

    Attributes:
        source: forecasts and verdicts.
        board: the announcements there are at a moment.
        zone: the cluster's time zone.
        is_holiday: whether a local date is a public holiday there.
    """

    source: ForecastSource
    board: Callable[[int], AnnouncementBoard]
    zone: ZoneInfo
    is_holiday: Callable[[date], bool]

    def __call__(self, policy: Policy, now_seconds: int) -> Surroundings:
        """What is known at a moment, for the pools of a policy."""
        forecasts = _known(policy, lambda: self.source.forecasts(now_seconds))
        until_seconds = now_seconds + AHEAD_SECONDS
        board = self.board(now_seconds)
        return Surroundings(
            foreseen=foreseen_pools(policy, forecasts, self.source.verdicts(now_seconds)),
            announcements=board.floors(policy.pools, now_seconds, until_seconds),
            zone=self.zone,
            is_holiday=self.is_holiday,
        )


def holidays_of(calendar: ClusterCalendar) -> Callable[[date], bool]:
    """Whether a local date is a public holiday, by the cluster's calendar."""
    zone = ZoneInfo(calendar.settings.time_zone)

    @lru_cache(maxsize=1024)
    def is_holiday(day: date) -> bool:
        noon = int(datetime.combine(day, time(12), zone).astimezone(UTC).timestamp())
        return bool(calendar.flags(np.array([noon]))[DayFlag.HOLIDAY][0])

    return is_holiday


def _known(policy: Policy, made: Callable[[], Forecasts]) -> Forecasts:
    """The forecasts, or for each pool why there are none: a plan is made all the same."""
    try:
        return made()
    except TidecastError as error:
        reason = Unavailable(str(error))
        return {Pool.parse(pool.pool): reason for pool in policy.pools}
