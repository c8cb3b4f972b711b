"""Events of a calendar that say how many GPUs they need, and no others."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from features.errors import BadInput
from features.events import EventKind
from forecaster.announcements.announcement import Origin
from forecaster.announcements.calendar_file import MOST_BYTES, announcements_in

BERLIN = ZoneInfo("Europe/Berlin")
SINCE = int(datetime(2026, 3, 1, tzinfo=UTC).timestamp())
UNTIL = int(datetime(2026, 4, 15, tzinfo=UTC).timestamp())


def calendar(*events: str) -> bytes:
    """An iCalendar file of these events."""
    body = "".join(f"BEGIN:VEVENT\nDTSTAMP:20260101T000000Z\n{one}\nEND:VEVENT\n" for one in events)
    text = f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//test//\n{body}END:VCALENDAR\n"
    return text.replace("\n", "\r\n").encode()


def read(content: bytes) -> list[tuple[str, EventKind, float, str | None]]:
    """Local start, kind, amount and pool of each announcement."""
    return [
        (
            f"{datetime.fromtimestamp(one.start_seconds, BERLIN):%m-%d %H:%M}",
            one.kind,
            one.amount,
            one.pool,
        )
        for one in announcements_in(content, BERLIN, SINCE, UNTIL, now_seconds=SINCE)
    ]


SWEEP = (
    "UID:sweep\nSUMMARY:Sweep GPUS=64 POOL=a100/whole-node\n"
    "DTSTART:20260306T090000\nDTEND:20260306T110000"
)


@pytest.mark.parametrize(
    ("text", "kind", "amount"),
    [
        ("GPUS=64", EventKind.ABSOLUTE, 64),
        ("gpus = +8", EventKind.EXTRA, 8),
        ("GPUS=x1.5", EventKind.FACTOR, 1.5),
    ],
)
def test_the_text_says_how_many(text: str, kind: EventKind, amount: float) -> None:
    """At least so many, so many more, or a factor."""
    event = SWEEP.replace("GPUS=64", text)
    assert [("03-06 09:00", kind, amount, "a100/whole-node")] == read(calendar(event))


def test_each_time_of_a_recurring_event_keeps_its_local_hour() -> None:
    """Less the dates that are left out, across the change of the clocks."""
    weekly = f"{SWEEP}\nRRULE:FREQ=WEEKLY;COUNT=5\nEXDATE:20260313T090000"
    starts = [one[0] for one in read(calendar(weekly))]
    assert ["03-06 09:00", "03-20 09:00", "03-27 09:00", "04-03 09:00"] == starts


def test_other_events_are_left_alone() -> None:
    """Lunch, and what was cancelled."""
    lunch = SWEEP.replace("GPUS=64", "Lunch")
    assert [] == read(calendar(lunch, f"{SWEEP}\nSTATUS:CANCELLED"))


def test_it_says_where_it_is_from() -> None:
    """Owner, reason, certainty and a name of its own for each time."""
    event = f"{SWEEP}\nORGANIZER:mailto:ada@example.com\nDESCRIPTION:CERTAINTY=0.8"
    (one,) = announcements_in(calendar(event), BERLIN, SINCE, UNTIL, now_seconds=SINCE)
    assert ("ada@example.com", 0.8, Origin.CALENDAR) == (one.owner, one.certainty, one.origin)
    assert f"sweep@{one.start_seconds}" == one.identifier
    assert "Sweep GPUS=64 POOL=a100/whole-node" == one.reason


def test_a_whole_day_is_the_cluster_s_own() -> None:
    """From midnight to midnight, local time."""
    event = "UID:d\nSUMMARY:GPUS=8\nDTSTART;VALUE=DATE:20260310\nDTEND;VALUE=DATE:20260311"
    (one,) = announcements_in(calendar(event), BERLIN, SINCE, UNTIL, now_seconds=SINCE)
    assert 86_400 == one.lasts_seconds
    assert "2026-03-10 00:00" == f"{datetime.fromtimestamp(one.start_seconds, BERLIN):%F %H:%M}"


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"hello", "cannot be read as iCalendar"),
        (b"\xff\xfe\x00", "cannot be read as iCalendar"),
        (b"x" * (MOST_BYTES + 1), "larger than"),
        (calendar(SWEEP.replace("GPUS=64", "GPUS=0")), "an amount of 0"),
    ],
)
def test_what_is_no_calendar_is_refused(content: bytes, complaint: str) -> None:
    """In one line."""
    with pytest.raises(BadInput, match=complaint) as refused:
        announcements_in(content, BERLIN, SINCE, UNTIL, now_seconds=SINCE)
    assert 1 == len(str(refused.value).splitlines())
