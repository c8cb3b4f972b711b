"""The OpenAPI of the app: what FastAPI finds in the routes, and what holds for all of them.

A route names the problems that are its own; those that any request may meet are added here.
"""

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel

from forecaster.api.problems import Problem, responses
from forecaster.policy import PolicyDocument

ANY_REQUEST = (
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.INTERNAL_SERVER_ERROR,
    HTTPStatus.SERVICE_UNAVAILABLE,
)
WITH_A_TOKEN = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
WITH_A_BODY = (HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.FORBIDDEN)
WITH_CONTENT = (HTTPStatus.UNPROCESSABLE_ENTITY,)

TAGS = {
    "pools": "What is forecast and sized on its own.",
    "forecasts": "What each pool will need, and how good such forecasts were.",
    "plans": "What follows from it: nodes, now and later.",
    "announcements": "What no history can know of.",
    "operating": "What may be done: modes, policies, models, protections.",
    "records": "What was decided and done.",
    "health": "Whether the service lives and is ready.",
}


class DescribedApp(FastAPI):
    """An app that tells all of its API, worked out once, when it is first asked for."""

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document."""
        if self.openapi_schema is None:
            tags = [{"name": name, "description": text} for name, text in TAGS.items()]
            self.openapi_schema = _completed(
                get_openapi(
                    title=self.title,
                    version=self.version,
                    description=self.description,
                    routes=self.routes,
                    tags=tags,
                )
            )
        return self.openapi_schema


def operations(openapi: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Path, method in capitals and description of each operation."""
    for path, methods in openapi["paths"].items():
        for method, operation in methods.items():
            yield path, method.upper(), operation


def scope_of(operation: dict[str, Any]) -> str | None:
    """The scope that a token needs for an operation; None where no token is asked for."""
    for requirement in operation.get("security", []):
        for scopes in requirement.values():
            return str(scopes[0])
    return None


def _completed(openapi: dict[str, Any]) -> dict[str, Any]:
    schemas = openapi.setdefault("components", {}).setdefault("schemas", {})
    for model in (Problem, PolicyDocument):
        schemas |= _schemas_of(model)
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    for _, method, operation in operations(openapi):
        named = operation["responses"]
        if _is_fastapis(named.get("422")):
            del named["422"]
        for status, response in responses(*_common(method, operation)).items():
            named.setdefault(str(status), response)
        operation["responses"] = dict(sorted(named.items()))
        if "428" in named:
            _parameter(operation, "if-match")["required"] = True
    return openapi


def _parameter(operation: dict[str, Any], name: str) -> dict[str, Any]:
    """A parameter of an operation: FastAPI would answer 422 where it is missing, we say 428."""
    found: dict[str, Any] = next(
        one for one in operation["parameters"] if one["name"].lower() == name
    )
    return found


def _schemas_of(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of what no route names by itself, and of what is within it."""
    schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
    return {**schema.pop("$defs", {}), model.__name__: schema}


def _common(method: str, operation: dict[str, Any]) -> Iterator[HTTPStatus]:
    """The problems that any operation of this kind may end in."""
    yield from ANY_REQUEST
    if scope_of(operation) is not None:
        yield from WITH_A_TOKEN
    if method != "GET":
        yield from WITH_A_BODY
    if "requestBody" in operation or "parameters" in operation:
        yield from WITH_CONTENT


def _is_fastapis(response: dict[str, Any] | None) -> bool:
    return response is not None and "HTTPValidationError" in str(response)
