"""What expressions come to, on series made by hand."""

from collections.abc import Sequence

import numpy as np
import pytest

from features.series import FloatArray
from forecaster.api.prom.errors import NotAnswered
from forecaster.api.prom.evaluating import MOST_VALUES, evaluated
from forecaster.api.prom.expressions import parsed
from forecaster.api.prom.matchers import Matcher, all_match
from forecaster.api.prom.series import Series, labelled

NAN = np.nan
VALUES = {
    ("a", "p50"): [1.0, 2.0, NAN],
    ("a", "p90"): [4.0, NAN, NAN],
    ("b", "p50"): [10.0, 20.0, 30.0],
}
MOMENTS = np.array([0.0, 60.0, 120.0])


def series(values: list[float], pool: str, band: str) -> Series:
    def at(moments: FloatArray) -> FloatArray:
        rows = (moments // 60).astype(int)
        return np.array([values[row] if 0 <= row < len(values) else NAN for row in rows])

    return Series(labelled("x", pool=pool, band=band), at)


def find(matchers: Sequence[Matcher], since: float, until: float) -> Sequence[Series]:
    every = [series(values, *labels) for labels, values in VALUES.items()]
    return all_match(every, matchers, lambda one: one.labels)


def answer(query: str) -> dict[tuple[tuple[str, str], ...], list[float]]:
    found = evaluated(parsed(query), MOMENTS, find)
    return {tuple(sorted(one.labels.items())): one.values.tolist() for one in found}


def assert_answer(query: str, expected: dict[tuple[tuple[str, str], ...], list[float]]) -> None:
    found = answer(query)
    assert expected.keys() == found.keys()
    for labels, values in expected.items():
        np.testing.assert_array_equal(values, found[labels])


def test_a_sum_by_label_counts_what_is_there() -> None:
    """Where one series has no value the others' count, and where none has there is none."""
    assert_answer(
        "sum by (pool) (x)",
        {(("pool", "a"),): [5.0, 2.0, NAN], (("pool", "b"),): [10.0, 20.0, 30.0]},
    )


def test_a_maximum_without_a_label_keeps_the_others_but_the_name() -> None:
    """As in Prometheus."""
    assert_answer(
        "max without (band) (x)",
        {(("pool", "a"),): [4.0, 2.0, NAN], (("pool", "b"),): [10.0, 20.0, 30.0]},
    )


def test_a_minimum_of_everything_has_no_labels() -> None:
    """One series comes of all."""
    assert_answer("min(x)", {(): [1.0, 2.0, 30.0]})


def test_one_aggregation_of_another() -> None:
    """The inner one first."""
    assert_answer("sum(max by (pool) (x))", {(): [14.0, 22.0, 30.0]})


def test_an_offset_looks_back_or_ahead() -> None:
    """What held then stands at the moment that was asked for."""
    band = (("__name__", "x"), ("band", "p50"), ("pool", "b"))
    assert_answer('x{pool="b"} offset 1m', {band: [NAN, 10.0, 20.0]})
    assert_answer('x{pool="b"} offset -1m', {band: [20.0, 30.0, NAN]})


def test_a_number_is_the_same_at_each_moment() -> None:
    """It has no labels."""
    assert_answer("1+1", {(): [2.0, 2.0, 2.0]})


def test_too_much_is_refused_before_it_is_worked_out() -> None:
    """No series is asked for its values."""

    def never(_: FloatArray) -> FloatArray:
        raise AssertionError("it was read")

    moments = np.arange(10_000.0)
    many = [Series(labelled("x", pool=str(n)), never) for n in range(MOST_VALUES // 10_000 + 1)]
    with pytest.raises(NotAnswered, match="fewer pools"):
        evaluated(parsed("sum(x)"), moments, lambda *_: many)
