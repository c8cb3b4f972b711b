"""The shapes that `--output json` prints: the part of the command line that programs rely on.

Fields may be added; none may change its name, its type or its meaning without a line in the
changelog. `docs/reference/json.md` is written from this file.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict

Quantiles = dict[str, float]
MaybeByLevel = dict[str, float | None]


class Shape(BaseModel):
    """Base of every shape: no field that is not written here."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Span(Shape):
    """A stretch of time."""

    start_seconds: int
    """Unix time, UTC, or seconds since the trace began, at which it begins."""

    end_seconds: int
    """When it is over."""


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


class HeldPool(Shape):
    """What the store holds of one pool."""

    pool: str
    """The pool."""

    start: str | None
    """When its history begins, ISO 8601 in UTC; null where times are no dates."""

    end: str | None
    """When its newest step closes."""

    start_seconds: int
    """When its history begins, in seconds."""

    end_seconds: int
    """When its newest step closes, in seconds."""

    step_seconds: int
    """Spacing of its series."""

    observed_share: float
    """Share of steps that were observed, 0 to 1."""

    zero_share: float
    """Share of observed steps without any demand, 0 to 1."""

    gaps: list[Span]
    """Stretches that were not observed."""

    capped_steps: int
    """Steps in which a full cluster or a quota may have hidden demand."""


class HistoryAnswer(Shape):
    """Printed by `tidecast history show`."""

    data_directory: str
    """Where the history lies."""

    pools: list[HeldPool]
    """One entry per pool, in the order of their names."""

    problems: list[str]
    """Files that cannot be read, one line each."""


class PullAnswer(Shape):
    """Printed by `tidecast history pull`."""

    source: str
    """Which source was asked."""

    asked_spans: list[Span]
    """The stretches that were missing and were asked for; empty when nothing was."""

    pools: list[str]
    """The pools in the answer."""

    observed_steps: int
    """Observed steps in the answer, all pools together."""

    warnings: list[str]
    """What the source said beside its answer, one line each."""


class ImportedPool(Shape):
    """What a file said about one pool."""

    pool: str
    """The pool."""

    start_seconds: int
    """When what it said begins."""

    end_seconds: int
    """When it is over."""

    observed_steps: int
    """Steps whose demand it gave."""


class ImportedFile(Shape):
    """What was taken from one file."""

    file: str
    """The file, as it was given."""

    kind: Literal["jobs", "demand"]
    """Whether it lists jobs or demand."""

    step_seconds: int
    """Spacing of the series made from it."""

    pools: list[ImportedPool]
    """One entry per pool."""

    warnings: list[str]
    """What to know about it, one line each."""


class ImportAnswer(Shape):
    """Printed by `tidecast history import`."""

    files: list[ImportedFile]
    """One entry per file, in the order given."""


class TrainedModel(Shape):
    """One model that has learned."""

    model_name: str
    """Which model."""

    model_version: str
    """The version it was saved as."""


class TrainAnswer(Shape):
    """Printed by `tidecast train`."""

    models: list[TrainedModel]
    """The models, in the order of the zoo."""

    pools: list[str]
    """The pools they learned from."""

    trained: Span
    """The history they learned from."""

    warnings: list[str]
    """What else to know, one line each."""


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


ANSWERS: tuple[type[Shape], ...] = (
    ForecastAnswer,
    HistoryAnswer,
    PullAnswer,
    ImportAnswer,
    TrainAnswer,
    BacktestAnswer,
    DoctorAnswer,
    DemoAnswer,
)
