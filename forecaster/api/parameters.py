"""What routes take from paths, queries, headers and bodies, checked before anything looks at it.

A pool's name holds a slash, as it is written everywhere else; `%2F` means the same.
"""

import re
from datetime import UTC, date, datetime
from typing import Annotated, Any

from fastapi import Header, Path, Query
from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field

PRINTABLE = r"^[^\x00-\x1f\x7f]+$"
LONGEST_NAME = 253
LONGEST_TEXT = 500
MOST_PER_PAGE = 1_000
FIRST_YEAR, LAST_YEAR = 1970, 2100

_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d.*")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def _written_as_time(given: Any) -> Any:
    """Let nothing but ISO 8601 by: a bare number could mean seconds or milliseconds."""
    if not isinstance(given, datetime) and not (isinstance(given, str) and _TIME.fullmatch(given)):
        raise ValueError("write it as 2026-03-01T09:00:00+01:00")
    return given


def _written_as_date(given: Any) -> Any:
    if not isinstance(given, date) and not (isinstance(given, str) and _DATE.fullmatch(given)):
        raise ValueError("write it as 2026-12-24")
    return given


def _between_years(moment: datetime) -> datetime:
    if not FIRST_YEAR <= moment.year < LAST_YEAR:
        raise ValueError(f"the year is not between {FIRST_YEAR} and {LAST_YEAR}")
    return moment


AnyMoment = Annotated[AwareDatetime, BeforeValidator(_written_as_time)]
"""A time with an offset, of any year."""

Moment = Annotated[AnyMoment, AfterValidator(_between_years)]
"""A time with an offset that something may happen at."""

Day = Annotated[date, BeforeValidator(_written_as_date)]
Text = Annotated[str, Field(strict=True, max_length=LONGEST_TEXT)]
Name = Annotated[str, Field(strict=True, min_length=1, max_length=LONGEST_NAME, pattern=PRINTABLE)]

PoolName = Annotated[
    str,
    Path(
        description="The pool, such as `a100/whole-node`; its slash may be written as `%2F`.",
        min_length=1,
        max_length=LONGEST_NAME,
        pattern=PRINTABLE,
        examples=["a100/whole-node"],
    ),
]
OnePool = Annotated[
    str | None,
    Query(
        description="This pool alone.",
        min_length=1,
        max_length=LONGEST_NAME,
        pattern=PRINTABLE,
        examples=["a100/whole-node"],
    ),
]
Since = Annotated[
    AnyMoment | None,
    Query(description="From this time on, with an offset.", examples=["2026-03-01T09:00:00Z"]),
]
Until = Annotated[
    AnyMoment | None,
    Query(description="Before this time, with an offset.", examples=["2026-03-02T09:00:00Z"]),
]
Limit = Annotated[int, Query(description="At most so many.", ge=1, le=MOST_PER_PAGE)]
IfMatch = Annotated[
    str | None, Header(description="The ETag that was read.", max_length=LONGEST_TEXT)
]
IfNoneMatch = Annotated[
    str | None, Header(description="The ETag that is held already.", max_length=LONGEST_TEXT)
]
IdempotencyKey = Annotated[
    str | None,
    Header(
        description="Says which requests are the same one, made again: it is done once.",
        min_length=1,
        max_length=255,
        examples=["8e03978e-40d5-43dd-bc93-6894a57f9324"],
    ),
]


class Body(BaseModel):
    """Base of what is sent: no field that is not written here."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


def seconds_of(moment: datetime | None, otherwise: int) -> int:
    """Unix time of a moment; something else where none was given.

    Years in which nothing can lie count as the first and the last that can.
    """
    if moment is None:
        return otherwise
    first, last = (datetime(year, 1, 1, tzinfo=UTC) for year in (FIRST_YEAR, LAST_YEAR))
    return int(min(max(moment, first), last).timestamp())


def one_line(text: str) -> str:
    """Text without line breaks and other controls, which end up in logs, plans and metrics."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+", " ", text).strip()
