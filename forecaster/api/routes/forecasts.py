"""What each pool will need: path, peak, quantiles and why, as the scheduled job left it."""

from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Response

from features.pool import Pool
from forecaster.api.etags import is_held
from forecaster.api.forecast_documents import Document
from forecaster.api.parameters import IfNoneMatch, PoolName
from forecaster.api.problems import responses
from forecaster.api.security import READ, Context
from forecaster.database.refusals import NotThere
from forecaster.json_shapes import ForecastAnswer, ForecastOfPool, NoForecastOfPool

router = APIRouter(prefix="/v1/forecasts", tags=["forecasts"], dependencies=[READ])

ETAG = {"ETag": {"description": "Names this forecast.", "schema": {"type": "string"}}}
WITH_ETAG: dict[int | str, dict[str, Any]] = {
    200: {"headers": ETAG},
    304: {"description": "It is what the caller holds already.", "headers": ETAG},
}


@router.get(
    "",
    operation_id="list_forecasts",
    summary="The newest forecast of every pool",
    response_model=ForecastAnswer,
    responses=WITH_ETAG,
)
async def list_forecasts(context: Context, if_none_match: IfNoneMatch = None) -> Response:
    """The newest forecast of every pool, or why there is none."""
    newest = await context.forecast_documents.newest()
    return _sent(newest.everything, if_none_match)


@router.get(
    "/{pool:path}",
    operation_id="get_forecast",
    summary="The newest forecast of one pool",
    response_model=ForecastOfPool | NoForecastOfPool,
    responses=WITH_ETAG | responses(HTTPStatus.NOT_FOUND),
)
async def get_forecast(
    pool: PoolName, context: Context, if_none_match: IfNoneMatch = None
) -> Response:
    """What one pool will need, with its uncertainty and why; or why that cannot be said."""
    newest = await context.forecast_documents.newest()
    document = newest.documents.get(Pool.parse(pool))
    if document is None:
        raise NotThere(f"there is no pool '{pool[:100]}'; GET /v1/pools has all of them")
    return _sent(document, if_none_match)


def _sent(document: Document, if_none_match: str | None) -> Response:
    headers = {"ETag": document.etag, "Cache-Control": "private, no-cache"}
    if is_held(if_none_match, document.etag):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(document.content, media_type="application/json", headers=headers)
