"""What models would have said: a rolling origin at every step, refitted as they are in operation.

Each forecast is made by a fit that saw only rows before the fit's own origin, from features that
saw only rows before the forecast's. Nothing here may hand a model more than that.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from features.baselines import DAY_SECONDS
from features.errors import BadInput
from features.panel import DemandPanel
from features.series import FloatArray, IntArray
from models.adjustments import adjusted
from models.forecast import QuantileArrays
from models.persistence import Persistence, persistence_over_all_history
from models.protocol import Context, ContinuingModel, Model
from models.scores import PoolScore, pool_scores
from models.targets import Targets, now_gpus, targets_of

Progress = Callable[[str, int, int], None]
"""Called with a model's name, how many refits are done, and how many there are."""

Replays = Callable[
    [DemandPanel, Sequence[Model], Context, IntArray, Progress], Sequence[QuantileArrays]
]
"""Replays several models over the same origins: what `replay` says of each, in their order."""

YARDSTICKS: tuple[Model, ...] = (Persistence(), persistence_over_all_history())


@dataclass(frozen=True, eq=False)
class BacktestResult:
    """What models said from each origin, and what came.

    Attributes:
        panel: the history that was replayed.
        context: horizon, calendar and events.
        origins: indices into the panel's rows, shape (origins,).
        forecasts: by model name; the yardsticks are always among them.
        actual_peak: highest demand of each window, shape (pools, origins).
        actual_path: demand of each future step, shape (pools, origins, steps).
        now_gpus: demand at each origin, shape (pools, origins).
    """

    panel: DemandPanel
    context: Context
    origins: IntArray
    forecasts: Mapping[str, QuantileArrays]
    actual_peak: FloatArray
    actual_path: FloatArray
    now_gpus: FloatArray


def no_progress(model: str, done: int, of: int) -> None:
    """Tells nobody."""


def replay_in_turn(
    panel: DemandPanel,
    models: Sequence[Model],
    context: Context,
    origins: IntArray,
    progress: Progress = no_progress,
) -> list[QuantileArrays]:
    """Replay one model after the other, and tell of every refit."""
    return [replay(panel, model, context, origins, progress) for model in models]


def backtest(
    panel: DemandPanel,
    models: Sequence[Model],
    context: Context,
    days: float,
    progress: Progress = no_progress,
    *,
    replays: Replays = replay_in_turn,
) -> BacktestResult:
    """Replay the last days of a panel with each model, and with the yardsticks.

    Args:
        panel: history of the pools; what lies before the last days is there to learn from.
        models: what to replay.
        context: horizon, calendar and events.
        days: how many days to replay, an origin at every step.
        progress: told of what is under way.
        replays: who replays the models; the yardsticks, which cost little, are replayed here.

    Raises:
        BadInput: the history is not longer than the days to replay.
    """
    replayed = int(days * DAY_SECONDS / panel.step_seconds)
    first = len(panel) - replayed
    if replayed < 1 or first < context.horizon.steps + 1:
        held = len(panel) * panel.step_seconds / DAY_SECONDS
        raise BadInput(
            f"{held:.1f} days of history cannot replay the last {days:g} days and still have some "
            "to learn from; give fewer --days or more history"
        )
    origins = np.arange(first, len(panel), dtype=np.int64)
    simple = {one.name: replay(panel, one, context, origins, progress) for one in YARDSTICKS}
    asked = {one.name: one for one in models if one.name not in simple}
    said = replays(panel, list(asked.values()), context, origins, progress)
    # what users get has rare days worked in; the yardsticks stay as simple as they are
    judged = {
        name: adjusted(one, panel, origins, context) for name, one in zip(asked, said, strict=True)
    }
    came = targets_of(panel, origins, context.horizon)
    return BacktestResult(
        panel=panel,
        context=context,
        origins=origins,
        forecasts=simple | judged,
        actual_peak=came.peak,
        actual_path=came.path,
        now_gpus=now_gpus(panel, origins),
    )


def replay(
    panel: DemandPanel,
    model: Model,
    context: Context,
    origins: IntArray,
    progress: Progress = no_progress,
) -> QuantileArrays:
    """What one model would have said from each origin, refitted when its fit grew too old."""
    out = QuantileArrays.unavailable(len(panel.pools), len(origins), context.horizon)
    rows_per_fit = max(1, model.refit_seconds // panel.step_seconds)
    starts = range(0, len(origins), rows_per_fit)
    current = model
    for done, start in enumerate(starts, 1):
        some = slice(start, start + rows_per_fit)
        fitted = current.fit(panel.before(int(origins[start])), context)
        if isinstance(current, ContinuingModel):
            current = current.continued_from(fitted)
        said = fitted.predict(panel, origins[some], context)
        out.path[:, some] = said.path
        out.peak[:, some] = said.peak
        progress(model.name, done, len(starts))
    return out


def scores(result: BacktestResult) -> tuple[PoolScore, ...]:
    """The score of every model on every pool, against the better of the yardsticks."""
    came = Targets(path=result.actual_path, peak=result.actual_peak)
    yardsticks = [result.forecasts[one.name] for one in YARDSTICKS]
    return tuple(
        score
        for name, forecasts in result.forecasts.items()
        for score in pool_scores(name, result.panel.pools, forecasts, came, yardsticks)
    )
