"""Fixed addresses below ones that take any name: what they do not take, no other route takes."""

from http import HTTPStatus

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from forecaster.api.problems import problem

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def takes_only(router: APIRouter, path: str, *taken: str) -> None:
    """Refuse every other method at a path with 405, whatever routes come after it.

    Args:
        router: whose path.
        path: without the router's prefix.
        taken: the methods that it does take.
    """

    def refuse() -> JSONResponse:
        allowed = ", ".join(taken)
        detail = f"this takes {allowed} alone"
        return problem(HTTPStatus.METHOD_NOT_ALLOWED, detail, headers={"Allow": allowed})

    others = [method for method in METHODS if method not in taken]
    router.add_api_route(path, refuse, methods=others, include_in_schema=False)
