"""Future demand that is known beforehand: announcements and scheduled jobs.

The sources of such knowledge come later; here is the shape in which models ask for it. Nothing may
be told of an event before the moment it became known.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from features.pool import Pool


class EventKind(StrEnum):
    """How an event changes demand: to at least so much, by so much more, or by a factor."""

    ABSOLUTE = "absolute"
    EXTRA = "extra"
    FACTOR = "factor"


@dataclass(frozen=True)
class KnownEvent:
    """One stretch of known future demand of one pool.

    Attributes:
        pool: whose demand.
        start_seconds: Unix time at which it begins.
        end_seconds: Unix time at which it is over.
        known_since_seconds: Unix time from which a forecast may use it.
        kind: absolute, extra or factor.
        amount: GPUs for absolute and extra, a multiplier for factor.
        reason: where this is known from, for the explanation.
    """

    pool: Pool
    start_seconds: int
    end_seconds: int
    known_since_seconds: int
    kind: EventKind
    amount: float
    reason: str


class KnownEvents(Protocol):
    """Answers which events were known at an origin."""

    def known_at(self, pool: Pool, origin_seconds: int, until_seconds: int) -> Sequence[KnownEvent]:
        """Events of the pool known at the origin that touch [origin, until)."""
        ...


@dataclass(frozen=True)
class NoKnownEvents:
    """Nothing is known beforehand."""

    def known_at(self, pool: Pool, origin_seconds: int, until_seconds: int) -> Sequence[KnownEvent]:
        """Always empty."""
        return ()
