"""The shapes that `--output json` prints: the part of the command line that programs rely on.

Fields may be added; none may change its name, its type or its meaning without a line in the
changelog. `docs/reference/json.md` is written from these files.
"""

from forecaster.json_shapes.base import MaybeByLevel, Quantiles, Shape, Span
from forecaster.json_shapes.forecasts import (
    ForecastAnswer,
    ForecastOfPool,
    NoForecastOfPool,
    PathStep,
)
from forecaster.json_shapes.history import (
    HeldPool,
    HistoryAnswer,
    ImportAnswer,
    ImportedFile,
    ImportedPool,
    PullAnswer,
)
from forecaster.json_shapes.scores import (
    BacktestAnswer,
    Check,
    DemoAnswer,
    DoctorAnswer,
    ScoreOfModel,
)
from forecaster.json_shapes.training import (
    ComparedMeasure,
    ModelAnswer,
    ModelsAnswer,
    ModelVersion,
    PromotionAnswer,
    TrainAnswer,
    TrainedModel,
)

ANSWERS: tuple[type[Shape], ...] = (
    ForecastAnswer,
    HistoryAnswer,
    PullAnswer,
    ImportAnswer,
    TrainAnswer,
    ModelsAnswer,
    ModelAnswer,
    PromotionAnswer,
    BacktestAnswer,
    DoctorAnswer,
    DemoAnswer,
)

__all__ = [
    "ANSWERS",
    "BacktestAnswer",
    "Check",
    "ComparedMeasure",
    "DemoAnswer",
    "DoctorAnswer",
    "ForecastAnswer",
    "ForecastOfPool",
    "HeldPool",
    "HistoryAnswer",
    "ImportAnswer",
    "ImportedFile",
    "ImportedPool",
    "MaybeByLevel",
    "ModelAnswer",
    "ModelVersion",
    "ModelsAnswer",
    "NoForecastOfPool",
    "PathStep",
    "PromotionAnswer",
    "PullAnswer",
    "Quantiles",
    "ScoreOfModel",
    "Shape",
    "Span",
    "TrainAnswer",
    "TrainedModel",
]
