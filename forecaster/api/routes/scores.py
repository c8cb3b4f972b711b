"""How forecasts did, pool by pool: the newest score and verdict, and how they came about."""

import math
from collections.abc import Mapping
from http import HTTPStatus
from typing import Literal

from fastapi import APIRouter

from features.baselines import DAY_SECONDS
from forecaster.api.parameters import Limit, PoolName, Since, Until, seconds_of
from forecaster.api.problems import responses
from forecaster.api.security import READ, Context
from forecaster.database.scores import KeptScore
from forecaster.json_shapes import MaybeByLevel, Shape
from models.live_score import SpanScore

router = APIRouter(prefix="/v1/scores", tags=["forecasts"], dependencies=[READ])


class ScoreOfSpan(Shape):
    """How forecasts did whose windows closed within one span; null where that is not known."""

    due: int
    """Forecasts that should have closed within the span."""

    made: int
    """Those that said something."""

    scored: int
    """Those of them whose outcome is wholly known."""

    windows: int
    """How many of the scored windows do not overlap: what the score really rests on."""

    coverage: MaybeByLevel
    """Share of peaks at or below the quantile; at level 0.9, 0.9 would be perfect."""

    coverage_below: MaybeByLevel
    """Share of peaks strictly below it; many peaks are exactly the demand of now."""

    coverage_error: MaybeByLevel
    """Standard error that the coverage of true quantiles would have."""

    pinball_gpus: MaybeByLevel
    """Mean pinball loss of the peak."""

    pinball_ratio: MaybeByLevel
    """The same over the loss of 'the same as now'; less is better."""

    ratio_error: MaybeByLevel
    """Standard error of that ratio."""

    bias_gpus: float | None
    """Mean of the median less what came."""


class ScoreOfPool(Shape):
    """One pool's score at one moment, and the verdict that followed."""

    pool: str
    """The pool."""

    scored_seconds: int
    """Unix time of the score."""

    standing: Literal["trust", "caution", "demote"]
    """Whether its forecasts may be acted on."""

    standing_since_seconds: int
    """Unix time since which that holds."""

    reasons: list[str]
    """Why, one line each."""

    models: list[str]
    """Who made the forecasts."""

    spans: dict[str, ScoreOfSpan]
    """By span: the last hour (`1 h`), day (`1 d`) and week (`7 d`)."""


class ScoresAnswer(Shape):
    """Scores."""

    scores: list[ScoreOfPool]
    """By pool and time."""


@router.get("", operation_id="list_scores", summary="The newest score of every pool")
def list_scores(context: Context) -> ScoresAnswer:
    """How the forecasts of every pool did of late, and whether they may be acted on."""
    newest = context.newest_scores()
    return ScoresAnswer(scores=[_shape(newest[pool]) for pool in sorted(newest)])


@router.get(
    "/{pool:path}",
    operation_id="get_scores",
    summary="The scores of one pool over time",
    responses=responses(HTTPStatus.NOT_FOUND),
)
def get_scores(
    *,
    pool: PoolName,
    context: Context,
    since: Since = None,
    until: Until = None,
    limit: Limit = 200,
) -> ScoresAnswer:
    """One score an hour, and each that changed the standing; the last week if no time is given.

    Of more than `limit` the newest are given.
    """
    until_seconds = seconds_of(until, context.clock() + 1)
    since_seconds = seconds_of(since, until_seconds - 7 * DAY_SECONDS)
    found = context.scores.between(context.pool_named(pool), since_seconds, until_seconds)
    return ScoresAnswer(scores=[_shape(one) for one in found[-limit:]])


def _shape(kept: KeptScore) -> ScoreOfPool:
    verdict = kept.verdict
    return ScoreOfPool(
        pool=str(verdict.pool),
        scored_seconds=kept.scored_seconds,
        standing=verdict.standing.value,
        standing_since_seconds=verdict.since_seconds,
        reasons=list(verdict.reasons),
        models=list(kept.score.models),
        spans={name: _span(one) for name, one in kept.score.spans.items()},
    )


def _span(score: SpanScore) -> ScoreOfSpan:
    return ScoreOfSpan(
        due=score.due,
        made=score.made,
        scored=score.scored,
        windows=score.windows,
        coverage=_by_level(score.coverage),
        coverage_below=_by_level(score.coverage_below),
        coverage_error=_by_level(score.coverage_error),
        pinball_gpus=_by_level(score.pinball_gpus),
        pinball_ratio=_by_level(score.pinball_ratio),
        ratio_error=_by_level(score.ratio_error),
        bias_gpus=_known(score.bias_gpus),
    )


def _by_level(values: Mapping[float, float]) -> MaybeByLevel:
    return {f"{level:g}": _known(value) for level, value in values.items()}


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None
