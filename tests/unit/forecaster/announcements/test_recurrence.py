"""Recurring announcements keep local time, leave days out, and end."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from features.errors import BadInput
from forecaster.announcements.recurrence import MOST_TIMES, Recurrence

BERLIN = ZoneInfo("Europe/Berlin")
NEVER = date(1, 1, 1)


def seconds(*parts: int, zone: ZoneInfo = BERLIN) -> int:
    """Unix time of a local time."""
    return int(datetime(*parts, tzinfo=zone).timestamp())  # type: ignore[misc, arg-type]


def starts_of(
    recurrence: Recurrence, first: int, since: int, until: int, holiday: date = NEVER
) -> list[str]:
    """Its starts as local times, with one holiday."""
    found = recurrence.starts(first, since, until, lambda day: day == holiday)
    return [f"{datetime.fromtimestamp(one, BERLIN):%m-%d %H:%M}" for one in found]


@pytest.mark.parametrize(
    "rule", ["FREQ=WEEKLY;BYDAY=FR", "RRULE:FREQ=WEEKLY;BYDAY=FR", "0 9 * * 5"]
)
def test_nine_o_clock_stays_nine_o_clock(rule: str) -> None:
    """On both sides of the change to summer time."""
    every_friday = Recurrence(rule, "Europe/Berlin")
    first = seconds(2026, 3, 20, 9)
    found = starts_of(every_friday, first, first, seconds(2026, 4, 5))
    assert ["03-20 09:00", "03-27 09:00", "04-03 09:00"] == found


@pytest.mark.parametrize("rule", ["FREQ=DAILY", "30 2 * * *"])
def test_a_start_that_the_clocks_skip_or_repeat_counts_once(rule: str) -> None:
    """Half past two on the days of change."""
    nightly = Recurrence(rule, "Europe/Berlin")
    spring = seconds(2026, 3, 28, 2, 30)
    autumn = seconds(2026, 10, 24, 2, 30)
    assert 3 == len(nightly.starts(spring, spring, seconds(2026, 3, 30, 3), lambda _: False))
    assert 3 == len(nightly.starts(autumn, autumn, seconds(2026, 10, 26, 3), lambda _: False))


def test_days_are_left_out() -> None:
    """Named ones always, holidays where they do not count."""
    first = seconds(2026, 5, 4, 9)
    until = seconds(2026, 5, 9)
    daily = Recurrence(
        "FREQ=DAILY", "Europe/Berlin", excluded_dates=(date(2026, 5, 6),), on_holidays=False
    )
    found = starts_of(daily, first, first, until, holiday=date(2026, 5, 5))
    assert ["05-04 09:00", "05-07 09:00", "05-08 09:00"] == found


def test_nothing_begins_before_the_first_time() -> None:
    """Whatever span is asked for."""
    first = seconds(2026, 5, 4, 9)
    assert () == Recurrence("0 9 * * *").starts(first, first - 10**6, first - 1, lambda _: False)


def test_a_rule_that_says_when_it_ends_does() -> None:
    """In UTC as in local time, and by its count."""
    first = seconds(2026, 5, 4, 9)
    for rule in (
        "FREQ=DAILY;UNTIL=20260505T070000Z",
        "FREQ=DAILY;UNTIL=20260505T090000",
        "FREQ=DAILY;COUNT=2",
    ):
        found = starts_of(Recurrence(rule, "Europe/Berlin"), first, first, first + 10**6)
        assert ["05-04 09:00", "05-05 09:00"] == found


def test_a_rule_without_end_is_cut() -> None:
    """Not more than what anybody needs at once."""
    first = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp())
    found = Recurrence("FREQ=HOURLY").starts(first, first, first + 10**9, lambda _: False)
    assert MOST_TIMES == len(found)


@pytest.mark.parametrize(
    ("rule", "zone", "complaint"),
    [
        ("every friday", "UTC", "no cron line"),
        ("99 9 * * *", "UTC", "no cron line"),
        ("FREQ=SOMETIMES", "UTC", "no RRULE"),
        ("FREQ=MINUTELY", "UTC", "no RRULE"),
        ("BYDAY=FR", "UTC", "no RRULE"),
        ("FREQ=DAILY\nDTSTART:19970902T090000", "UTC", "no RRULE"),
        ("FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30;COUNT=3", "UTC", "never comes"),
        ("FREQ=DAILY;INTERVAL=0", "UTC", "never comes"),  # it would be searched for ever
        ("FREQ=DAILY;INTERVAL=-1", "UTC", "never comes"),
        ("FREQ=DAILY", "Mars/Olympus", "unknown time zone"),
    ],
)
def test_what_is_no_rule_is_refused(rule: str, zone: str, complaint: str) -> None:
    """When it is made, not when it is due."""
    with pytest.raises(BadInput, match=complaint):
        Recurrence(rule, zone)


def test_a_leap_day_comes() -> None:
    """Though not in each of the years that are looked at."""
    leap_day = Recurrence("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", "Europe/Berlin")
    first, until = seconds(2025, 1, 1), seconds(2029, 1, 1)
    assert ["02-29 00:00"] == starts_of(leap_day, first, first, until)
