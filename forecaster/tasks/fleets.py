"""Many fits at once: the clusters of a fleet, or the models of a backtest.

Each is one piece of work, with one thread where others run beside it. Pieces know nothing of one
another, so that what comes out does not depend on where they ran or which was done first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from features.errors import TidecastError
from features.panel import DemandPanel
from features.series import IntArray
from forecaster.fan_out import FanOut, Told
from models.backtest import Progress, Replays, no_progress, replay, replay_in_turn
from models.boosting import load_lightgbm
from models.forecast import QuantileArrays
from models.protocol import Context, FittedModel, Model, with_threads


@dataclass(frozen=True, eq=False)
class Cluster:
    """What a model learns a cluster from.

    Attributes:
        panel: history of its pools.
        context: horizon, and the cluster's own calendar and events.
    """

    panel: DemandPanel
    context: Context


def fit_clusters(
    fan_out: FanOut,
    model: Model,
    clusters: Mapping[str, Cluster],
    progress: Progress = no_progress,
) -> dict[str, FittedModel]:
    """Fit one model to each cluster of a fleet.

    Args:
        fan_out: where.
        model: what is fitted.
        clusters: by name.
        progress: told of the clusters under way.

    Returns:
        What was learned of each, by name, in the order of the clusters.

    Raises:
        TidecastError: of the kind that a fit raised, with the cluster's name before its text.
    """
    load_lightgbm()  # here, since in a thread it would hide libraries from the other threads
    names = list(clusters)
    fit = partial(_fit, with_threads(model, fan_out.threads_each(len(names))))
    fitted = fan_out.map(fit, list(clusters.items()), _told(names, progress))
    return dict(zip(names, fitted, strict=True))


def replays_with(fan_out: FanOut) -> Replays:
    """A backtest's models replayed at once, a model being one piece of work."""

    def replayed(
        panel: DemandPanel,
        models: Sequence[Model],
        context: Context,
        origins: IntArray,
        progress: Progress,
    ) -> Sequence[QuantileArrays]:
        threads = fan_out.threads_each(len(models))
        models = [with_threads(model, threads) for model in models]
        if fan_out.at_once(len(models)) <= 1:
            return replay_in_turn(panel, models, context, origins, progress)
        load_lightgbm()  # as above
        work = partial(replay, panel, context=context, origins=origins)
        return fan_out.map(work, models, _told([model.name for model in models], progress))

    return replayed


def _fit(model: Model, named: tuple[str, Cluster]) -> FittedModel:
    name, cluster = named
    try:
        return model.fit(cluster.panel, cluster.context)
    except TidecastError as error:
        raise type(error)(f"{name}: {error}") from error


def _told(names: Sequence[str], progress: Progress) -> Told:
    """Says which are still under way, whenever one of them is done."""
    left = list(names)

    def say(last: str = "") -> None:
        progress(", ".join(left) or last, len(names) - len(left), len(names))

    def told(index: int) -> None:
        left.remove(names[index])
        say(names[index])

    if left:
        say()
    return told
