"""The days on which models are judged before one of them is made champion.

Origins lie one peak window apart, so that no window is judged twice. Whoever is judged has seen
nothing of these days: models are fitted on what lies before them.
"""

from dataclasses import dataclass

import numpy as np

from features.baselines import DAY_SECONDS
from features.errors import BadInput
from features.panel import DemandPanel
from features.series import IntArray
from models.adjustments import adjusted
from models.forecast import QuantileArrays
from models.protocol import Context, FittedModel, Model
from models.targets import Targets, targets_of

LARGEST_SHARE = 1 / 3
"""At least two thirds of a short history are left to learn from."""

FEWEST_ORIGINS = 12


@dataclass(frozen=True, eq=False)
class Trial:
    """A stretch of history, kept from those who are judged on it.

    Attributes:
        panel: history up to the end of the judged days.
        context: horizon, calendar and events.
        origins: indices into the panel's rows, shape (origins,), one window apart.
        came: what came after each origin.
    """

    panel: DemandPanel
    context: Context
    origins: IntArray
    came: Targets

    @property
    def start_seconds(self) -> int:
        """Unix time from which on nobody who is judged has seen anything."""
        return int(self.panel.seconds_at(int(self.origins[0])))

    @property
    def end_seconds(self) -> int:
        """Unix time at which the judged days are over."""
        return self.panel.end_seconds

    def unseen(self, model: Model) -> QuantileArrays:
        """What a model says of the judged days when it has learned from those before them."""
        fitted = model.fit(self.panel.before(int(self.origins[0])), self.context)
        return self.said_by(fitted)

    def said_by(self, fitted: FittedModel) -> QuantileArrays:
        """What users would have got of a fitted model on the judged days, rare days worked in."""
        said = fitted.predict(self.panel, self.origins, self.context)
        return adjusted(said, self.panel, self.origins, self.context)

    def blocks(self, wanted: int) -> IntArray:
        """The block of each origin: a day each, or shorter so that there are as many as wanted.

        Returns:
            Numbers from 0 on, shape (origins,).
        """
        seconds = self.panel.seconds_at(self.origins) - self.start_seconds
        span = self.end_seconds - self.start_seconds
        return np.asarray(seconds // min(DAY_SECONDS, max(1, -(-span // wanted))), dtype=np.int64)


def trial_of(panel: DemandPanel, context: Context, days: float) -> Trial:
    """The last days of a panel, or its last third where it is short.

    Args:
        panel: history of the pools.
        context: horizon, calendar and events.
        days: how many days to judge on.

    Raises:
        BadInput: the history is too short to keep anything of it from those who are judged.
    """
    window = context.horizon.peak_steps
    rows = min(int(days * DAY_SECONDS / panel.step_seconds), int(len(panel) * LARGEST_SHARE))
    origins = np.arange(len(panel) - rows, len(panel) - window + 1, window, dtype=np.int64)
    if len(origins) < FEWEST_ORIGINS:
        held = len(panel) * panel.step_seconds / 3_600
        raise BadInput(f"{held:.1f} h of history are too few to judge any model on a part of them")
    return Trial(panel, context, origins, targets_of(panel, origins, context.horizon))
