"""The protocol behind which every source of history stands.

A source answers for a span of time and says what it could not see. It must never return part of an
answer without a warning.
"""

from dataclasses import dataclass
from typing import Protocol

from features.series import DemandSeries


@dataclass(frozen=True)
class SourceAnswer:
    """What a source knew of a span of time.

    Attributes:
        series: one per pool that the source knows; gaps inside are NaN.
        warnings: what the reader should know (guessed GPU types, partial answers), a line each.
    """

    series: tuple[DemandSeries, ...]
    warnings: tuple[str, ...] = ()


class Source(Protocol):
    """Anything that knows the demand of the past."""

    @property
    def name(self) -> str:
        """What the source is, for messages: a URL or a file name."""
        ...

    def demand(self, start_seconds: int, end_seconds: int, step_seconds: int) -> SourceAnswer:
        """Demand of every pool in [start, end), on a grid of this step.

        Raises:
            SourceUnavailable: the source did not answer, or only in part.
            BadInput: what it holds cannot be used.
        """
        ...
