"""How a moment is written on the command line, so that it means one thing only.

A time without a zone is refused, never guessed; a date alone begins in the cluster's time zone.
"""

from datetime import datetime
from zoneinfo import ZoneInfo

from features.errors import BadInput
from features.series import CALENDAR_BEGINS_SECONDS

_DAY_SECONDS = 86_400
_DATE_LENGTH = len("2017-10-03")


def parse_time(text: str, option: str, zone: ZoneInfo) -> int:
    """Seconds of a moment: Unix time, or seconds since a trace began.

    Args:
        text: ISO 8601 with an offset or `Z`; a date alone, which begins at midnight in the zone;
            or a number of seconds, which traces without dates need.
        option: the option the text came from, for the message.
        zone: the cluster's time zone.

    Raises:
        BadInput: the text is none of these, or is a time without a zone.
    """
    try:
        return int(text)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise BadInput(
            f"{option}: '{text}' is not a time; write it as 2026-03-01T09:00Z, "
            "2026-03-01T09:00+01:00, 2026-03-01 or as a number of seconds"
        ) from None
    if moment.tzinfo is None:
        if len(text) > _DATE_LENGTH:
            raise BadInput(
                f"{option}: '{text}' has no time zone; add Z or an offset such as +01:00"
            )
        moment = moment.replace(tzinfo=zone)
    return int(moment.timestamp())


def check_order(start_seconds: int | None, end_seconds: int | None) -> None:
    """Refuse a span that ends before it begins.

    Raises:
        BadInput: the end is not after the start.
    """
    if start_seconds is not None and end_seconds is not None and end_seconds <= start_seconds:
        raise BadInput(
            "--until is not after --since, so nothing lies between them; exchange or correct them"
        )


def moment_text(seconds: int, zone: ZoneInfo) -> str:
    """A moment for people: local time with its offset, or day and time of a trace without dates."""
    if seconds < CALENDAR_BEGINS_SECONDS:
        days, rest = divmod(seconds, _DAY_SECONDS)
        return f"day {days} {rest // 3600:02}:{rest % 3600 // 60:02}"
    return f"{datetime.fromtimestamp(seconds, tz=zone):%Y-%m-%d %H:%M %z}"
