"""Stretches of time that were asked for: their arithmetic against sets of seconds, the record."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from forecaster.history.answered import Answered, Span, source_key, united, without

spans = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=8)


def seconds(stretches: list[Span]) -> set[int]:
    return {second for start, end in stretches for second in range(start, end)}


def fewest(wanted: set[int]) -> list[Span]:
    """The stretches that a set of seconds consists of."""
    starts = sorted(second for second in wanted if second - 1 not in wanted)
    ends = sorted(second + 1 for second in wanted if second + 1 not in wanted)
    return list(zip(starts, ends, strict=True))


@given(spans)
def test_united_stretches_cover_the_same_time_in_as_few_as_can_be(some: list[Span]) -> None:
    """Overlapping and touching stretches become one, empty ones vanish."""
    assert fewest(seconds(some)) == united(some)


@given(spans, spans)
def test_without_takes_the_holes_out_and_nothing_else(some: list[Span], holes: list[Span]) -> None:
    """What is left is the time of the stretches outside of the holes."""
    assert fewest(seconds(some) - seconds(holes)) == without(some, holes)


@given(spans)
def test_asked_and_missing_make_up_the_wanted_time(answered: list[Span]) -> None:
    """Whatever was answered, exactly the rest of the wanted time is missing."""
    record = Answered()
    for span in answered:
        record = record.plus("me", span, [])
    wanted = set(range(10, 30))
    assert fewest(wanted - seconds(answered)) == record.missing("me", (10, 30))
    assert [(10, 30)] == record.missing("another", (10, 30))


def test_the_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Spans and files survive the way through the disk."""
    record = Answered().plus("me", (0, 600), ["b", "a"]).plus("me", (900, 1200), ["c"])
    record.write(tmp_path)
    assert record == Answered.read(tmp_path)
    assert {"me": [(0, 600), (900, 1200)]} == record.spans


def test_what_is_forgotten_is_missing_again() -> None:
    """Time of files that are gone counts as never asked for, for every source."""
    record = Answered().plus("me", (0, 600), ["a", "b"]).plus("you", (0, 600), [])
    forgotten = record.forgetting([(100, 200)], ["a"])
    assert [(100, 200)] == forgotten.missing("me", (0, 600)) == forgotten.missing("you", (0, 600))
    assert frozenset({"b"}) == forgotten.files


def test_steps_of_a_source_are_told_apart() -> None:
    """What was asked for by the minute is not what was asked for by the hour."""
    assert source_key("me", 60) != source_key("me", 3600) != source_key("you", 3600)
