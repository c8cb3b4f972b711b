"""Recent slopes: where demand, queue and submissions have been going, over several spans.

All in GPUs relative to the level now, or as a ratio to the pool's own weekly habit; a slope that
cannot be known is NaN. Nothing here knows the time of day.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from features.panel import DemandPanel
from features.series import FloatArray, IntArray
from features.trailing import (
    known_ratio,
    rows_before,
    trailing_max,
    trailing_means,
    trailing_min,
    trailing_sums,
    value_before,
)

MINUTE, HOUR, DAY = 60, 3_600, 86_400
WEEK_SECONDS = 7 * DAY
LAG_SPANS = (5 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, DAY, WEEK_SECONDS)
LEVEL_SPANS = (30 * MINUTE, 3 * HOUR, 12 * HOUR, WEEK_SECONDS)
MOVE_SPANS = (HOUR, 3 * HOUR, DAY)
QUEUE_SPANS = (10 * MINUTE, 30 * MINUTE)
JOB_SPANS = (5 * MINUTE, 10 * MINUTE, HOUR, 3 * HOUR, 12 * HOUR)
GPU_SPANS = (5 * MINUTE, 30 * MINUTE, 3 * HOUR)

NamedColumn = tuple[str, FloatArray]


def spans_rows(spans_seconds: Sequence[int], step_seconds: int) -> dict[str, int]:
    """The spans that this grid can tell apart, by name (`30m`, `4h`), in rows."""
    by_rows: dict[int, str] = {}
    for seconds in spans_seconds:
        rows = max(1, seconds // step_seconds)
        by_rows.setdefault(rows, span_name(rows * step_seconds))
    return {name: rows for rows, name in by_rows.items()}


def span_name(seconds: int) -> str:
    """A span as people write it: `10m`, `2h`, `1d`."""
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds % size == 0 and seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def demand_slopes(panel: DemandPanel, origins: IntArray) -> Iterator[NamedColumn]:
    """The level now against what it was, and against its recent mean, highest and lowest.

    Yields:
        Name and GPUs, shape (pools, origins), per span and measure.
    """
    level = panel.closing_gpus
    now = value_before(level, origins)
    for name, rows in spans_rows(LAG_SPANS, panel.step_seconds).items():
        yield f"change_{name}_gpus", now - value_before(level, origins, rows)
    spans = spans_rows(LEVEL_SPANS, panel.step_seconds)
    means = trailing_means(level, origins, list(spans.values()))
    for (name, rows), mean in zip(spans.items(), means, strict=True):
        yield f"above_mean_{name}_gpus", now - mean
        yield f"above_max_{name}_gpus", now - trailing_max(panel.demand_gpus, origins, rows)
        yield f"above_min_{name}_gpus", now - trailing_min(level, origins, rows)


def demand_restlessness(panel: DemandPanel, origins: IntArray) -> Iterator[NamedColumn]:
    """How much demand has moved per step, up and in all, over each span.

    Yields:
        Name and GPUs per step, shape (pools, origins).
    """
    spans = spans_rows(MOVE_SPANS, panel.step_seconds)
    # the oldest move needs the level before it
    level, within = rows_before(panel.closing_gpus, origins, max(spans.values()) + 1)
    moves = np.diff(level, axis=-1, prepend=np.nan)
    mean_moves = trailing_means(np.abs(moves), within, list(spans.values()))
    mean_ups = trailing_means(np.maximum(moves, 0.0), within, list(spans.values()))
    for name, mean_move, mean_up in zip(spans, mean_moves, mean_ups, strict=True):
        yield f"mean_move_{name}_gpus", mean_move
        yield f"mean_rise_{name}_gpus", mean_up


def queue_slopes(panel: DemandPanel, origins: IntArray) -> Iterator[NamedColumn]:
    """What waits now, and how that changed over ten minutes and half an hour.

    Yields:
        Name and GPUs, shape (pools, origins).
    """
    waiting = value_before(panel.pending_gpus, origins)
    yield "pending_gpus", waiting
    for name, rows in spans_rows(QUEUE_SPANS, panel.step_seconds).items():
        before = value_before(panel.pending_gpus, origins, rows)
        yield f"pending_change_{name}_gpus", waiting - before


def submission_rates(panel: DemandPanel, origins: IntArray) -> Iterator[NamedColumn]:
    """Submissions per step over each span: GPUs, and jobs as a ratio to the week's mean.

    Yields:
        Name and value, shape (pools, origins).
    """
    week = max(1, WEEK_SECONDS // panel.step_seconds)
    jobs = spans_rows(JOB_SPANS, panel.step_seconds)
    sums = trailing_sums(panel.submitted_jobs, origins, [week, *jobs.values()])
    total, count = next(sums)
    # one job of grace keeps the ratio finite for a pool that nobody used for a week
    usual = known_ratio(total + 1.0, count)
    yield "usual_submissions", usual
    for name, (jobs_sum, known) in zip(jobs, sums, strict=True):
        yield f"submissions_{name}_ratio", known_ratio(jobs_sum, known) / usual
    gpus = spans_rows(GPU_SPANS, panel.step_seconds)
    means = trailing_means(panel.submitted_gpus, origins, list(gpus.values()))
    for name, mean in zip(gpus, means, strict=True):
        yield f"submitted_{name}_gpus", mean
