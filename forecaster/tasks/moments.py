"""How a moment is written for programs."""

from datetime import UTC, datetime

from features.series import CALENDAR_BEGINS_SECONDS


def iso_text(seconds: int) -> str | None:
    """ISO 8601 in UTC, or None where the trace has no dates."""
    if seconds < CALENDAR_BEGINS_SECONDS:
        return None
    return f"{datetime.fromtimestamp(seconds, tz=UTC):%Y-%m-%dT%H:%M:%SZ}"


def version_text(seconds: int) -> str:
    """A moment as a version of something made then: short, and sorted as time is."""
    return f"{datetime.fromtimestamp(seconds, tz=UTC):%Y%m%dT%H%M%SZ}"
