"""What `tidecast forecast` prints."""

from typing import Literal

from forecaster.json_shapes.base import Quantiles, Shape


class PathStep(Shape):
    """The forecast of one future step."""

    seconds_ahead: int
    """When the step closes, counted from the origin."""

    demand_gpus: Quantiles
    """Demand by quantile level, such as `"0.9"`."""


class ForecastOfPool(Shape):
    """What one pool will need."""

    available: Literal[True] = True
    """Always true here: there is a forecast."""

    pool: str
    """The pool, such as `a100/whole-node`."""

    origin: str | None
    """The last observed instant it used, ISO 8601 in UTC; null where times are no dates."""

    origin_seconds: int
    """The same in seconds."""

    now_gpus: float
    """Demand at the origin."""

    peak_window_seconds: int
    """Length of the window after the origin whose peak is forecast."""

    peak_gpus: Quantiles
    """Highest demand within the window, by quantile level."""

    path: list[PathStep]
    """Demand per future step, up to the horizon."""

    model_name: str
    """Which model made it."""

    model_version: str
    """Which version of that model."""

    history_seconds: int
    """Span of the pool's history up to the origin."""

    observed_share: float
    """Share of that history's steps that were observed, 0 to 1."""

    last_observed_seconds: int
    """When the newest observed step closed."""

    notes: list[str]
    """What to know before trusting it."""

    explanation_gpus: dict[str, float]
    """Additive parts of the median peak, by name."""

    sentence: str
    """The same in plain words."""


class NoForecastOfPool(Shape):
    """A pool whose demand cannot be said; this never stands for zero."""

    available: Literal[False] = False
    """Always false here: there is no forecast."""

    pool: str
    """The pool."""

    reason: str
    """Why there is no forecast, and what would make one possible."""


class ForecastAnswer(Shape):
    """Printed by `tidecast forecast`."""

    forecasts: list[ForecastOfPool | NoForecastOfPool]
    """One entry per pool, in the order of their names."""

    warnings: list[str]
    """What else to know, one line each."""
