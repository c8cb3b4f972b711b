"""Series as Prometheus has them: labels, and the value that holds at any moment.

Values hold until the next sample is due, and a sample that is known to be missing ends the one
before it, as a stale marker does. No gap is ever filled.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from features.series import FloatArray
from forecaster.api.prom.matchers import Labels

LOOK_BACK_SECONDS = 300
"""As in Prometheus: how long a value holds when no newer one comes."""

Moments = FloatArray
"""Unix times in seconds, ascending, shape (moments,)."""


Stretch = tuple[float, float, float]
"""Begin and end (exclusive) in seconds, and the value that holds between them."""


@dataclass(frozen=True)
class Series:
    """One series.

    Attributes:
        labels: its name as `__name__`, and its other labels.
        at: the value at each moment, NaN where there is none; shape (moments,).
    """

    labels: Labels
    at: Callable[[Moments], FloatArray]


@dataclass(frozen=True, eq=False)
class Samples:
    """Values with their times.

    Attributes:
        times_seconds: Unix time of each, ascending, shape (samples,).
        values: NaN where it is known that there is none; shape (samples,).
        step_seconds: how long after a sample the next is due.
    """

    times_seconds: FloatArray
    values: FloatArray
    step_seconds: int

    def at(self, moments: Moments) -> FloatArray:
        """The newest value at each moment, if it still holds."""
        if not len(self.times_seconds):
            return np.full(len(moments), np.nan)
        rows = np.searchsorted(self.times_seconds, moments, side="right") - 1
        found = np.maximum(rows, 0)
        holds_seconds = max(LOOK_BACK_SECONDS, self.step_seconds)
        holds = (rows >= 0) & (moments - self.times_seconds[found] < holds_seconds)
        return np.where(holds, self.values[found], np.nan)


@dataclass(frozen=True)
class Intervals:
    """Values that hold for stretches of time, and are put together where these overlap.

    Attributes:
        stretches: what holds, and when.
        together: what two that hold at once come to.
    """

    stretches: tuple[Stretch, ...]
    together: Callable[[FloatArray, FloatArray], FloatArray]

    def at(self, moments: Moments) -> FloatArray:
        """What holds at each moment."""
        found = np.full(len(moments), np.nan)
        for begin, end, value in self.stretches:
            first, stop = np.searchsorted(moments, [begin, end])
            held = found[first:stop]
            added = np.full(stop - first, value)
            found[first:stop] = np.where(np.isnan(held), added, self.together(held, added))
        return found


def labelled(name: str, **labels: str) -> Mapping[str, str]:
    """Labels of a series of this name."""
    return {"__name__": name, **labels}
