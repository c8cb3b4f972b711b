"""Answers are what Prometheus' own clients can read."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.api.prom.answering import matrix, scalar, success, time_text, value_text, vector
from forecaster.api.prom.evaluating import Evaluated

NAN = np.nan
LABELS = {"pool": 'a "b"\n', "__name__": "x"}


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_reads_back_the_same_and_has_no_exponent(value: float) -> None:
    """Go's shortest form is Python's, but for the exponent."""
    text = value_text(value)
    assert value == float(text)
    assert "e" not in text.lower()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (8.0, "8"),
        (0.1, "0.1"),
        (1e-7, "0.0000001"),
        (1e21, "1" + "0" * 21),
        (NAN, "NaN"),
        (np.inf, "+Inf"),
        (-np.inf, "-Inf"),
    ],
)
def test_numbers_as_prometheus_writes_them(value: float, expected: str) -> None:
    """Whole numbers have no point."""
    assert expected == value_text(value)


def test_times_have_milliseconds_only_where_there_are_any() -> None:
    """As in Prometheus, three digits of them."""
    assert ["4", "4.500", "4.007"] == [time_text(one) for one in (4.0, 4.5, 4.007)]


def test_a_matrix_leaves_gaps_and_silent_series_out() -> None:
    """Values are text, times are numbers, and repeated values are each written."""
    found = [
        Evaluated(LABELS, np.array([3.0, NAN, 3.0, 0.5])),
        Evaluated({"pool": "silent"}, np.full(4, NAN)),
        Evaluated({}, np.array([1.0, 2.0, 3.0, 4.0])),
    ]
    answer = json.loads(matrix(found, np.array([0.0, 60.0, 120.0, 180.0])))
    expected = [
        {"metric": LABELS, "values": [[0, "3"], [120, "3"], [180, "0.5"]]},
        {"metric": {}, "values": [[0, "1"], [60, "2"], [120, "3"], [180, "4"]]},
    ]
    assert {"resultType": "matrix", "result": expected} == answer["data"]
    assert "success" == answer["status"]
    assert "warnings" not in answer


def test_a_vector_leaves_silent_series_out_and_carries_warnings() -> None:
    """Partial data never looks whole."""
    found = [Evaluated(LABELS, np.array([3.0])), Evaluated({}, np.array([NAN]))]
    answer = json.loads(vector(found, 5.5, ["a file is damaged"]))
    expected = [{"metric": LABELS, "value": [5.5, "3"]}]
    assert {"resultType": "vector", "result": expected} == answer["data"]
    assert ["a file is damaged"] == answer["warnings"]


def test_a_scalar_and_plain_data() -> None:
    """Grafana's health check reads the first."""
    assert {"resultType": "scalar", "result": [4, "2"]} == json.loads(scalar(2.0, 4.0))["data"]
    assert ["a"] == json.loads(success(["a"]))["data"]
