"""What every model of the zoo can do, so that the rest never asks which one it has.

A model is a value with settings; fitting it on a panel returns a fitted model, which forecasts any
pool of any panel from any origins. Neither may read a row at or after an origin it forecasts from.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from features.calendar import ClusterCalendar
from features.events import KnownEvents
from features.panel import DemandPanel
from features.series import IntArray
from models.forecast import Horizon, QuantileArrays


@dataclass(frozen=True)
class Context:
    """What a model may know beside the history.

    Attributes:
        horizon: steps and window of the forecast.
        calendar: holidays and marked days, in the cluster's time zone.
        events: future demand that is known beforehand.
    """

    horizon: Horizon
    calendar: ClusterCalendar
    events: KnownEvents


class FittedModel(Protocol):
    """A model that has learned; immutable."""

    def predict(self, panel: DemandPanel, origins: IntArray, context: Context) -> QuantileArrays:
        """Forecast every pool of the panel from every origin.

        Args:
            panel: history; rows at or after an origin are not read for that origin.
            origins: indices into the panel's rows (its length is the newest), shape (origins,).
            context: horizon, calendar and events.

        Returns:
            Quantiles in GPUs, NaN where the model cannot say.
        """
        ...

    def artifact(self) -> Mapping[str, bytes]:
        """The learned state as plain files by name: text, JSON or arrays, never code."""
        ...


class Model(Protocol):
    """A model that can be fitted; its fields are its settings."""

    @property
    def name(self) -> str:
        """What users call the model by."""
        ...

    @property
    def refit_seconds(self) -> int:
        """How old a fit may become before it is made again."""
        ...

    def fit(self, panel: DemandPanel, context: Context) -> FittedModel:
        """Learn from all rows of the panel; pools with too little history are left out."""
        ...

    def restore(self, artifact: Mapping[str, bytes]) -> FittedModel:
        """The inverse of `FittedModel.artifact`.

        Raises:
            BadInput: the files are not this model's.
        """
        ...


@runtime_checkable
class ContinuingModel(Protocol):
    """A model whose next fit takes up what the last one has learned of its own errors."""

    def continued_from(self, previous: FittedModel) -> Model:
        """The model that goes on from an earlier fit, which must not be younger than the panel."""
        ...


@runtime_checkable
class ThreadedModel(Protocol):
    """A model that can use several threads to fit; what it learns does not depend on how many."""

    def with_threads(self, threads: int) -> Model:
        """The same model, fitting with so many threads."""
        ...


def with_threads(model: Model, threads: int) -> Model:
    """A model that fits with so many threads, if it can use more than one at all."""
    return model.with_threads(threads) if isinstance(model, ThreadedModel) else model
