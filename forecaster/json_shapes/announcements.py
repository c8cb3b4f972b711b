"""What the commands of `tidecast announce` print."""

from typing import Literal

from forecaster.json_shapes.base import Shape


class AnnouncementAnswer(Shape):
    """An announcement; printed by `tidecast announce create` and `tidecast announce cancel`."""

    identifier: str
    """Its name."""

    pool: str | None
    """Whose demand; null for every pool."""

    start_seconds: int
    """Unix time at which it begins, the first time where it recurs."""

    end_seconds: int
    """When that first time is over."""

    kind: Literal["absolute", "extra", "factor"]
    """At least so much, so much more, or a factor."""

    amount: float
    """GPUs for absolute and extra, a multiplier for factor."""

    reason: str
    """Why."""

    owner: str
    """Who says so."""

    certainty: float
    """How likely it is to come, above 0 and at most 1."""

    recurrence: str | None
    """The rule by which it comes again; null for once."""

    source: str
    """What it came by: `person`, or a calendar."""

    announced_seconds: int
    """Unix time since which it is known."""

    ends_seconds: int | None
    """When it is over for good; null where it recurs without an end."""

    cancelled_seconds: int | None
    """Unix time at which it was called off; null while it stands."""

    version: int
    """How often it was written."""

    warnings: list[str]
    """What else to know, one line each."""


class AnnouncementsAnswer(Shape):
    """Printed by `tidecast announce list`."""

    announcements: list[AnnouncementAnswer]
    """Newest first."""

    cursor: str | None
    """What `--cursor` takes to go on; null at the end."""


class CalendarAnswer(Shape):
    """Printed by `tidecast announce import`."""

    source: str
    """What the calendar's announcements are kept under."""

    added: list[str]
    """Identifiers that are new."""

    changed: list[str]
    """Identifiers that say something else than before."""

    cancelled: list[str]
    """Identifiers that the calendar no longer has."""
