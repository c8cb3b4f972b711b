"""What is read as a query, and what is refused by name."""

import math

import pytest

from forecaster.api.prom.errors import BadQuery, NotAnswered
from forecaster.api.prom.expressions import (
    LONGEST_QUERY,
    Aggregate,
    Number,
    Operation,
    Selector,
    formatted,
    parsed,
    selected,
)
from forecaster.api.prom.matchers import Matcher, MatchKind

ACTUAL = Matcher("__name__", MatchKind.EQUAL, "gpu_demand:actual")


def test_a_selector_with_every_kind_of_matcher_and_an_offset() -> None:
    """Name, labels and offset are read as they are written."""
    expected = Selector(
        (
            ACTUAL,
            Matcher("pool", MatchKind.EQUAL, 'a "b"/whole-node'),
            Matcher("band", MatchKind.NOT_EQUAL, "p10"),
            Matcher("lead", MatchKind.PATTERN, "l.*"),
            Matcher("kind", MatchKind.NOT_PATTERN, "x|y"),
        ),
        offset_seconds=1_800,
    )
    query = (
        r'gpu_demand:actual{pool="a \"b\"/whole-node",band!="p10",lead=~"l.*",kind!~"x|y"}'
        " offset 30m"
    )
    assert expected == parsed(query)


def test_an_offset_may_look_ahead() -> None:
    """A negative offset is one into the future."""
    assert Selector((ACTUAL,), offset_seconds=-300) == parsed("gpu_demand:actual offset -5m")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("sum(gpu_demand:actual)", (Operation.SUM, frozenset(), True)),
        ("max by (pool, band) (gpu_demand:actual)", (Operation.MAX, {"pool", "band"}, True)),
        ("min without (band) (gpu_demand:actual)", (Operation.MIN, {"band"}, False)),
    ],
)
def test_three_aggregations(query: str, expected: tuple[Operation, set[str], bool]) -> None:
    """With `by`, with `without`, and with neither."""
    assert Aggregate(*expected[:1], frozenset(expected[1]), expected[2], Selector((ACTUAL,))) == (
        parsed(query)
    )


@pytest.mark.parametrize(
    ("query", "expected"),
    [("1+1", 2.0), ("-(2*3)", -6.0), ("7/2", 3.5), ("1-4", -3.0), ("1/0", math.inf)],
)
def test_arithmetic_of_plain_numbers(query: str, expected: float) -> None:
    """Grafana's health check is `1+1`."""
    assert Number(expected) == parsed(query)


def test_nothing_over_nothing_is_no_number() -> None:
    """As in Prometheus."""
    found = parsed("0/0")
    assert isinstance(found, Number)
    assert math.isnan(found.value)


@pytest.mark.parametrize(
    "query",
    [
        "rate(gpu_demand:actual[5m])",
        "avg(gpu_demand:actual)",
        "gpu_demand:actual > 5",
        "gpu_demand:actual + gpu_demand:actual",
        "-gpu_demand:actual",
        "gpu_demand:actual[5m]",
        "gpu_demand:actual @ 5",
        'gpu_demand:actual{a="b" or c="d"}',
        '"text"',
        "2 ^ 3",
        "2 > bool 1",
    ],
)
def test_what_is_not_answered_is_refused_and_says_what_is(query: str) -> None:
    """No query is answered in part."""
    with pytest.raises(NotAnswered, match=r"not answered|plain numbers alone") as refused:
        parsed(query)
    assert "Tidecast answers selectors" in str(refused.value)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "sum(",
        "{}",
        "a b",
        'x{a=~"("}',
        "sum(1)",
        "x" * (LONGEST_QUERY + 1),
        "(" * 60 + "1" + ")" * 60,
    ],
)
def test_what_is_no_query_is_bad_data(query: str) -> None:
    """Too long and too deep count as well."""
    with pytest.raises(BadQuery):
        parsed(query)


def test_a_match_is_a_plain_selector() -> None:
    """Anything else is no `match[]`."""
    assert (ACTUAL,) == selected("gpu_demand:actual")
    for wrong in ("sum(gpu_demand:actual)", "rate(x[5m])", "x offset 5m", "1"):
        with pytest.raises(BadQuery, match="match"):
            selected(wrong)


def test_a_query_is_laid_out() -> None:
    """Spaces are where Prometheus has them."""
    assert 'sum by (pool) (x{a="b"})' == formatted('sum by(pool)(x{a="b"})')
    with pytest.raises(BadQuery):
        formatted("sum(")
