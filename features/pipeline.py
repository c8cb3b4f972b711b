"""The feature pipeline: everything a model may know of a pool at an origin, as one table.

Seasonal baselines, recent slopes, past rises, the calendar and known events, in GPUs relative to
the level now or without a unit. Columns whose name ends in `_gpus` scale with the pool; the others
do not. Every value at origin t uses only what was known at t, whatever the panel holds after it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from features.baselines import (
    BASELINE_DAYS,
    DAILY,
    DAY_SECONDS,
    WEEKLY,
    Season,
    same_time_mean,
    seasonal_change,
)
from features.calendar import ClusterCalendar, DayFlag
from features.events import EventKind, KnownEvent, KnownEvents
from features.panel import DemandPanel
from features.pool import Shape
from features.rises import closed_rises, rise_scale
from features.series import FloatArray, IntArray
from features.slopes import (
    DAY,
    HOUR,
    WEEK_SECONDS,
    NamedColumn,
    demand_restlessness,
    demand_slopes,
    queue_slopes,
    span_name,
    spans_rows,
    submission_rates,
)
from features.trailing import (
    known_ratio,
    rows_before,
    trailing_counts,
    trailing_max,
    trailing_totals,
    value_before,
)

RISE_SPANS = (HOUR, 6 * HOUR, DAY, WEEK_SECONDS)
SAME_TIME_SAMPLES = 5
"""Rises of so many windows, up to one window earlier or later, count as the same time of day."""
SAME_TIME_SEASONS = (
    Season("yesterday", (1,)),
    Season("week_ago", (7,)),
    Season("last_7_days", tuple(range(1, 8))),
)


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """Features of several pools at several origins.

    Attributes:
        names: name per feature.
        values: shape (pools, origins, features); NaN where a feature is not known.
        now_gpus: demand at the origin, shape (pools, origins).
        scale_gpus: how much the pool tends to rise, shape (pools, origins), above zero.
    """

    names: tuple[str, ...]
    values: FloatArray
    now_gpus: FloatArray
    scale_gpus: FloatArray

    def scaled(self) -> FloatArray:
        """The values with every column in GPUs divided by the pool's scale."""
        in_gpus = np.array([name.endswith("_gpus") for name in self.names])
        divisor = np.where(in_gpus, self.scale_gpus[..., None], 1.0)
        return self.values / divisor

    def columns(self, names: tuple[str, ...]) -> FloatArray:
        """Some columns by name, shape (pools, origins, names).

        Raises:
            KeyError: no such feature.
        """
        where = {name: index for index, name in enumerate(self.names)}
        return self.values[..., [where[name] for name in names]]


def feature_table(
    panel: DemandPanel,
    origins: IntArray,
    calendar: ClusterCalendar,
    events: KnownEvents,
    *,
    peak_steps: int,
    horizon_steps: int,
) -> FeatureTable:
    """All features of every pool of the panel at every origin.

    Args:
        panel: history; only rows before each origin are read.
        origins: row indices, at least 1, shape (origins,).
        calendar: holidays and marked days, on the cluster's clock.
        events: future demand known beforehand.
        peak_steps: window of the peak that is forecast.
        horizon_steps: how far the forecast reaches.
    """
    # each kind of feature gets the stretch it reads and no more, for the sake of live forecasts
    month, in_month = _recent(panel, origins, (BASELINE_DAYS + 1) * DAY)
    fortnight, in_fortnight = _recent(panel, origins, 15 * DAY)
    week, in_week = _recent(panel, origins, 8 * DAY)
    rises = closed_rises(
        fortnight.demand_gpus, fortnight.closing_gpus, fortnight.capped, peak_steps
    )
    ahead = np.unique(np.array([1, peak_steps, horizon_steps]))
    columns = [
        *demand_slopes(week, in_week),
        *demand_restlessness(week, in_week),
        *queue_slopes(week, in_week),
        *submission_rates(week, in_week),
        *_past_rises(rises, fortnight, in_fortnight),
        *_same_time_rises(rises, fortnight, in_fortnight, calendar, peak_steps),
        *_baseline_changes(month, in_month, ahead, calendar),
        *_clock(panel, origins, calendar, horizon_steps),
        *_events(panel, origins, events, peak_steps, horizon_steps),
        *_pool_shape(week, in_week),
    ]
    values = np.empty((len(panel.pools), len(origins), len(columns)))
    for index, (_, column) in enumerate(columns):
        values[..., index] = column
    return FeatureTable(
        names=tuple(name for name, _ in columns),
        values=values,
        now_gpus=value_before(panel.closing_gpus, origins),
        scale_gpus=rise_scale(rises, in_fortnight, panel.step_seconds),
    )


def _recent(panel: DemandPanel, origins: IntArray, seconds: int) -> tuple[DemandPanel, IntArray]:
    """The rows that lie at most so long before an origin, and the origins within them."""
    first = max(0, int(origins.min()) - seconds // panel.step_seconds)
    return panel.rows(first, int(origins.max())), origins - first


def _past_rises(rises: FloatArray, panel: DemandPanel, origins: IntArray) -> Iterator[NamedColumn]:
    """How much, and how often, the pool has risen over each span."""
    spans = spans_rows(RISE_SPANS, panel.step_seconds)
    widths = list(spans.values())
    stretch, within = rows_before(rises, origins, max(widths))
    totals = trailing_totals(np.fmax(stretch, 0.0), within, widths)
    rose = trailing_counts(stretch > 0, within, widths)
    known = trailing_counts(~np.isnan(stretch), within, widths)
    for name, total, up, count in zip(spans, totals, rose, known, strict=True):
        yield f"rise_{name}_gpus", known_ratio(total, count)
        # a NaN compares as 'did not rise', and is not counted as known either
        yield f"rise_share_{name}", known_ratio(up, count)


def _same_time_rises(
    rises: FloatArray,
    panel: DemandPanel,
    origins: IntArray,
    calendar: ClusterCalendar,
    peak_steps: int,
) -> Iterator[NamedColumn]:
    """How much the pool has risen around this time of day, over several sets of days."""
    # neighbouring hours differ too much to be called the same time
    samples = SAME_TIME_SAMPLES if panel.step_seconds < HOUR else 1
    around = np.linspace(-peak_steps, peak_steps, samples).astype(np.int64) if samples > 1 else 0
    for season in SAME_TIME_SEASONS:
        mean = same_time_mean(
            rises,
            panel,
            origins,
            ahead_rows=np.atleast_1d(peak_steps + around),
            season=season,
            calendar=calendar,
        )
        yield f"same_time_rise_{season.name}_gpus", mean


def _baseline_changes(
    panel: DemandPanel, origins: IntArray, ahead_rows: IntArray, calendar: ClusterCalendar
) -> Iterator[NamedColumn]:
    for season in (DAILY, WEEKLY):
        change = seasonal_change(panel, origins, ahead_rows, season, calendar)
        for index, rows in enumerate(ahead_rows):
            name = span_name(int(rows) * panel.step_seconds)
            yield f"baseline_{season.name}_change_{name}_gpus", change[..., index]


def _clock(
    panel: DemandPanel, origins: IntArray, calendar: ClusterCalendar, horizon_steps: int
) -> Iterator[NamedColumn]:
    """Time of day and, on real dates, flags: does the day of the horizon's end carry them?"""
    shape = (len(panel.pools), len(origins))
    seconds = panel.seconds_at(origins)
    day_part = 2 * np.pi * calendar.local_seconds_of_day(seconds) / DAY_SECONDS
    yield "time_of_day_sine", np.broadcast_to(np.sin(day_part), shape)
    yield "time_of_day_cosine", np.broadcast_to(np.cos(day_part), shape)
    if not panel.has_calendar:
        return
    until = seconds + horizon_steps * panel.step_seconds
    yield "day_of_week", np.broadcast_to(calendar.day_of_week(seconds), shape)
    yield "is_working_day", np.broadcast_to(calendar.is_working_day(until), shape)
    flags = calendar.flags(until)
    for flag in DayFlag:
        yield f"is_{flag.name.lower()}", np.broadcast_to(flags[flag], shape)


def _events(
    panel: DemandPanel,
    origins: IntArray,
    events: KnownEvents,
    peak_steps: int,
    horizon_steps: int,
) -> Iterator[NamedColumn]:
    now = value_before(panel.closing_gpus, origins)
    seconds = [int(second) for second in panel.seconds_at(origins)]
    for steps in sorted({peak_steps, horizon_steps}):
        span = steps * panel.step_seconds
        extra = np.zeros(now.shape)
        for row, pool in enumerate(panel.pools):
            for column, second in enumerate(seconds):
                for event in events.known_at(pool, second, second + span):
                    extra[row, column] += _extra_gpus(event, now[row, column])
        yield f"known_events_{span_name(span)}_gpus", extra


def _extra_gpus(event: KnownEvent, now: float) -> float:
    """What an event adds to the level now."""
    if event.kind is EventKind.ABSOLUTE:
        return max(event.amount - now, 0.0)
    if event.kind is EventKind.FACTOR:
        return (event.amount - 1.0) * now
    return event.amount


def _pool_shape(panel: DemandPanel, origins: IntArray) -> Iterator[NamedColumn]:
    shape = (len(panel.pools), len(origins))
    whole = np.array([pool.shape is Shape.WHOLE_NODE for pool in panel.pools], dtype=np.float64)
    yield "is_whole_node", np.broadcast_to(whole[:, None], shape)
    week = WEEK_SECONDS // panel.step_seconds
    now = value_before(panel.closing_gpus, origins)
    highest = trailing_max(panel.closing_gpus, origins, week)
    yield "share_of_week_max", known_ratio(now, highest)
    yield "now_gpus", now
    yield "week_max_gpus", highest
