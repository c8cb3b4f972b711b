"""Labels are matched as Prometheus matches them."""

import pytest

from forecaster.api.prom.errors import BadQuery
from forecaster.api.prom.matchers import Matcher, MatchKind, all_match

VALUES = ["", "a100", "a100/whole-node", "a\nb"]


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (MatchKind.EQUAL, "a100", ["a100"]),
        (MatchKind.EQUAL, "", [""]),
        (MatchKind.NOT_EQUAL, "a100", ["", "a100/whole-node", "a\nb"]),
        (MatchKind.PATTERN, "a100", ["a100"]),
        (MatchKind.PATTERN, "a100.*", ["a100", "a100/whole-node"]),
        (MatchKind.PATTERN, "a.b|", ["", "a\nb"]),
        (MatchKind.NOT_PATTERN, "a100.*", ["", "a\nb"]),
    ],
)
def test_a_pattern_fits_the_whole_value(kind: MatchKind, value: str, expected: list[str]) -> None:
    """A part of it is not enough, and a dot is any character."""
    kept = Matcher("x", kind, value).keeps(VALUES)
    assert expected == [one for one, keep in zip(VALUES, kept, strict=True) if keep]


def test_a_missing_label_is_an_empty_one() -> None:
    """As in Prometheus, both ways."""
    series = [{"a": "1"}, {"b": "2"}]
    assert [{"b": "2"}] == all_match(series, [Matcher("a", MatchKind.EQUAL, "")], dict)
    assert [{"a": "1"}] == all_match(series, [Matcher("a", MatchKind.NOT_EQUAL, "")], dict)


def test_what_is_no_pattern_says_so() -> None:
    """One clear line, whatever the parser let by."""
    with pytest.raises(BadQuery, match="no regular expression"):
        Matcher("x", MatchKind.PATTERN, "(").keeps(["a"])


def test_a_pattern_that_would_take_for_ever_elsewhere_does_not_here() -> None:
    """Patterns of strangers run in linear time."""
    assert [False] == Matcher("x", MatchKind.PATTERN, "(a+)+b").keeps(["a" * 5_000])
