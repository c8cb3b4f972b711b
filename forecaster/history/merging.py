"""Putting newer history over older history of the same pool.

A value that is known is replaced only by another that is known: a source that has forgotten, or
did not look, must never take away what it once said.
"""

from collections.abc import Sequence

import numpy as np

from features.series import COLUMNS, BoolArray, DemandSeries, FloatArray


def merged(old: DemandSeries, new: DemandSeries) -> DemandSeries:
    """Both series on the grid that spans them; where both know a value the newer one counts.

    Args:
        old: what was kept.
        new: what a source says now, of the same pool and step.
    """
    step = old.step_seconds
    start = min(old.start_seconds, new.start_seconds)
    rows = (max(old.end_seconds, new.end_seconds) - start) // step

    def laid(series: DemandSeries, name: str) -> FloatArray:
        values = np.full(rows, np.nan)
        first = (series.start_seconds - start) // step
        values[first : first + len(series)] = getattr(series, name)
        return values

    columns: dict[str, FloatArray] = {}
    for name in COLUMNS:
        newer = laid(new, name)
        columns[name] = np.where(np.isnan(newer), laid(old, name), newer)
    seen = ~np.isnan(laid(new, "demand_gpus"))
    capped = np.where(seen, laid(new, "capped"), laid(old, "capped"))
    return DemandSeries(old.pool, start, step, **columns, capped=np.nan_to_num(capped) > 0)


def joined(parts: Sequence[DemandSeries]) -> DemandSeries:
    """Parts of one pool's history that do not overlap, as one series; between them are gaps."""
    names = (*COLUMNS, "capped")
    columns: dict[str, FloatArray | BoolArray] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in names
    }
    times = np.concatenate([part.times_seconds for part in parts])
    return DemandSeries.from_rows(parts[0].pool, parts[0].step_seconds, times, columns)


def same(one: DemandSeries, other: DemandSeries) -> bool:
    """Whether two series of a pool say the same, gaps included."""
    if (one.start_seconds, len(one)) != (other.start_seconds, len(other)):
        return False
    return np.array_equal(one.capped, other.capped) and all(
        np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True) for name in COLUMNS
    )
