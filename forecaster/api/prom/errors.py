"""Errors as Prometheus words them: a JSON object with a kind, and the status that goes with it.

Grafana and promtool show its text, so it says what is wrong and what to do.
"""

from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any

from fastapi import HTTPException, Request, Response
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute

from features.errors import BadInput, SourceUnavailable


class BadQuery(Exception):
    """A parameter or an expression that cannot be read: `bad_data`, 400."""


class NotAnswered(Exception):
    """An expression that can be read and is not answered here: `execution`, 422."""


UNDERSTOOD = (
    "Tidecast answers selectors, 'offset', sum, max and min with by or without, and arithmetic of "
    "plain numbers"
)

KINDS: tuple[tuple[type[Exception], HTTPStatus, str], ...] = (
    (BadQuery, HTTPStatus.BAD_REQUEST, "bad_data"),
    (NotAnswered, HTTPStatus.UNPROCESSABLE_ENTITY, "execution"),
    (SourceUnavailable, HTTPStatus.SERVICE_UNAVAILABLE, "unavailable"),
    (BadInput, HTTPStatus.UNPROCESSABLE_ENTITY, "execution"),
)
_STATUSES = {
    HTTPStatus.UNAUTHORIZED: "unauthorized",
    HTTPStatus.FORBIDDEN: "forbidden",
    HTTPStatus.NOT_FOUND: "not_found",
}
_ANSWERED = tuple(kind for kind, _, _ in KINDS)


class PrometheusRoute(APIRoute):
    """A route whose errors are Prometheus' own, those of its token included."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's handler, with errors turned into answers."""
        handle = super().get_route_handler()

        async def handle_or_say_why(request: Request) -> Response:
            try:
                return await handle(request)
            except _ANSWERED as error:
                status, kind = next(
                    (status, name) for one, status, name in KINDS if isinstance(error, one)
                )
                return failure(status, kind, str(error))
            except HTTPException as error:
                status = HTTPStatus(error.status_code)
                kind = _STATUSES.get(status, "internal")
                return failure(status, kind, str(error.detail), error.headers)

        return handle_or_say_why


def failure(status: HTTPStatus, kind: str, text: str, headers: Any = None) -> JSONResponse:
    """An error as Prometheus writes it."""
    content = {"status": "error", "errorType": kind, "error": text}
    return JSONResponse(content, status, headers)
