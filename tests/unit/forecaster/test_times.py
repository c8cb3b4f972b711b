"""Times on the command line mean one thing only."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from features.errors import BadInput
from forecaster.cli.times import check_order, moment_text, parse_time

BERLIN = ZoneInfo("Europe/Berlin")
NINE_UTC = 1_772_355_600  # 2026-03-01T09:00:00Z


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-01T09:00Z", NINE_UTC),
        ("2026-03-01T09:00:00Z", NINE_UTC),
        ("2026-03-01T10:00+01:00", NINE_UTC),
        ("2026-03-01", NINE_UTC - 10 * 3600),
        ("2026-07-01", 1_782_856_800),  # midnight in Berlin is 22:00 UTC the day before in summer
        ("1772355600", NINE_UTC),
        ("86400", 86_400),
    ],
)
def test_a_moment_is_read_as_it_is_written(text: str, expected: int) -> None:
    """Offsets count, a date begins at the cluster's midnight, a number is seconds."""
    assert expected == parse_time(text, "--since", BERLIN)


@pytest.mark.parametrize("text", ["2026-03-01T09:00", "2026-03-01 09:00:00"])
def test_a_time_without_a_zone_is_refused(text: str) -> None:
    """It could mean two instants, so it means none."""
    with pytest.raises(BadInput, match=r"--since: .* has no time zone; add Z or an offset"):
        parse_time(text, "--since", BERLIN)


@pytest.mark.parametrize("text", ["yesterday", "", "2026-13-01", "1e5", "NaN"])
def test_what_is_no_time_is_refused(text: str) -> None:
    """The message shows how to write one."""
    with pytest.raises(BadInput, match=f"--until: '{text}' is not a time; write it as"):
        parse_time(text, "--until", BERLIN)


@given(st.integers(min_value=0, max_value=4_000_000_000))
def test_reading_undoes_writing(seconds: int) -> None:
    """Any instant survives being written in UTC or as seconds."""
    written = datetime.fromtimestamp(seconds, tz=UTC).isoformat()
    assert seconds == parse_time(written, "--at", BERLIN)
    assert seconds == parse_time(str(seconds), "--at", BERLIN)


def test_an_end_before_its_start_is_refused() -> None:
    """Nothing lies between them; an open end is fine."""
    check_order(10, 20)
    check_order(None, 20)
    for end in (10, 5):
        with pytest.raises(BadInput, match="--until is not after --since"):
            check_order(10, end)


def test_people_read_local_time_and_the_days_of_a_trace() -> None:
    """A trace without dates has no calendar to show."""
    assert "2026-03-01 10:00 +0100" == moment_text(NINE_UTC, BERLIN)
    assert "day 2 03:05" == moment_text(2 * 86_400 + 3 * 3600 + 5 * 60, BERLIN)
