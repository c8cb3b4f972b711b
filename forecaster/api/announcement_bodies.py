"""Announcements as the API takes and gives them."""

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, JsonValue

from features.events import EventKind
from forecaster.announcements.announcement import MOST_GPUS, Announcement
from forecaster.announcements.recurrence import Recurrence
from forecaster.api.parameters import Body, Day, Moment, Name, Text, one_line
from forecaster.database.kept_announcements import KeptAnnouncement
from forecaster.json_shapes import Quantiles, Shape

MOST_EXCLUDED = 366
EXAMPLE: JsonValue = {
    "pool": "a100/whole-node",
    "start": "2026-12-18T09:00:00+01:00",
    "end": "2026-12-18T18:00:00+01:00",
    "kind": "extra",
    "amount": 64,
    "reason": "sweep before the holidays",
    "certainty": 0.9,
}


class RecurrenceBody(Body):
    """When an announcement comes again."""

    rule: Annotated[str, Field(strict=True, min_length=1, max_length=200)]
    """`FREQ=WEEKLY;BYDAY=FR` and the like (RFC 5545), or five cron fields."""

    time_zone: Annotated[str, Field(strict=True, min_length=1, max_length=100)] | None = None
    """IANA name of the zone of the rule's local times; the cluster's if left out."""

    excluded_dates: Annotated[tuple[Day, ...], Field(max_length=MOST_EXCLUDED)] = ()
    """Local dates on which it does not begin."""

    on_holidays: Annotated[bool, Field(strict=True)] = True
    """Whether it also begins on public holidays."""


class AnnouncementBody(Body):
    """Demand that no history can know of: from then to then, a pool needs so much."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    pool: Name | None = None
    """Whose demand; every pool's if left out."""

    start: Moment
    """When it begins, the first time; with an offset."""

    end: Moment
    """When that time is over."""

    kind: Literal["absolute", "extra", "factor"]
    """At least so much, so much more than usual, or so many times the usual."""

    amount: Annotated[float, Field(strict=True, gt=0, le=MOST_GPUS, allow_inf_nan=False)]
    """GPUs for absolute and extra; a multiplier above 1 and at most 100 for factor."""

    reason: Text = ""
    """Why, for whoever reads the plan."""

    owner: Name | None = None
    """Who says so; the token's name if left out."""

    certainty: Annotated[float, Field(strict=True, gt=0, le=1, allow_inf_nan=False)] = 1.0
    """How likely it is to come."""

    recurrence: RecurrenceBody | None = None
    """When it comes again; once if left out."""

    def announcement(
        self, identifier: str, caller: str, time_zone: str, now_seconds: int
    ) -> Announcement:
        """What it says.

        Args:
            identifier: its name.
            caller: its owner, if it names none.
            time_zone: of its rule, if that names none.
            now_seconds: Unix time from which it is known.

        Raises:
            BadInput: it cannot be meant.
        """
        again = self.recurrence
        return Announcement(
            identifier=identifier,
            pool=self.pool,
            start_seconds=int(self.start.timestamp()),
            end_seconds=int(self.end.timestamp()),
            kind=EventKind(self.kind),
            amount=self.amount,
            reason=one_line(self.reason),
            owner=one_line(self.owner or caller),
            announced_seconds=now_seconds,
            certainty=self.certainty,
            recurrence=None
            if again is None
            else Recurrence(
                again.rule,
                again.time_zone or time_zone,
                tuple(sorted(set(again.excluded_dates))),
                again.on_holidays,
            ),
        )


class RecurrenceState(Shape):
    """When an announcement comes again."""

    rule: str
    """An RRULE or five cron fields."""

    time_zone: str
    """Zone of its local times."""

    excluded_dates: list[str]
    """Local dates on which it does not begin."""

    on_holidays: bool
    """Whether it also begins on public holidays."""


class AnnouncementState(Shape):
    """An announcement as it is kept."""

    identifier: str
    """Its name."""

    pool: str | None
    """Whose demand; null for every pool."""

    start: str
    """When it begins, the first time; ISO 8601 in UTC."""

    end: str
    """When that first time is over."""

    start_seconds: int
    """The beginning as Unix time."""

    end_seconds: int
    """The end as Unix time."""

    kind: Literal["absolute", "extra", "factor"]
    """At least so much, so much more, or a factor."""

    amount: float
    """GPUs for absolute and extra, a multiplier for factor."""

    reason: str
    """Why."""

    owner: str
    """Who says so."""

    certainty: float
    """How likely it is to come."""

    recurrence: RecurrenceState | None
    """When it comes again; null for once."""

    source: str
    """What it came by: `person`, or a calendar."""

    announced_seconds: int
    """Unix time since which it is known."""

    ends_seconds: int | None
    """When it is over for good; null where it recurs without an end."""

    cancelled_seconds: int | None
    """Unix time at which it was called off; null while it stands."""

    version: int
    """How often it was written; its ETag."""


class AnnouncementPage(Shape):
    """Some announcements."""

    announcements: list[AnnouncementState]
    """Newest first."""

    cursor: str | None
    """What `cursor` takes to go on; null at the end."""


class EffectOnPool(Shape):
    """What an announcement would change for one pool; null where that is not known."""

    pool: str
    """The pool."""

    peak_gpus: Quantiles | None
    """The peak that is forecast now."""

    peak_gpus_with: Quantiles | None
    """The same with the announcement; it differs where it begins within the window."""

    announced_gpus: float | None
    """Demand that it speaks of, on top of that of now where it is no absolute one."""

    desired_nodes: int | None
    """Nodes of the last plan."""

    announced_nodes: int | None
    """Nodes that it takes, at most the ceiling; null where no policy has the pool."""

    ceiling_nodes: int | None
    """Most nodes of the pool."""

    asked_for_seconds: int | None
    """Unix time from which they are asked for, at the latest."""


class PreviewAnswer(Shape):
    """What an announcement would change."""

    times: list["TimeOfAnnouncement"]
    """The next times that it comes."""

    pools: list[EffectOnPool]
    """One entry for each pool that it is about."""


class TimeOfAnnouncement(Shape):
    """One time that an announcement comes."""

    start: str
    """When it begins, ISO 8601 in UTC."""

    start_seconds: int
    """The same as Unix time."""

    end_seconds: int
    """When it is over."""


class AnnouncementOutcome(Shape):
    """One time that was announced, and what came of it in one pool."""

    pool: str
    """The pool."""

    start_seconds: int
    """Unix time at which it began."""

    end_seconds: int
    """When it was over."""

    announced_gpus: float | None = None
    """Demand that was announced; null where it was not scored."""

    before_gpus: float | None = None
    """Highest demand of the hour before it."""

    came_gpus: float | None = None
    """Highest demand that came."""

    came_share: float | None = None
    """What came as a share of what was announced; above 1 it was announced too low."""

    why_not: str | None = None
    """Why it was not scored; null where it was."""


class AnnouncementScores(Shape):
    """What was announced against what came."""

    identifier: str
    """The announcement."""

    outcomes: list[AnnouncementOutcome]
    """One entry for each time that is over and each pool, newest first."""


def state_of(kept: KeptAnnouncement) -> AnnouncementState:
    """An announcement as it is given."""
    one, again = kept.announcement, kept.announcement.recurrence
    return AnnouncementState(
        identifier=one.identifier,
        pool=one.pool,
        start=time_text(one.start_seconds),
        end=time_text(one.end_seconds),
        start_seconds=one.start_seconds,
        end_seconds=one.end_seconds,
        kind=one.kind.value,
        amount=one.amount,
        reason=one.reason,
        owner=one.owner,
        certainty=one.certainty,
        recurrence=None
        if again is None
        else RecurrenceState(
            rule=again.rule,
            time_zone=again.time_zone,
            excluded_dates=[day.isoformat() for day in again.excluded_dates],
            on_holidays=again.on_holidays,
        ),
        source=kept.source,
        announced_seconds=one.announced_seconds,
        ends_seconds=kept.ends_seconds,
        cancelled_seconds=one.cancelled_seconds,
        version=kept.version,
    )


def time_text(seconds: int) -> str:
    """ISO 8601 in UTC."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"
