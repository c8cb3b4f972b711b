"""What a model would have said from origins that need not be a step apart, and what it cost.

The twin of `models.backtest.replay` for slow peers: refitted as old as they may become, told of
every row in between, asked only now and then. Time is the processor's, since machines are shared.
"""

import time
from dataclasses import dataclass

import numpy as np

from features.panel import DemandPanel
from features.series import IntArray
from models.forecast import QuantileArrays
from models.protocol import Context, ContinuingModel, Model


@dataclass(frozen=True, eq=False)
class Replay:
    """What one model said, and what it took.

    Attributes:
        forecasts: from each origin.
        fit_seconds: of the processor, for all fits.
        predict_seconds: of the processor, for all forecasts.
        fits: how many there were.
    """

    forecasts: QuantileArrays
    fit_seconds: float
    predict_seconds: float
    fits: int


def sparse_replay(panel: DemandPanel, model: Model, context: Context, origins: IntArray) -> Replay:
    """Fit and forecast as in operation.

    Args:
        panel: the history; a fit sees only rows before its first origin.
        model: what to replay.
        context: horizon, calendar and events.
        origins: indices into the panel's rows, ascending.
    """
    out = QuantileArrays.unavailable(len(panel.pools), len(origins), context.horizon)
    age_seconds = (origins - origins[0]) * panel.step_seconds
    turn = age_seconds // model.refit_seconds
    current, fit_seconds, predict_seconds = model, 0.0, 0.0
    for one in np.unique(turn):
        some = np.flatnonzero(turn == one)
        before = time.process_time()
        fitted = current.fit(panel.before(int(origins[some[0]])), context)
        between = time.process_time()
        said = fitted.predict(panel, origins[some], context)
        after = time.process_time()
        fit_seconds += between - before
        predict_seconds += after - between
        out.path[:, some], out.peak[:, some] = said.path, said.peak
        if isinstance(current, ContinuingModel):
            current = current.continued_from(fitted)
    return Replay(out, fit_seconds, predict_seconds, len(np.unique(turn)))
