"""The base of every shape, and what several of them hold."""

from pydantic import BaseModel, ConfigDict

Quantiles = dict[str, float]
MaybeByLevel = dict[str, float | None]


class Shape(BaseModel):
    """Base of every shape: no field that is not written here."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Span(Shape):
    """A stretch of time."""

    start_seconds: int
    """Unix time, UTC, or seconds since the trace began, at which it begins."""

    end_seconds: int
    """When it is over."""
