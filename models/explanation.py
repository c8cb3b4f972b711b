"""Why a forecast is what it is: parts in GPUs that add up to it, and a sentence.

The expected rise is split between the tide and what is recent: the tide gets what the seasonal
baseline of the last 30 days explains of it, the recent past the rest. It is an account of the
forecast, not of the models' insides.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from features.baselines import DAILY, seasonal_change
from features.panel import DemandPanel
from models.adjustments import with_events, with_flags
from models.forecast import QUANTILE_LEVELS, QuantileArrays
from models.protocol import Context
from models.targets import now_gpus

MEDIAN = QUANTILE_LEVELS.index(0.5)


@dataclass(frozen=True)
class Explanation:
    """The peak of the window, taken apart; GPUs.

    Attributes:
        now_gpus: the level at the origin.
        seasonal_gpus: what the time of day explains of the expected rise.
        slope_gpus: the rest of the expected rise: recent slopes, queue and submissions.
        calendar_gpus: what holidays and marked days add to the median.
        events_gpus: what known events add to the median.
        width_gpus: by quantile level, how far that quantile lies from the median.
    """

    now_gpus: float
    seasonal_gpus: float
    slope_gpus: float
    calendar_gpus: float
    events_gpus: float
    width_gpus: Mapping[float, float]

    def parts(self) -> dict[str, float]:
        """The parts that add up to the median, by name."""
        return {
            "now": self.now_gpus,
            "seasonal": self.seasonal_gpus,
            "slope": self.slope_gpus,
            "calendar": self.calendar_gpus,
            "events": self.events_gpus,
        }

    def peak_at(self, level: float) -> float:
        """A quantile of the peak, put together again."""
        return sum(self.parts().values()) + self.width_gpus[level]

    def sentence(self, window_minutes: int) -> str:
        """The same in plain words, for a window of so many minutes."""
        reasons = {
            "the time of day": self.seasonal_gpus,
            "what has been happening": self.slope_gpus,
            "the calendar": self.calendar_gpus,
            "what was announced or scheduled": self.events_gpus,
        }
        said = [
            f"{reason} {'adds' if gpus > 0 else 'takes'} {abs(gpus):.0f}"
            for reason, gpus in reasons.items()
            if round(abs(gpus)) >= 1
        ]
        why = ", ".join(said) if said else "nothing speaks for a change"
        return (
            f"{self.now_gpus:g} GPUs now; {why}; nine times in ten the next {window_minutes} "
            f"minutes stay at or below {round(self.peak_at(0.9), 1):g}."
        )


def explained(
    said: QuantileArrays, panel: DemandPanel, origin: int, context: Context
) -> tuple[QuantileArrays, Explanation]:
    """A model's forecast of one pool with rare days and events worked in, and its account.

    Args:
        said: what the model said of the panel's only pool from the origin.
        panel: history of one pool; only rows before the origin are read.
        origin: row index.
        context: horizon, calendar and events.

    Returns:
        The final quantiles and the parts of their peak.
    """
    origins = np.array([origin])
    with_calendar = with_flags(said, panel, origins, context)
    final = with_events(with_calendar, panel, origins, context)
    now = float(now_gpus(panel, origins)[0, 0])
    model, flagged, last = (float(one.peak[0, 0, MEDIAN]) for one in (said, with_calendar, final))
    seasonal = _explained_by_the_tide(model - now, panel, origin, context)
    return final, Explanation(
        now_gpus=now,
        seasonal_gpus=seasonal,
        slope_gpus=model - now - seasonal,
        calendar_gpus=flagged - model,
        events_gpus=last - flagged,
        width_gpus={
            level: float(value) - last
            for level, value in zip(QUANTILE_LEVELS, final.peak[0, 0], strict=True)
        },
    )


def _explained_by_the_tide(
    rise_gpus: float, panel: DemandPanel, origin: int, context: Context
) -> float:
    """What the baseline's own rise explains of an expected rise: never more than all of it.

    A baseline that is not known explains nothing, and the whole rise counts as recent.
    """
    ahead = np.arange(1, context.horizon.peak_steps + 1)
    change = seasonal_change(panel, np.array([origin]), ahead, DAILY, context.calendar)[0, 0]
    known = change[np.isfinite(change)]
    if not len(known):
        return 0.0
    usual = float(known.max())
    return float(np.clip(usual, min(rise_gpus, 0.0), max(rise_gpus, 0.0)))
