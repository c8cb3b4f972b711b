"""The app: every route, the rules that hold for all of them, and nothing of its own."""

from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from http import HTTPStatus
from importlib.metadata import version

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from starlette.routing import Route

from forecaster.api.context import ApiContext
from forecaster.api.description import DescribedApp
from forecaster.api.limits import Limits
from forecaster.api.metrics.collector import registry_of
from forecaster.api.metrics.service_readings import Counts, ResponseCounts
from forecaster.api.problems import answer_with_problems, problem
from forecaster.api.routes import ROUTERS

DESCRIPTION = """\
Forecasts of GPU demand, the plan that follows from them, and announcements of floods.

Times are ISO 8601 with an offset, or Unix seconds where a name ends in `_seconds`. `null` says 'not
known'; it never stands for zero. Errors are problem documents (RFC 9457). What can be changed
carries an `ETag`; give it back as `If-Match`. What creates takes an `Idempotency-Key`. Lists are
read page by page with `cursor` and `limit`.
"""

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


@asynccontextmanager
async def nothing_beside(_: FastAPI) -> AsyncIterator[None]:
    """Nothing runs beside the app."""
    yield


def create_app(context: ApiContext, beside: Lifespan = nothing_beside) -> FastAPI:
    """The app.

    Args:
        context: what every request may use.
        beside: what runs as long as the app does.
    """
    app = DescribedApp(
        title="Tidecast",
        version=version("tidecast"),
        description=DESCRIPTION,
        lifespan=beside,
        docs_url=None,
        redoc_url=None,
        openapi_url="/v1/openapi.json",
        redirect_slashes=False,
    )
    app.state.context = context
    counts: Counts = Counter()
    app.state.metrics = registry_of(context, counts)
    app.add_middleware(
        Limits,
        settings=context.workspace.settings.service,
        clock=context.clock,
        is_known_token=context.known_tokens.is_known,
    )
    app.add_middleware(ResponseCounts, counts=counts)
    answer_with_problems(app)
    app.add_exception_handler(HTTPStatus.METHOD_NOT_ALLOWED, _not_allowed)
    for router in ROUTERS:
        app.include_router(router)
    return app


def _not_allowed(request: Request, _: Exception) -> JSONResponse:
    """Say all methods that a path takes, of whichever routes."""
    path = request.url.path
    methods = {
        method
        for router in ROUTERS
        for route in router.routes
        if isinstance(route, Route) and route.path_regex.match(path) and route.include_in_schema
        for method in route.methods or ()
    }
    return problem(
        HTTPStatus.METHOD_NOT_ALLOWED,
        f"{path[:100]} does not take {request.method}",
        headers={"Allow": ", ".join(sorted(methods))},
    )
