"""Trailing windows over panels: what the last rows before an origin say.

Arrays have time on their last axis, and NaN means 'not known'. For origin i these functions read
rows before i, never row i or later; a window that holds no known row is NaN, not zero.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from features.series import BoolArray, FloatArray, IntArray


def value_before(values: FloatArray, origins: IntArray, lag_rows: int = 0) -> FloatArray:
    """The newest row before each origin, or one `lag_rows` older.

    Args:
        values: shape (..., rows).
        origins: row indices, shape (origins,).
        lag_rows: how many rows further back.

    Returns:
        Shape (..., origins); NaN before the first row.
    """
    rows = origins - 1 - lag_rows
    before: FloatArray = np.where(rows >= 0, values[..., np.maximum(rows, 0)], np.nan)
    return before


def rows_before(
    values: FloatArray, origins: IntArray, width_rows: int
) -> tuple[FloatArray, IntArray]:
    """The rows that windows of this width before the origins read, and the origins within them."""
    first = max(0, int(origins.min()) - width_rows)
    return values[..., first : int(origins.max())], origins - first


def trailing_sums(
    values: FloatArray, origins: IntArray, widths_rows: Sequence[int]
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Sum and number of the known rows before each origin, for several widths.

    Only the stretch that the origins need is summed, and once for all widths.

    Yields:
        Two arrays of shape (..., origins) for each width, in the order given.
    """
    stretch, stop = rows_before(values, origins, max(widths_rows))
    known = ~np.isnan(stretch)
    counts = trailing_counts(known, stop, widths_rows)
    filled = stretch if known.all() else np.where(known, stretch, 0.0)
    return zip(trailing_totals(filled, stop, widths_rows), counts, strict=True)


def trailing_totals(
    values: FloatArray | BoolArray, origins: IntArray, widths_rows: Sequence[int]
) -> Iterator[FloatArray]:
    """Sum of the rows before each origin, all of them known; shape (..., origins) per width."""
    if len(origins) == 1:  # live forecasts: no need of a sum per row
        stop = int(origins[0])
        for width in widths_rows:
            last = values[..., max(0, stop - width) : stop]
            yield last.sum(axis=-1, keepdims=True, dtype=np.float64)
        return
    sums = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    np.cumsum(values, axis=-1, out=sums[..., 1:])
    for width in widths_rows:
        yield sums[..., origins] - sums[..., np.maximum(origins - width, 0)]


def trailing_counts(
    marked: BoolArray, origins: IntArray, widths_rows: Sequence[int]
) -> Iterator[FloatArray]:
    """Number of the marked rows before each origin; shape (..., origins) per width."""
    if not marked.all():
        return trailing_totals(marked, origins, widths_rows)
    shape = (*marked.shape[:-1], len(origins))
    return (
        np.broadcast_to(np.minimum(width, origins).astype(np.float64), shape)
        for width in widths_rows
    )


def trailing_means(
    values: FloatArray, origins: IntArray, widths_rows: Sequence[int]
) -> Iterator[FloatArray]:
    """Mean of the known rows before each origin, for several widths; shape (..., origins) each."""
    for total, count in trailing_sums(values, origins, widths_rows):
        yield known_ratio(total, count)


def known_ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """The ratio where the denominator is above zero, elsewhere NaN; the shape of the inputs."""
    ratio = np.full(np.shape(numerator), np.nan)
    np.divide(numerator, denominator, out=ratio, where=denominator > 0)
    return ratio


def trailing_max(values: FloatArray, origins: IntArray, width_rows: int) -> FloatArray:
    """Highest known row among the `width_rows` before each origin; shape (..., origins)."""
    return _trailing_extreme(values, origins, width_rows, np.fmax)


def trailing_min(values: FloatArray, origins: IntArray, width_rows: int) -> FloatArray:
    """Lowest known row among the `width_rows` before each origin; shape (..., origins)."""
    return _trailing_extreme(values, origins, width_rows, np.fmin)


def _trailing_extreme(
    values: FloatArray,
    origins: IntArray,
    width_rows: int,
    extreme: np.ufunc,
) -> FloatArray:
    """Extremes by doubling: a window is the union of two windows of a power of two."""
    if len(origins) == 1:
        stop = int(origins[0])
        stretch = values[..., max(0, stop - width_rows) : stop]
        reduced: FloatArray = extreme.reduce(stretch, axis=-1, keepdims=True, initial=np.nan)
        return reduced
    first = int(origins.min()) - width_rows
    stretch = values[..., max(0, first) : int(origins.max())]
    if first < 0:
        padding = np.full((*values.shape[:-1], -first), np.nan)
        stretch = np.concatenate([padding, stretch], axis=-1)
    reach = 1
    while reach * 2 <= width_rows:
        stretch = extreme(stretch[..., :-reach], stretch[..., reach:])
        reach *= 2
    start = origins - width_rows - first
    either: FloatArray = extreme(stretch[..., start], stretch[..., start + width_rows - reach])
    return either
