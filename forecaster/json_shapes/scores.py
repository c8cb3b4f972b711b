"""What `tidecast backtest`, `doctor` and `demo` print."""

from typing import Literal

from forecaster.json_shapes.base import MaybeByLevel, Shape, Span
from forecaster.json_shapes.forecasts import ForecastOfPool, NoForecastOfPool


class ScoreOfModel(Shape):
    """How one model did on one pool; null where there was nothing to score."""

    pool: str
    """The pool."""

    model_name: str
    """Which model."""

    origins: int
    """Forecasts of the peak that were scored."""

    peak_pinball_gpus: MaybeByLevel
    """Mean pinball loss of the peak, by quantile level."""

    peak_pinball_ratio: MaybeByLevel
    """The same over the loss of the yardstick, persistence, on the same origins; less is better."""

    peak_coverage: MaybeByLevel
    """Share of peaks at or below the quantile; at level 0.9, 0.9 would be perfect."""

    peak_coverage_below: MaybeByLevel
    """Share of peaks strictly below the quantile; many peaks are exactly the demand of now."""

    wql: float | None
    """Weighted quantile loss of the path, over all steps and levels."""

    wql_ratio: float | None
    """The same over the yardstick's."""

    mae_gpus: float | None
    """Mean absolute error of the path's median."""


class BacktestAnswer(Shape):
    """Printed by `tidecast backtest`."""

    tested: Span
    """The stretch in which every step was an origin."""

    scores: list[ScoreOfModel]
    """One entry per pool and model."""

    report: str | None
    """Where the report was written."""

    forecasts: str | None
    """Where the forecasts were written."""

    warnings: list[str]
    """What else to know, one line each."""


class Check(Shape):
    """One thing that `doctor` looked at."""

    name: str
    """What was looked at."""

    status: Literal["ok", "warning", "problem"]
    """Whether it is fine, worth knowing, or in the way of a forecast."""

    finding: str
    """What was found."""

    remedy: str | None
    """What to do about it; null where nothing is needed."""


class DoctorAnswer(Shape):
    """Printed by `tidecast doctor`."""

    ready: bool
    """Whether nothing is in the way of a forecast."""

    checks: list[Check]
    """What was looked at, in order."""


class DemoAnswer(Shape):
    """Printed by `tidecast demo`."""

    data_directory: str
    """Where the demo's history and models lie."""

    forecasts: list[ForecastOfPool | NoForecastOfPool]
    """As `tidecast forecast` prints them."""

    scores: list[ScoreOfModel]
    """As `tidecast backtest` prints them."""

    report: str
    """Where the report lies."""
