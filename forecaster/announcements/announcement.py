"""A flood announcement: from then to then, this pool needs so much, says this person.

It is checked when it is made, so that no other part needs to doubt it. It must never lower a
forecast or a plan: less demand than usual is for the history to learn.
"""

import math
from dataclasses import dataclass
from enum import StrEnum

from features.errors import BadInput
from features.events import EventKind
from forecaster.announcements.recurrence import Recurrence

LONGEST_SECONDS = 31 * 86_400
MOST_TEXT = 500
MOST_GPUS = 1_000_000
MOST_FACTOR = 100.0


class Origin(StrEnum):
    """Where an announcement came from."""

    PERSON = "person"
    CALENDAR = "calendar"
    CRON_JOB = "cron-job"


@dataclass(frozen=True)
class Announcement:
    """What a person or a calendar says will come.

    Attributes:
        identifier: its name, given once and never again.
        pool: whose demand; None for every pool.
        start_seconds: Unix time at which it begins, the first time where it recurs.
        end_seconds: when that first time is over.
        kind: at least so much, so much more, or a factor.
        amount: GPUs for absolute and extra, a multiplier for factor.
        reason: why, for whoever reads the plan.
        owner: who says so.
        announced_seconds: Unix time from which it may be used.
        certainty: how likely it is to come, above 0 and at most 1.
        recurrence: when it comes again; None for once.
        cancelled_seconds: Unix time at which it was called off; None while it stands.
        origin: where it came from.

    Raises:
        BadInput: at construction, when it cannot be meant.
    """

    identifier: str
    pool: str | None
    start_seconds: int
    end_seconds: int
    kind: EventKind
    amount: float
    reason: str
    owner: str
    announced_seconds: int
    certainty: float = 1.0
    recurrence: Recurrence | None = None
    cancelled_seconds: int | None = None
    origin: Origin = Origin.PERSON

    def __post_init__(self) -> None:
        most = MOST_FACTOR if self.kind is EventKind.FACTOR else MOST_GPUS
        least = 1.0 if self.kind is EventKind.FACTOR else 0.0
        checks = (
            (
                self.start_seconds < self.end_seconds,
                "it ends before it begins; give an end after the start",
            ),
            (
                self.end_seconds - self.start_seconds <= LONGEST_SECONDS,
                "it lasts longer than 31 days; announce it in parts, or with a recurrence",
            ),
            (
                math.isfinite(self.amount) and least < self.amount <= most,
                f"an amount of {self.amount:g}; {self.kind} takes more than {least:g} and at most "
                f"{most:g}",
            ),
            (
                0 < self.certainty <= 1,
                f"a certainty of {self.certainty:g}; give more than 0 and at most 1",
            ),
            (bool(self.owner.strip()), "no owner; say who announces it"),
            (
                max(len(self.owner), len(self.reason)) <= MOST_TEXT,
                f"owner or reason is longer than {MOST_TEXT} characters; shorten it",
            ),
            (self.pool is None or bool(self.pool.strip()), "an empty pool; leave it out for all"),
        )
        for holds, problem in checks:
            if not holds:
                raise BadInput(f"announcement: {problem}")

    @property
    def lasts_seconds(self) -> int:
        """How long it lasts each time."""
        return self.end_seconds - self.start_seconds

    def known_at(self, seconds: int) -> bool:
        """Whether it had been made, and not called off, at a moment."""
        called_off = self.cancelled_seconds is not None and self.cancelled_seconds <= seconds
        return self.announced_seconds <= seconds and not called_off
