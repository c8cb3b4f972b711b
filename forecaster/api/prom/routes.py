"""`/prom/api/v1`: what a Prometheus data source asks, answered from forecasts and history.

What a Prometheus has and Tidecast has not (rules, alerts, exemplars) is an empty success, so that
whoever asks for it goes on.
"""

from collections.abc import Sequence
from http import HTTPStatus
from importlib.metadata import version
from typing import Any

import numpy as np
from fastapi import APIRouter, HTTPException
from fastapi.responses import PlainTextResponse, Response

from forecaster.api.context import ApiContext
from forecaster.api.prom import answering
from forecaster.api.prom.catalogue import SERIES, Span
from forecaster.api.prom.errors import PrometheusRoute
from forecaster.api.prom.evaluating import Evaluated, Find, evaluated
from forecaster.api.prom.expressions import Number, formatted, parsed, selected
from forecaster.api.prom.matchers import Labels, Matcher
from forecaster.api.prom.parameters import Given, Parameters
from forecaster.api.prom.series import Series
from forecaster.api.security import READ, Context

AROUND_SECONDS = 86_400
"""How far before and after now names and labels are looked up where no time is given."""

LIKE_PROMETHEUS = "2.45.0"
"""The Prometheus whose answers these are like; Grafana picks its requests by it."""

BOTH = ["GET", "POST"]

router = APIRouter(
    prefix="/prom",
    route_class=PrometheusRoute,
    dependencies=[READ],
    include_in_schema=False,
)


@router.get("/")
def root() -> Response:
    """What clients look for before they ask anything."""
    return PlainTextResponse("Tidecast answers Prometheus' HTTP API at /prom/api/v1\n")


@router.api_route("/api/v1/query", methods=BOTH)
def query(given: Given, context: Context) -> Response:
    """An expression at one moment."""
    moment = given.seconds("time", float(given.now_seconds))
    expression = parsed(given.text("query"))
    if isinstance(expression, Number):
        return _json(answering.scalar(expression.value, moment))
    found = evaluated(expression, np.array([moment]), _finder(context, given))
    return _json(answering.vector(found, moment, _problems(context)))


@router.api_route("/api/v1/query_range", methods=BOTH)
def query_range(given: Given, context: Context) -> Response:
    """An expression at many moments."""
    moments = given.moments()
    expression = parsed(given.text("query"))
    found: Sequence[Evaluated] = evaluated(expression, moments, _finder(context, given))
    return _json(answering.matrix(found, moments, _problems(context)))


@router.api_route("/api/v1/series", methods=BOTH)
def series(given: Given, context: Context) -> Response:
    """The labels of the series that match."""
    return _success(list(_labels(given, context)))


@router.api_route("/api/v1/labels", methods=BOTH)
def labels(given: Given, context: Context) -> Response:
    """The names of all labels."""
    return _success(sorted({name for one in _labels(given, context) for name in one}))


@router.get("/api/v1/label/{label}/values")
def label_values(label: str, given: Given, context: Context) -> Response:
    """The values of one label."""
    return _success(sorted({one[label] for one in _labels(given, context) if label in one}))


@router.get("/api/v1/metadata")
def metadata(given: Given) -> Response:
    """What each name means."""
    wanted = given.text("metric")
    return _success(
        {
            one.name: [{"type": "gauge", "help": one.help, "unit": ""}]
            for one in SERIES
            if wanted in {"", one.name}
        }
    )


@router.get("/api/v1/status/buildinfo")
def build_info() -> Response:
    """Which Prometheus this is like, and what it is."""
    revision = f"tidecast {version('tidecast')}"
    nothing = dict.fromkeys(("branch", "buildUser", "buildDate", "goVersion"), "")
    return _success({"version": LIKE_PROMETHEUS, "revision": revision, **nothing})


@router.api_route("/api/v1/format_query", methods=BOTH)
def format_query(given: Given) -> Response:
    """An expression as Prometheus lays it out."""
    return _success(formatted(given.text("query")))


@router.get("/api/v1/rules")
def rules() -> Response:
    """There are none."""
    return _success({"groups": []})


@router.get("/api/v1/alerts")
def alerts() -> Response:
    """There are none."""
    return _success({"alerts": []})


@router.api_route("/api/v1/query_exemplars", methods=BOTH)
def query_exemplars() -> Response:
    """There are none."""
    return _success([])


@router.get("/api/v1/{anything:path}")
def nothing_there(anything: str) -> Response:
    """What Prometheus may have, and Tidecast has not."""
    raise HTTPException(HTTPStatus.NOT_FOUND, f"there is no '{anything[:100]}' here")


def _finder(context: ApiContext, given: Parameters) -> Find:
    def find(matchers: Sequence[Matcher], since: float, until: float) -> Sequence[Series]:
        return context.catalogue.series(matchers, Span(since, until, given.now_seconds))

    return find


def _labels(given: Parameters, context: ApiContext) -> list[Labels]:
    """The labels of the series that match `match[]`; of every series without one."""
    now = float(given.now_seconds)
    since = given.seconds("start", now - AROUND_SECONDS)
    until = given.seconds("end", now + AROUND_SECONDS)
    selectors = [selected(match) for match in given.all("match[]")]
    return context.catalogue.labels(selectors, Span(since, until, given.now_seconds))


def _problems(context: ApiContext) -> tuple[str, ...]:
    return context.catalogue.problems()


def _success(data: Any) -> Response:
    return _json(answering.success(data))


def _json(content: bytes) -> Response:
    return Response(content, media_type="application/json")
