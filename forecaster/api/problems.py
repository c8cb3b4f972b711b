"""Errors as problem documents (RFC 9457): what, where, what to do, and a status that fits.

No error leaves the API in another form, and none shows the inside of the program.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException

from features.errors import BadInput, SourceUnavailable, TidecastError
from forecaster.database.cycle_memory import Overtaken
from forecaster.database.idempotency import KeyReused, StillWorking
from forecaster.database.refusals import AlreadyThere, NotThere, TooMany

MEDIA_TYPE = "application/problem+json"
LONGEST_VALUE = 100

log = structlog.get_logger()

STATUSES: tuple[tuple[type[TidecastError], HTTPStatus], ...] = (
    (NotThere, HTTPStatus.NOT_FOUND),
    (AlreadyThere, HTTPStatus.CONFLICT),
    (TooMany, HTTPStatus.CONFLICT),
    (StillWorking, HTTPStatus.CONFLICT),
    (KeyReused, HTTPStatus.UNPROCESSABLE_ENTITY),
    (Overtaken, HTTPStatus.PRECONDITION_FAILED),
    (SourceUnavailable, HTTPStatus.SERVICE_UNAVAILABLE),
    (BadInput, HTTPStatus.UNPROCESSABLE_ENTITY),
)
"""What our errors are answered with; the first row that fits counts."""


class Problem(BaseModel):
    """What went wrong (RFC 9457)."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    type: str = "about:blank"
    """Always `about:blank`: the status says what kind of problem it is."""

    title: str
    """The status in words."""

    status: int
    """The HTTP status."""

    detail: str
    """What is wrong, where, and what to do."""

    errors: list[str] = []
    """One line for each part of the request that cannot be used."""


def problem(
    status: HTTPStatus,
    detail: str,
    errors: list[str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """A problem as a response."""
    content = Problem(
        title=status.phrase,
        status=status,
        detail=_writable(detail),
        errors=[_writable(line) for line in errors or []],
    )
    return JSONResponse(content.model_dump(), status, dict(headers or {}), MEDIA_TYPE)


def refusal(error: HTTPException) -> JSONResponse:
    """An HTTP error as a problem."""
    return problem(HTTPStatus(error.status_code), str(error.detail), None, error.headers)


def unexpected(path: str, error: Exception) -> JSONResponse:
    """An error that nobody foresaw: the log has it, the caller learns nothing of the inside."""
    log.error("request failed", path=path, exc_info=error)
    return problem(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "something went wrong inside Tidecast; its log says what",
    )


def responses(*statuses: HTTPStatus) -> dict[int | str, dict[str, Any]]:
    """These problems as OpenAPI has them, for a route to name."""
    return {
        int(status): {
            "description": status.phrase,
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status in statuses
    }


def answer_with_problems(app: FastAPI) -> None:
    """Let every error of an app become a problem document; `limits` has those beyond it."""
    app.add_exception_handler(TidecastError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)


def _ours(_: Request, error: Exception) -> JSONResponse:
    status = next(status for kind, status in STATUSES if isinstance(error, kind))
    headers = {"Retry-After": "5"} if status is HTTPStatus.SERVICE_UNAVAILABLE else None
    first, *rest = str(error).splitlines() or [status.phrase]
    return problem(status, first, [first, *rest] if rest else None, headers)


def _invalid(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for it alone
    lines = [_line(one) for one in error.errors()]
    return problem(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        f"{len(lines)} parts of the request cannot be used" if len(lines) > 1 else lines[0],
        lines,
    )


def _line(error: Mapping[str, Any]) -> str:
    where = ".".join(str(part) for part in error["loc"])
    return f"{where}: {error['msg']}"


def _http(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for it alone
    return refusal(error)


def _writable(text: str) -> str:
    """Text without the halves of characters that a request's JSON may hold, and UTF-8 may not."""
    return text.encode("utf-8", "replace").decode("utf-8")
