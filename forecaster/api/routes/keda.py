"""One number for KEDA's metrics-api scaler, which reads a JSON answer by a path into it.

It takes 0 for 'nothing is needed', so what is not known is an error or null here, never a number:
KEDA then keeps what runs, or its own `fallback`.
"""

from enum import StrEnum
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, HTTPException, Query

from features.errors import Unavailable
from forecaster.api.parameters import PoolName
from forecaster.api.problems import responses
from forecaster.api.security import READ, Context
from forecaster.database.forecasts import KeptForecast
from forecaster.json_shapes import PlanAnswer, Shape
from models.forecast import QUANTILE_LEVELS, Forecast

STALE_AFTER_SECONDS = 900
"""A forecast or a plan that is older says nothing of now."""

# mypy wants the names written out, and they are the forecast's own
Level = StrEnum("Level", {f"Q{level}": f"{level:g}" for level in QUANTILE_LEVELS})  # type: ignore[misc]
USUAL_LEVEL = Level("0.9")

router = APIRouter(prefix="/v1/keda", tags=["forecasts"], dependencies=[READ])


class KedaAnswer(Shape):
    """What `valueLocation` may name."""

    pool: str
    """The pool."""

    quantile: float
    """Level of the peak."""

    peak_gpus: float
    """Highest demand of the next window at that level: `valueLocation: peak_gpus`."""

    desired_nodes: int | None
    """Nodes of the last plan: `valueLocation: desired_nodes`; null, which KEDA takes for an error,
    where no fresh plan has the pool."""


@router.get(
    "/{pool:path}",
    operation_id="get_keda_value",
    summary="One pool's need as KEDA reads it",
    responses=responses(HTTPStatus.NOT_FOUND, HTTPStatus.SERVICE_UNAVAILABLE),
)
def get_keda_value(
    pool: PoolName,
    context: Context,
    quantile: Annotated[Level, Query(description="Level of the peak.")] = USUAL_LEVEL,
) -> KedaAnswer:
    """The peak and the nodes of one pool; 503 where a fresh forecast is not there."""
    named, now_seconds = context.pool_named(pool), context.clock()
    said = _forecast(context.newest_forecasts().get(named), now_seconds)
    return KedaAnswer(
        pool=str(named),
        quantile=float(quantile),
        peak_gpus=said.peak_at(float(quantile)),
        desired_nodes=_desired_nodes(context.newest_plan(), str(named), now_seconds),
    )


def _forecast(kept: KeptForecast | None, now_seconds: int) -> Forecast:
    """The forecast, if it is fresh.

    Raises:
        HTTPException: 503 otherwise.
    """
    if kept is None:
        raise _unknown("no forecast was made within the last hour")
    if isinstance(kept.forecast, Unavailable):
        raise _unknown(kept.forecast.reason)
    age_seconds = now_seconds - kept.origin_seconds
    if age_seconds > STALE_AFTER_SECONDS:
        raise _unknown(f"the newest forecast is {age_seconds // 60} min old")
    return kept.forecast


def _unknown(reason: str) -> HTTPException:
    return HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, reason, {"Retry-After": "60"})


def _desired_nodes(plan: PlanAnswer | None, pool: str, now_seconds: int) -> int | None:
    if plan is None or now_seconds - plan.made_seconds > STALE_AFTER_SECONDS:
        return None
    return next((one.desired_nodes for one in plan.pools if one.pool == pool), None)
