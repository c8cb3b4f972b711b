"""What people know and models have not learned: rare days multiply a rise, events add to it.

Applied to what a model said, after it said it. An adjustment only ever raises a forecast: a day
off or a factor below one may be wrong, and fewer GPUs than the model asked for is the dear mistake.
"""

from dataclasses import dataclass

import numpy as np

from features.baselines import DAY_SECONDS
from features.calendar import DayFlag
from features.events import EventKind, KnownEvent
from features.panel import DemandPanel
from features.series import FloatArray, IntArray
from models.forecast import QuantileArrays
from models.protocol import Context
from models.targets import now_gpus

LEARNED_AFTER_DAYS = 3
"""So many days with a flag in its history, and a model is taken to have learned them itself."""


def adjusted(
    said: QuantileArrays, panel: DemandPanel, origins: IntArray, context: Context
) -> QuantileArrays:
    """A model's forecasts with rare days and known events worked in.

    Args:
        said: what the model said.
        panel: history; only rows before each origin are read.
        origins: row indices, shape (origins,).
        context: horizon, calendar (whose settings hold the multipliers) and events.
    """
    return with_events(with_flags(said, panel, origins, context), panel, origins, context)


def with_flags(
    said: QuantileArrays, panel: DemandPanel, origins: IntArray, context: Context
) -> QuantileArrays:
    """A model's forecasts with the rise of rare days multiplied; arguments as for `adjusted`."""
    factor = flag_factors(panel, origins, context)
    now = now_gpus(panel, origins)
    in_window = factor[:, : context.horizon.peak_steps].max(axis=-1)
    path = _raised(said.path, now[..., None, None], factor[None, :, :, None])
    peak = _raised(said.peak, now[..., None], in_window[None, :, None])
    return QuantileArrays(path, peak).made_valid()


def flag_factors(panel: DemandPanel, origins: IntArray, context: Context) -> FloatArray:
    """By how much each future step's rise is multiplied, shape (origins, steps); 1 = not at all.

    A step carries the largest multiplier of the flags of its local day, leaving out flags whose
    days the history before the origin has held often enough.
    """
    steps = context.horizon.steps
    factor = np.ones((len(origins), steps))
    if not panel.has_calendar:
        return factor
    calendar = context.calendar
    ahead = panel.seconds_at(origins)[:, None] + panel.step_seconds * np.arange(steps)
    days = _Days.of(panel, int(origins.max()), context)
    for flag, active in calendar.flags(ahead).items():
        multiplier = calendar.settings.multipliers[flag]
        if multiplier > 1 and active.any():
            rare = days.seen_before(flag, panel.seconds_at(origins), context) < LEARNED_AFTER_DAYS
            factor = np.where(active & rare[:, None], np.maximum(factor, multiplier), factor)
    return factor


@dataclass(frozen=True, eq=False)
class _Days:
    """One instant in each local day of the history."""

    noon_seconds: IntArray

    @classmethod
    def of(cls, panel: DemandPanel, stop: int, context: Context) -> "_Days":
        every = max(1, 3_600 // panel.step_seconds)
        hours = panel.seconds_at(np.arange(0, stop, every))
        days = context.calendar.local_day(hours)
        _, first = np.unique(days, return_index=True)
        return cls(hours[first])

    def seen_before(self, flag: DayFlag, seconds: IntArray, context: Context) -> IntArray:
        """How many whole days with the flag lie before each instant."""
        flagged = self.noon_seconds[context.calendar.flags(self.noon_seconds)[flag]]
        return np.searchsorted(flagged + DAY_SECONDS, seconds, side="right").astype(np.int64)


def _raised(quantiles: FloatArray, now: FloatArray, factor: FloatArray) -> FloatArray:
    rise = quantiles - now
    return now + np.where(rise > 0, rise * factor, rise)


def with_events(
    said: QuantileArrays, panel: DemandPanel, origins: IntArray, context: Context
) -> QuantileArrays:
    """A model's forecasts raised by the events known at each origin; as for `adjusted`."""
    horizon = context.horizon
    path, peak = said.path.copy(), said.peak.copy()
    for column, origin in enumerate(panel.seconds_at(origins)):
        until = int(origin) + horizon.steps * panel.step_seconds
        for row, pool in enumerate(panel.pools):
            for event in context.events.known_at(pool, int(origin), until):
                steps = _steps_touched(event, int(origin), panel.step_seconds, horizon.steps)
                path[row, column, steps] = _with_event(path[row, column, steps], event, int(origin))
                if steps.start < horizon.peak_steps:
                    peak[row, column] = _with_event(peak[row, column], event, int(origin))
    return QuantileArrays(path, peak).made_valid()


def _steps_touched(event: KnownEvent, origin: int, step_seconds: int, steps: int) -> slice:
    first = max(0, (event.start_seconds - origin) // step_seconds)
    stop = -(-(event.end_seconds - origin) // step_seconds)
    return slice(first, max(first, min(stop, steps)))


def _with_event(quantiles: FloatArray, event: KnownEvent, origin: int) -> FloatArray:
    """Quantiles with an event; what already began is in the level now, but for its floor."""
    if event.kind is EventKind.ABSOLUTE:
        return np.maximum(quantiles, event.amount)
    if event.start_seconds < origin:
        return quantiles
    if event.kind is EventKind.FACTOR:
        return quantiles * max(event.amount, 1.0)
    return quantiles + max(event.amount, 0.0)
