"""What a request asks for, from its query and its form, as Prometheus reads them.

Times are Unix seconds or RFC 3339, durations seconds or `5m`; both parts of a POST count.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated
from urllib.parse import parse_qs

import numpy as np
from fastapi import Depends, Request

from forecaster.api.prom.errors import BadQuery
from forecaster.api.prom.series import Moments

MOST_POINTS = 11_000
"""As in Prometheus: moments of a range."""

EARLIEST_SECONDS, LATEST_SECONDS = 0.0, 4_102_444_800.0
"""1970 and 2100; times beyond them count as these."""

FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Parameters:
    """The parameters of one request.

    Attributes:
        given: every value of each, those of the form first.
        now_seconds: Unix time, for what is left out.
    """

    given: Mapping[str, Sequence[str]]
    now_seconds: int

    def text(self, name: str) -> str:
        """The first value of a parameter; empty where it is left out."""
        return next(iter(self.given.get(name, ())), "")

    def all(self, name: str) -> Sequence[str]:
        """Every value of a parameter."""
        return self.given.get(name, ())

    def seconds(self, name: str, otherwise: float | None = None) -> float:
        """A time in Unix seconds.

        Args:
            name: the parameter's.
            otherwise: what it is where it is left out; None where it must be given.

        Raises:
            BadQuery: it is no time, or is missing.
        """
        text = self.text(name)
        if not text and otherwise is not None:
            return otherwise
        found = _seconds(text)
        if found is None:
            raise BadQuery(f"invalid parameter '{name}': cannot parse '{text[:50]}' as a time")
        return min(max(found, EARLIEST_SECONDS), LATEST_SECONDS)

    def moments(self) -> Moments:
        """The moments of a range, from `start` to `end` every `step`.

        Raises:
            BadQuery: one of them is missing or makes no sense, or there are too many moments.
        """
        start, end = self.seconds("start"), self.seconds("end")
        if end < start:
            raise BadQuery("invalid parameter 'end': end timestamp must not be before start time")
        step = _duration(self.text("step"))
        if step is None or step <= 0:
            raise BadQuery(
                f"invalid parameter 'step': '{self.text('step')[:50]}' is no positive number of "
                "seconds"
            )
        count = int((end - start) // step) + 1
        if count > MOST_POINTS:
            raise BadQuery(
                f"exceeded maximum resolution of {MOST_POINTS:,} points per timeseries. Try "
                "decreasing the query resolution (?step=XX)"
            )
        return start + step * np.arange(count, dtype=np.float64)


async def parameters(request: Request) -> Parameters:
    """The parameters of a request.

    Raises:
        BadQuery: its form cannot be read.
    """
    given: dict[str, list[str]] = {}
    if request.method == "POST":
        kind = request.headers.get("content-type", FORM).partition(";")[0].strip().lower()
        if kind == FORM:
            given = _form(await request.body())
    for name, value in request.query_params.multi_items():
        given.setdefault(name, []).append(value)
    return Parameters(given, request.app.state.context.clock())


Given = Annotated[Parameters, Depends(parameters)]


def _form(body: bytes) -> dict[str, list[str]]:
    try:
        return parse_qs(body.decode("utf-8"), keep_blank_values=True, errors="strict")
    except ValueError as error:
        raise BadQuery("the form is not UTF-8") from error


def _seconds(text: str) -> float | None:
    number = _number(text)
    if number is not None:
        return round(number, 3)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return None if moment.tzinfo is None else moment.timestamp()


def _duration(text: str) -> float | None:
    import promql_parser

    number = _number(text)
    if number is not None:
        return round(number, 3)
    try:
        return promql_parser.parse_duration(text).total_seconds()
    except (ValueError, OverflowError):
        return None


_NUMBER = re.compile(r"[+-]?\d{0,15}(\.\d{0,15})?([eE][+-]?\d{1,2})?", re.ASCII)


def _number(text: str) -> float | None:
    if not _NUMBER.fullmatch(text):
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
