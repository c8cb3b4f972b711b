"""Due times follow from the schedule alone, also where the clocks change."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from features.errors import BadInput
from forecaster.scheduling.schedules import Cron, Every, Schedule

BERLIN, NEW_YORK = "Europe/Berlin", "America/New_York"
YEAR_SECONDS = 366 * 86_400
SPRING, AUTUMN = 1_774_746_000, 1_792_890_000  # 2026-03-29 and 2026-10-25, 01:00 UTC, in Berlin

schedules = st.one_of(
    st.builds(Every, st.integers(60, 7_200), st.integers(0, 59)),
    st.builds(
        Cron,
        st.sampled_from(
            ["*/5 * * * *", "30 3 * * *", "30 2 * * *", "15 */4 * * *", "0 9 * * 1-5", "0 0 29 2 *"]
        ),
        st.sampled_from(["UTC", BERLIN, NEW_YORK, "Asia/Kolkata"]),
    ),
)
moments = st.one_of(
    st.integers(1_767_225_600, 1_767_225_600 + 2 * YEAR_SECONDS),
    st.integers(SPRING - 7_200, SPRING + 7_200),
    st.integers(AUTUMN - 7_200, AUTUMN + 7_200),
)


def local(seconds: int | None, zone: str) -> str:
    assert seconds is not None
    return f"{datetime.fromtimestamp(seconds, ZoneInfo(zone)):%Y-%m-%d %H:%M %z}"


@settings(max_examples=60, deadline=None)
@given(schedules, moments)
@example(Cron("30 2 * * *", BERLIN), SPRING)
@example(Cron("30 2 * * *", BERLIN), AUTUMN)
@example(Cron("30 2 * * *", BERLIN), AUTUMN + 1_800)
def test_now_lies_between_the_last_due_time_and_the_next(schedule: Schedule, now: int) -> None:
    """And nothing is due between these two."""
    last, following = schedule.last_due(now), schedule.next_due(now)
    assert now < following
    assert following == schedule.last_due(following)
    if last is not None:
        assert last <= now
        assert last == schedule.last_due(following - 1) == schedule.last_due(last)
        assert following == schedule.next_due(last)


def test_a_period_lies_on_a_fixed_grid() -> None:
    """A little after each multiple, whenever one looks."""
    schedule = Every(300, 20)
    assert [20, 20, 320, 320] == [schedule.last_due(now) for now in (20, 319, 320, 619)]
    assert [320, 320, 620] == [schedule.next_due(now) for now in (20, 319, 320)]


@pytest.mark.parametrize(("period", "offset"), [(0, 0), (300, 300), (300, -1)])
def test_a_grid_that_is_none_is_refused(period: int, offset: int) -> None:
    """The offset is shorter than the period."""
    with pytest.raises(BadInput, match="offset must be shorter"):
        Every(period, offset)


def test_a_line_keeps_its_local_time_when_the_clocks_change() -> None:
    """In the night without half past two it runs after the gap; of two it takes the first."""
    nightly = Cron("30 2 * * *", BERLIN)
    times = [local(nightly.next_due(SPRING - 86_400), BERLIN)]
    times.append(local(nightly.next_due(SPRING - 7_200), BERLIN))
    times.append(local(nightly.next_due(SPRING + 7_200), BERLIN))
    assert ["2026-03-28 02:30 +0100", "2026-03-29 03:00 +0200", "2026-03-30 02:30 +0200"] == times
    first = nightly.next_due(AUTUMN - 7_200)
    assert "2026-10-25 02:30 +0200" == local(first, BERLIN)
    assert "2026-10-26 02:30 +0100" == local(nightly.next_due(first), BERLIN)
    assert first == nightly.last_due(AUTUMN + 7_200)


def test_a_rare_day_is_found_years_back() -> None:
    """29 February comes every four years."""
    leap = Cron("0 0 29 2 *")
    now = int(datetime(2027, 12, 1, tzinfo=ZoneInfo("UTC")).timestamp())
    assert "2024-02-29 00:00 +0000" == local(leap.last_due(now), "UTC")
    assert "2028-02-29 00:00 +0000" == local(leap.next_due(now), "UTC")


@pytest.mark.parametrize(
    "line", ["", "30 3 * *", "61 3 * * *", "0 30 3 * * *", "0 0 31 2 *", "every day"]
)
def test_a_line_that_is_none_is_refused(line: str) -> None:
    """In one line."""
    with pytest.raises(BadInput, match=r"schedule: '.*' (is no cron line|never comes)") as told:
        Cron(line)
    assert 1 == len(str(told.value).splitlines())


def test_a_zone_that_there_is_not_is_refused() -> None:
    """Before anything runs."""
    with pytest.raises(BadInput):
        Cron("30 3 * * *", "Europe/Nowhere")


def test_schedules_say_what_they_are() -> None:
    """For people."""
    assert "every 300 s" == str(Every(300))
    assert "30 3 * * * (Europe/Berlin)" == str(Cron("30 3 * * *", BERLIN))
