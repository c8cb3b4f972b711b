"""What we rely on of Prometheus' HTTP interface, held by the real one and by our fake alike."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import stamina

from features.errors import BadInput
from features.sources.prometheus_connection import PrometheusConnection
from features.sources.prometheus_http import AnswerTooLarge, PrometheusServer
from features.sources.prometheus_ranges import InstantRange
from tests.fakes.prometheus_server import Asked, FakePrometheus, Reply, error, names, success, text
from tests.fakes.real_prometheus import RealPrometheus, seed

START = 1_767_571_200
SEED = "".join(
    ["# TYPE demo gauge\n"]
    + [f'demo{{pod="a"}} {at // 60 % 2} {START + at}\n' for at in range(0, 1_260, 60)]
    + ["# EOF\n"]
)


def fake_demo(asked: Asked) -> Reply:
    """The same series, and the same refusals, as the seeded Prometheus has."""
    query = asked.parameters.get("query", "")
    if asked.path.endswith("/labels") or asked.path.endswith("/values"):
        there = asked.parameters["match[]"] == "demo"
        values = ["a"] if asked.path.endswith("/values") else ["__name__", "pod"]
        return names(values if there else [])
    if query == "demo{":
        return error(400, "bad_data", "1:6: parse error: unexpected end of input")
    if asked.path.endswith("/query"):
        vector = '[{"metric":{"pod":"a"},"value":[0,"0"]}]'
        return text(f'{{"status":"success","data":{{"resultType":"vector","result":{vector}}}}}')
    first, last, step = (int(asked.parameters[k]) for k in ("start", "end", "step"))
    if (last - first) // step > 11_000:
        return error(400, "bad_data", "exceeded maximum resolution of 11,000 points")
    samples = [[at, str((at - START) // 60 % 2)] for at in range(first, last + 1, step)]
    return success([{"metric": {"pod": "a"}, "values": samples}] if query == "demo" else [])


@pytest.fixture(
    scope="module",
    params=[
        "fake",
        pytest.param("real", marks=[pytest.mark.tool("prometheus"), pytest.mark.tool("promtool")]),
    ],
)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PrometheusServer]:
    if request.param == "fake":
        with FakePrometheus(fake_demo) as fake, stamina.set_testing(True):
            yield PrometheusServer(PrometheusConnection(fake.url))
        return
    directory: Path = tmp_path_factory.mktemp("contract")
    real = RealPrometheus(seed(directory, SEED))
    real.start()
    yield PrometheusServer(PrometheusConnection(real.url))
    real.stop()


def test_a_range_holds_both_its_ends(server: PrometheusServer) -> None:
    """Start and end are instants of the answer."""
    (series,) = server.range("demo", InstantRange(START, START + 300, 60))
    assert [0, 1, 2, 3, 4, 5] == series.positions.tolist()
    assert [0, 1, 0, 1, 0, 1] == series.values.tolist()


def test_what_is_not_there_is_an_empty_answer(server: PrometheusServer) -> None:
    """No series is no error."""
    assert [] == server.range("nothing", InstantRange(START, START + 300, 60))
    assert frozenset() == server.label_names("nothing", START, START + 300)


def test_an_instant_has_labels_and_a_value(server: PrometheusServer) -> None:
    """A vector's samples, as floats."""
    assert [({"pod": "a"}, 0.0)] == server.at("demo + 0", START)


def test_labels_of_a_series(server: PrometheusServer) -> None:
    """Names and values that one series carries."""
    assert {"__name__", "pod"} == server.label_names("demo", START, START + 300)
    assert {"a"} == server.label_values("pod", "demo", START, START + 300)


def test_a_query_that_is_none_is_bad_input(server: PrometheusServer) -> None:
    """A parse error is the user's, and is said in one line."""
    with pytest.raises(BadInput, match=r"refuses a query: .*parse error"):
        server.range("demo{", InstantRange(START, START + 300, 60))


def test_too_many_points_are_too_large(server: PrometheusServer) -> None:
    """More than 11,000 points in a request are refused, so that they can be asked in pieces."""
    with pytest.raises(AnswerTooLarge, match="maximum resolution"):
        server.range("demo", InstantRange(START, START + 60 * 12_000, 60))
