"""What the commands of `tidecast job` print."""

from forecaster.json_shapes.base import Shape


class RunOfJob(Shape):
    """One run of a job."""

    due_seconds: int
    """Unix time for which it ran."""

    begun_seconds: int
    """When it began."""

    ended_seconds: int | None
    """When it ended; null while it runs."""

    standing: str
    """How far it came: `running`, `done`, `failed`, `timed-out` or `interrupted`."""

    detail: str
    """What it did, or why it failed."""


class ScheduledJob(Shape):
    """One job of the service."""

    job: str
    """Its name."""

    purpose: str
    """What it does."""

    schedule: str
    """When it is due."""

    next_due_seconds: int
    """Unix time at which it is due next."""

    last: RunOfJob | None
    """Its last run; null before the first."""


class JobsAnswer(Shape):
    """Printed by `tidecast job list`."""

    jobs: list[ScheduledJob]
    """One entry per job."""


class JobAnswer(Shape):
    """Printed by `tidecast job run`."""

    job: str
    """Its name."""

    standing: str
    """What became of it: `done`, `failed`, `interrupted`, or `skipped` where another process is
    running it."""

    detail: str
    """What it did, or why not."""
