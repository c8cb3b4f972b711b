"""How much a pool moves: the rises of demand above its level at the origin.

A rise belongs to the origin it started from, but is known only when its window has closed. Arrays
here are aligned to the closing row, so that a trailing window over them can not see a rise that
was still open.
"""

from typing import cast

import numpy as np

from features.series import BoolArray, FloatArray, IntArray
from features.trailing import rows_before, trailing_counts, trailing_totals

WEEK_SECONDS = 7 * 86_400
FORTNIGHT_SECONDS = 14 * 86_400
USUAL_RISE_GPUS = 4.0
LEAN_SHARE = 0.01
"""Weight of the fortnight, as a share of the week's windows."""
POOLS_AT_ONCE = 8
"""So many pools' weeks stay in a processor's cache between one pass over them and the next."""


def future_peak(demand_gpus: FloatArray, peak_steps: int) -> FloatArray:
    """Highest demand of the `peak_steps` rows from each row on; the target, not a feature.

    Args:
        demand_gpus: shape (..., rows).
        peak_steps: length of the window.

    Returns:
        Shape (..., rows + 1): entry i belongs to origin i. NaN where the window is not wholly
        observed, since a peak may hide in any gap.
    """
    out = np.full((*demand_gpus.shape[:-1], demand_gpus.shape[-1] + 1), np.nan)
    peaks = _window_peaks(demand_gpus, peak_steps)
    out[..., : peaks.shape[-1]] = peaks
    return out


def _window_peaks(demand_gpus: FloatArray, peak_steps: int) -> FloatArray:
    """Highest demand of each window that lies inside the rows, by doubling."""
    full = max(0, demand_gpus.shape[-1] - peak_steps + 1)
    reach, highest = 1, demand_gpus
    while reach * 2 <= peak_steps:  # np.maximum keeps a NaN, as a gap must be kept
        highest = np.maximum(highest[..., :-reach], highest[..., reach:])
        reach *= 2
    rest = peak_steps - reach
    peaks: FloatArray = np.maximum(highest[..., :full], highest[..., rest : rest + full])
    return peaks


def closed_rises(
    demand_gpus: FloatArray, closing_gpus: FloatArray, capped: BoolArray, peak_steps: int
) -> FloatArray:
    """Rise of the window's peak above the level before it, at the row that closes the window.

    Windows that were capped are left out: the rise there was at least what was seen.

    Args:
        demand_gpus: highest demand inside each step, shape (..., rows).
        closing_gpus: demand at each step's close, same shape.
        capped: whether demand was cut short, same shape.
        peak_steps: length of the window.

    Returns:
        Shape (..., rows), in GPUs; NaN where a rise is not known.
    """
    seen = np.where(capped, np.nan, demand_gpus) if capped.any() else demand_gpus
    rows = demand_gpus.shape[-1]
    if rows <= peak_steps:
        return np.full(demand_gpus.shape, np.nan)
    seen, closing = seen.reshape(-1, rows), closing_gpus.reshape(-1, rows)
    out = np.empty(seen.shape)
    out[:, :peak_steps] = np.nan
    for first in range(0, len(out), POOLS_AT_ONCE):
        some = slice(first, first + POOLS_AT_ONCE)
        # origin i starts from row i - 1's close and its window closes with row i + peak_steps - 1
        peaks = _window_peaks(seen[some], peak_steps)[:, 1:]
        np.subtract(peaks, closing[some, :-peak_steps], out=out[some, peak_steps:])
    return out.reshape(demand_gpus.shape)


def trailing_quantiles(
    values: FloatArray, origins: IntArray, width_rows: int, levels: tuple[float, ...]
) -> FloatArray:
    """Empirical quantiles of the known rows among the `width_rows` before each origin.

    The quantile at level p of n values is the ceil((n + 1) p)-th smallest, and the largest where
    that exceeds n: the finite-sample rule of split conformal prediction (Vovk, Gammerman and
    Shafer, 2005), so that a short history widens and never narrows.

    Args:
        values: shape (pools, rows).
        origins: row indices, shape (origins,).
        width_rows: length of the window.
        levels: between 0 and 1.

    Returns:
        Shape (pools, origins, levels); NaN where the window holds nothing.
    """
    out = np.empty((values.shape[0], len(origins), len(levels)))
    for position, origin in enumerate(origins):
        window = np.sort(values[:, max(0, origin - width_rows) : origin], axis=-1)
        out[:, position] = quantiles_of_sorted(window, levels)
    return out


def quantiles_of_sorted(ordered: FloatArray, levels: tuple[float, ...]) -> FloatArray:
    """Finite-sample quantiles of values sorted along the last axis, NaN last.

    Returns:
        Shape (..., levels); NaN where there is no value.
    """
    if not ordered.shape[-1]:
        return np.full((*ordered.shape[:-1], len(levels)), np.nan)
    known = np.sum(~np.isnan(ordered), axis=-1, keepdims=True)
    rank = np.ceil((known + 1) * np.asarray(levels) - 1e-9).astype(np.int64)
    position = np.clip(np.minimum(rank, known) - 1, 0, None)
    return cast("FloatArray", np.take_along_axis(ordered, position, axis=-1))


def rise_scale(rises: FloatArray, origins: IntArray, step_seconds: int) -> FloatArray:
    """How large a pool's rises are when it rises: the mean of the last week's that are not zero.

    A quantile will not do, since on many pools nine windows in ten do not rise at all. With few
    rises in the week the mean leans on the last fortnight, and with none at all on a usual pool.

    Args:
        rises: from `closed_rises`, shape (pools, rows).
        origins: row indices, shape (origins,).
        step_seconds: the grid's step.

    Returns:
        Shape (pools, origins), in GPUs, above zero.
    """
    week, fortnight = WEEK_SECONDS // step_seconds, FORTNIGHT_SECONDS // step_seconds
    widths = [week, fortnight]
    stretch, within = rows_before(rises, origins, fortnight)
    # a rise that is not known is NaN, which is not above zero
    recent, older = trailing_totals(np.fmax(stretch, 0.0), within, widths)
    recent_count, older_count = trailing_counts(stretch > 0, within, widths)
    usual = (older + USUAL_RISE_GPUS) / (older_count + 1)
    lean = LEAN_SHARE * week
    return (recent + lean * usual) / (recent_count + lean)
