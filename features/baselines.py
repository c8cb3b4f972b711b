"""Seasonal baselines of the last 30 days: what this time of day, and of the week, usually brings.

Baselines are medians over days, so that an outage or a single flood does not move them, and they
enter a forecast as the *change* they expect, never as a level. Days are counted on the cluster's
own clock, so that nine o'clock stays nine o'clock when the clocks change.
"""

from dataclasses import dataclass

import numpy as np

from features.calendar import ClusterCalendar
from features.calendar_zone import local_seconds
from features.panel import DemandPanel
from features.series import FloatArray, IntArray
from features.trailing import known_ratio

DAY_SECONDS = 86_400
BASELINE_DAYS = 30
ORIGINS_AT_ONCE = 512


@dataclass(frozen=True)
class Season:
    """Which past days a baseline looks at.

    Attributes:
        name: how features are called after it.
        days_back: how many days back each sample lies, ascending.
    """

    name: str
    days_back: tuple[int, ...]


DAILY = Season("day", tuple(range(1, BASELINE_DAYS + 1)))
WEEKLY = Season("week", tuple(range(7, BASELINE_DAYS + 1, 7)))


def same_time_rows(
    panel: DemandPanel,
    origins: IntArray,
    season: Season,
    calendar: ClusterCalendar,
) -> IntArray:
    """Rows that closed at the same local time as each origin, some days earlier.

    Returns:
        Row indices, shape (origins, days); negative where history has not begun.
    """
    seconds = panel.seconds_at(origins)
    back = DAY_SECONDS * np.asarray(season.days_back, dtype=np.int64)
    then = seconds[:, None] - back[None, :]
    if panel.has_calendar:
        then = then + _utc_offset(seconds, calendar)[:, None] - _utc_offset(then, calendar)
    return (then - panel.start_seconds) // panel.step_seconds - 1


def seasonal_baseline(
    panel: DemandPanel,
    origins: IntArray,
    ahead_rows: IntArray,
    season: Season,
    calendar: ClusterCalendar,
) -> FloatArray:
    """Median demand, over the season's days, around the origin's time of day and after it.

    Args:
        panel: history; only rows before each origin are read.
        origins: row indices, shape (origins,).
        ahead_rows: how many rows after the origin's last row, shape (aheads,); 0 is that row.
            A day at most, so that every sample lies in the past.
        season: which days.
        calendar: for the cluster's clock.

    Returns:
        GPUs, shape (pools, origins, aheads); NaN where no day was observed.
    """
    out = np.empty((len(panel.pools), len(origins), len(ahead_rows)))
    for first in range(0, len(origins), ORIGINS_AT_ONCE):
        some = slice(first, first + ORIGINS_AT_ONCE)
        rows = same_time_rows(panel, origins[some], season, calendar)
        rows = rows[:, None, :] + ahead_rows[None, :, None]
        known = (rows >= 0) & (rows < origins[some, None, None])
        sample = panel.closing_gpus[:, np.where(known, rows, 0)]
        sample = np.where(known, sample, np.nan)
        out[:, some] = _median(sample)
    return out


def seasonal_change(
    panel: DemandPanel,
    origins: IntArray,
    ahead_rows: IntArray,
    season: Season,
    calendar: ClusterCalendar,
) -> FloatArray:
    """How demand usually changes from this time of day on: baseline then minus baseline now.

    Returns:
        GPUs, shape (pools, origins, aheads); NaN where no day was observed.
    """
    with_now = np.concatenate([[0], ahead_rows])
    level = seasonal_baseline(panel, origins, with_now, season, calendar)
    return level[..., 1:] - level[..., :1]


def same_time_mean(
    values: FloatArray,
    panel: DemandPanel,
    origins: IntArray,
    *,
    ahead_rows: IntArray,
    season: Season,
    calendar: ClusterCalendar,
) -> FloatArray:
    """Mean of values around the same time on the season's days.

    Args:
        values: aligned with the panel's rows, shape (pools, rows).
        panel: the grid.
        origins: row indices, shape (origins,).
        ahead_rows: which rows around that time, counted from the origin's last row.
        season: which days.
        calendar: for the cluster's clock.

    Returns:
        Shape (pools, origins); NaN where no day is known.
    """
    out = np.empty((len(values), len(origins)))
    for first in range(0, len(origins), ORIGINS_AT_ONCE):
        some = slice(first, first + ORIGINS_AT_ONCE)
        rows = same_time_rows(panel, origins[some], season, calendar)
        rows = (rows[:, :, None] + ahead_rows).reshape(len(rows), -1)
        known = (rows >= 0) & (rows < origins[some, None])
        sample = np.where(known, values[:, np.where(known, rows, 0)], np.nan)
        found = ~np.isnan(sample)
        total = np.where(found, sample, 0.0).sum(axis=-1)
        out[:, some] = known_ratio(total, found.sum(axis=-1).astype(np.float64))
    return out


def _utc_offset(times_seconds: IntArray, calendar: ClusterCalendar) -> IntArray:
    return local_seconds(times_seconds, calendar.settings.time_zone) - times_seconds


def _median(sample: FloatArray) -> FloatArray:
    """Median of the known values on the last axis; numpy's nanmedian is slow on short axes."""
    ordered = np.sort(sample, axis=-1)
    count = np.sum(~np.isnan(ordered), axis=-1, keepdims=True)
    low = np.take_along_axis(ordered, np.maximum(count - 1, 0) // 2, axis=-1)
    high = np.take_along_axis(ordered, np.minimum(count // 2, ordered.shape[-1] - 1), axis=-1)
    middle: FloatArray = ((low + high) / 2)[..., 0]
    return middle
