"""Jobs for tests: what they do is said from outside, and when, is up to the test."""

from threading import Event

from forecaster.scheduling.due import Job
from forecaster.scheduling.schedules import Every, Schedule

OFTEN = Every(300)


def nothing(now_seconds: int, stop: Event) -> str:
    """Does nothing at all."""
    return f"did nothing at {now_seconds}"


def job(
    name: str = "pull",
    schedule: Schedule = OFTEN,
    after: tuple[str, ...] = (),
    timeout_seconds: int = 60,
) -> Job:
    """A job that does nothing."""
    return Job(name, f"{name} things", schedule, nothing, timeout_seconds, after)
