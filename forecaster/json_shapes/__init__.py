"""The shapes that `--output json` prints: the part of the command line that programs rely on.

Fields may be added; none may change its name, its type or its meaning without a line in the
changelog. `docs/reference/json.md` is written from these files.
"""

from forecaster.json_shapes.announcements import (
    AnnouncementAnswer,
    AnnouncementsAnswer,
    CalendarAnswer,
)
from forecaster.json_shapes.audit import (
    DecisionAnswer,
    DecisionReason,
    DecisionsAnswer,
    ExplanationAnswer,
    RecordedAction,
    RecordedDecision,
)
from forecaster.json_shapes.backups import BackupAnswer
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
from forecaster.json_shapes.jobs import JobAnswer, JobsAnswer, RunOfJob, ScheduledJob
from forecaster.json_shapes.plans import (
    ActAnswer,
    NodePoolPlan,
    PlanAnswer,
    PlannedLater,
    PlanOfPool,
    PlanReason,
    RequestOutcome,
)
from forecaster.json_shapes.policies import (
    PoliciesAnswer,
    PolicyAnswer,
    PolicyChangeAnswer,
    PolicyDiffAnswer,
    ShadowOffAnswer,
    StoredPolicy,
)
from forecaster.json_shapes.scores import (
    BacktestAnswer,
    Check,
    DemoAnswer,
    DoctorAnswer,
    ScoreOfModel,
)
from forecaster.json_shapes.tokens import KnownToken, TokenAnswer, TokensAnswer
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
    BackupAnswer,
    PlanAnswer,
    ActAnswer,
    PoliciesAnswer,
    PolicyAnswer,
    PolicyChangeAnswer,
    PolicyDiffAnswer,
    ShadowOffAnswer,
    DecisionsAnswer,
    DecisionAnswer,
    ExplanationAnswer,
    AnnouncementAnswer,
    AnnouncementsAnswer,
    CalendarAnswer,
    JobsAnswer,
    JobAnswer,
    TokenAnswer,
    TokensAnswer,
    KnownToken,
)

__all__ = [
    "ANSWERS",
    "ActAnswer",
    "AnnouncementAnswer",
    "AnnouncementsAnswer",
    "BacktestAnswer",
    "BackupAnswer",
    "CalendarAnswer",
    "Check",
    "ComparedMeasure",
    "DecisionAnswer",
    "DecisionReason",
    "DecisionsAnswer",
    "DemoAnswer",
    "DoctorAnswer",
    "ExplanationAnswer",
    "ForecastAnswer",
    "ForecastOfPool",
    "HeldPool",
    "HistoryAnswer",
    "ImportAnswer",
    "ImportedFile",
    "ImportedPool",
    "JobAnswer",
    "JobsAnswer",
    "KnownToken",
    "MaybeByLevel",
    "ModelAnswer",
    "ModelVersion",
    "ModelsAnswer",
    "NoForecastOfPool",
    "NodePoolPlan",
    "PathStep",
    "PlanAnswer",
    "PlanOfPool",
    "PlanReason",
    "PlannedLater",
    "PoliciesAnswer",
    "PolicyAnswer",
    "PolicyChangeAnswer",
    "PolicyDiffAnswer",
    "PromotionAnswer",
    "PullAnswer",
    "Quantiles",
    "RecordedAction",
    "RecordedDecision",
    "RequestOutcome",
    "RunOfJob",
    "ScheduledJob",
    "ScoreOfModel",
    "ShadowOffAnswer",
    "Shape",
    "Span",
    "StoredPolicy",
    "TokenAnswer",
    "TokensAnswer",
    "TrainAnswer",
    "TrainedModel",
]
