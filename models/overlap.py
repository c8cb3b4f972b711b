"""How much forecasts say whose windows overlap: less than their number.

A forecast every 5 minutes of the next 30 sees the same burst six times. Nothing here may treat such
forecasts as so many witnesses.
"""

import numpy as np

from features.series import FloatArray, IntArray


def separate_windows(origins: IntArray, peak_steps: int) -> int:
    """How many of the windows that begin at these rows can be chosen so that none overlap.

    Args:
        origins: ascending, shape (origins,).
        peak_steps: length of the window in rows.
    """
    next_free = np.searchsorted(origins, origins + peak_steps).tolist()
    count = position = 0
    while position < len(next_free):
        count += 1
        position = next_free[position]
    return count


def long_run_spread(
    errors: FloatArray, positions: IntArray, reach: int, windows: int
) -> FloatArray:
    """Standard deviation that makes the usual error of a mean right for errors related in time.

    Products of errors weigh less the farther apart they are, and nothing from `reach` on (Newey
    and West, 1987, 'A simple, positive semi-definite, heteroskedasticity and autocorrelation
    consistent covariance matrix'; for forecast losses Diebold and Mariano, 1995).

    Args:
        errors: with a mean of zero, shape (errors, levels).
        positions: ascending row of each, shape (errors,).
        reach: in rows.
        windows: how many separate windows there are; few of them widen the spread.

    Returns:
        Shape (levels,); NaN below two windows.
    """
    if windows <= 1:
        return np.full(errors.shape[1], np.nan)
    laid = np.zeros((int(positions[-1] - positions[0]) + 1, errors.shape[1]))
    laid[positions - positions[0]] = errors
    total = (laid**2).sum(axis=0)
    for lag in range(1, min(reach, len(laid))):
        total += 2 * (1 - lag / reach) * (laid[lag:] * laid[:-lag]).sum(axis=0)
    variance = np.maximum(total, 0.0) / len(errors) * windows / (windows - 1)
    spread: FloatArray = np.sqrt(variance)
    return spread
