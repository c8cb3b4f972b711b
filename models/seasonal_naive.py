"""'The same as at this time last week' (or yesterday, while a week is not known).

It knows the tide and nothing else, and is there to show what the tide alone is worth. It must not
look at the level now: that is the other simple model's part.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from features.baselines import DAY_SECONDS, Season, seasonal_baseline
from features.panel import DemandPanel
from features.series import FloatArray, IntArray
from models.change import ChangeWithErrors, restored_errors, with_errors
from models.protocol import Context
from models.targets import now_gpus

LAST_WEEK = Season("last_week", (7,))
YESTERDAY = Season("yesterday", (1,))


@dataclass(frozen=True)
class SeasonalChange:
    """The change from now that leads to the level of a week, else of a day, ago."""

    def expected_change(
        self, panel: DemandPanel, origins: IntArray, context: Context
    ) -> FloatArray:
        """Level then minus level now; shape (pools, origins, steps)."""
        ahead = np.arange(1, context.horizon.steps + 1)
        week = seasonal_baseline(panel, origins, ahead, LAST_WEEK, context.calendar)
        day = seasonal_baseline(panel, origins, ahead, YESTERDAY, context.calendar)
        level = np.where(np.isnan(week), day, week)
        return level - now_gpus(panel, origins)[..., None]

    def artifact(self) -> Mapping[str, bytes]:
        """Nothing is learned."""
        return {}


@dataclass(frozen=True)
class SeasonalNaive:
    """Seasonal naive with the quantiles of its own past errors."""

    name: str = "seasonal-naive"
    refit_seconds: int = DAY_SECONDS

    def fit(self, panel: DemandPanel, context: Context) -> ChangeWithErrors:
        """Take the error quantiles from the panel's last days."""
        return with_errors(SeasonalChange(), panel, context)

    def restore(self, artifact: Mapping[str, bytes]) -> ChangeWithErrors:
        """Read back what was saved."""
        return ChangeWithErrors(SeasonalChange(), restored_errors(artifact))
