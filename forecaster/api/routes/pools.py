"""The pools there are, and how each stands now."""

from http import HTTPStatus
from typing import Literal

from fastapi import APIRouter

from features.errors import Unavailable
from features.pool import Pool
from forecaster.api.context import ApiContext
from forecaster.api.parameters import PoolName
from forecaster.api.pool_levels import PoolLevel
from forecaster.api.problems import responses
from forecaster.api.security import READ, Context
from forecaster.json_shapes import Shape

router = APIRouter(prefix="/v1/pools", tags=["pools"], dependencies=[READ])


class PoolNow(Shape):
    """A pool as it is now; null where something is not known."""

    pool: str
    """The pool, such as `a100/whole-node`."""

    gpu_type: str
    """Its GPU type."""

    shape: Literal["whole-node", "fragment", "mixed"]
    """How its jobs use nodes."""

    mode: Literal["forecast-only", "act", "paused"]
    """What may be done for it."""

    demand_gpus: float | None
    """Demand of the newest observed step."""

    capacity_gpus: float | None
    """Allocatable GPUs of its ready, schedulable nodes."""

    observed_seconds: int | None
    """Unix time at which the newest observed step closed."""

    trust: Literal["trust", "caution", "demote"] | None
    """Whether its forecasts may be acted on; null before the first score."""

    has_forecast: bool
    """Whether a forecast of the last hour says something of it."""


class PoolsAnswer(Shape):
    """All pools."""

    pools: list[PoolNow]
    """In the order of their names."""


@router.get("", operation_id="list_pools", summary="All pools")
def list_pools(context: Context) -> PoolsAnswer:
    """Every pool of the history or the policy, and how it stands now."""
    return PoolsAnswer(pools=[_now(context, pool) for pool in context.pools()])


@router.get(
    "/{pool:path}",
    operation_id="get_pool",
    summary="One pool",
    responses=responses(HTTPStatus.NOT_FOUND),
)
def get_pool(pool: PoolName, context: Context) -> PoolNow:
    """One pool, and how it stands now."""
    return _now(context, context.pool_named(pool))


def _now(context: ApiContext, pool: Pool) -> PoolNow:
    level = context.levels().get(pool, PoolLevel())
    score = context.newest_scores().get(pool)
    said = context.newest_forecasts().get(pool)
    return PoolNow(
        pool=str(pool),
        gpu_type=pool.gpu_type,
        shape=pool.shape.value,
        mode=context.mode_of(str(pool)).value,
        demand_gpus=level.demand_gpus,
        capacity_gpus=_capacity_gpus(context, pool, level),
        observed_seconds=level.observed_seconds,
        trust=None if score is None else score.verdict.standing.value,
        has_forecast=said is not None and not isinstance(said.forecast, Unavailable),
    )


def _capacity_gpus(context: ApiContext, pool: Pool, level: PoolLevel) -> float | None:
    """By the history, or as the last plan saw it."""
    plan = context.newest_plan()
    if level.capacity_gpus is not None or plan is None:
        return level.capacity_gpus
    seen = next((one.seen for one in plan.pools if one.pool == str(pool)), {})
    gpus = seen.get("capacity_gpus")
    return gpus if isinstance(gpus, float) else None
