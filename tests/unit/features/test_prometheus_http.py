"""Everything a Prometheus, or what stands where one should, can do to a request."""

import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
import stamina

from features.errors import BadInput, SourceUnavailable
from features.sources.prometheus_connection import PrometheusConnection
from features.sources.prometheus_http import PrometheusServer, RangeSeries
from features.sources.prometheus_ranges import InstantRange
from tests.fakes.prometheus_server import (
    Asked,
    FakePrometheus,
    Reply,
    broken_off,
    endless,
    error,
    html,
    many_series,
    names,
    success,
    text,
)

RANGE = InstantRange(600, 1500, 300)
ONE_SERIES = [{"metric": {"gpu_type": "a100"}, "values": [[600, "1"], [1200, "NaN"]]}]


@pytest.fixture(autouse=True)
def retries_do_not_wait() -> Iterator[None]:
    with stamina.set_testing(True, attempts=3):
        yield


def ask(
    reply: Reply | Callable[[Asked], Reply], promql: str = "up", **options: object
) -> tuple[list[RangeSeries], list[Asked]]:
    answers = reply if callable(reply) else lambda _: reply
    with FakePrometheus(answers) as fake:
        connection = replace(PrometheusConnection(fake.url), **options)
        return PrometheusServer(connection).range(promql, RANGE), fake.asked


def test_samples_are_laid_at_their_instants() -> None:
    """An absent sample has no position, and NaN stays NaN."""
    (series,), _ = ask(success(ONE_SERIES))
    assert {"gpu_type": "a100"} == series.labels
    assert [0, 2] == series.positions.tolist()
    np.testing.assert_array_equal([1.0, np.nan], series.values)


def test_a_query_travels_in_the_body() -> None:
    """However long a query is, no proxy sees a long URL; instants and step are as asked."""
    promql = "up + " * 5_000 + 'on () {x="ä&="}'
    _, (asked,) = ask(success([]), promql)
    assert ("POST", "/api/v1/query_range", False) == (asked.method, asked.path, asked.in_url)
    assert promql == asked.parameters["query"]
    assert ("600", "1500", "300") == tuple(asked.parameters[k] for k in ("start", "end", "step"))


def test_the_server_is_spared() -> None:
    """Answers come uncompressed unless the user asks otherwise; it gives up before we do."""
    _, (asked,) = ask(success([]), request_timeout_seconds=20.0)
    assert ("identity", "18s") == (asked.headers["Accept-Encoding"], asked.parameters["timeout"])
    _, (asked,) = ask(success([]), headers=(("Accept-Encoding", "gzip"),))
    assert "gzip" == asked.headers["Accept-Encoding"]


def test_a_server_that_asks_for_time_gets_some() -> None:
    """Its Retry-After holds, up to ten seconds."""
    for told, expected in (("3", 3.0), ("600", 10.0), ("soon", None)):
        with pytest.raises(SourceUnavailable, match="HTTP 503") as caught:
            ask(text("{}", 503, (("Retry-After", told),)))
        assert expected == caught.value.after_seconds  # type: ignore[attr-defined]


def test_who_asks_is_told() -> None:
    """Token, user and tenant go along with every request."""
    _, (asked,) = ask(success([]), token="secret", headers=(("X-Scope-OrgID", "team"),))
    assert ("Bearer secret", "team") == (
        asked.headers["Authorization"],
        asked.headers["X-Scope-OrgID"],
    )
    _, (asked,) = ask(success([]), basic_auth=("me", "word"))
    assert "Basic bWU6d29yZA==" == asked.headers["Authorization"]


def test_secrets_do_not_show() -> None:
    """A connection can be printed."""
    shown = repr(PrometheusConnection("http://here", token="secret", headers=(("Key", "hidden"),)))
    assert "secret" not in shown
    assert "hidden" not in shown


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (success(ONE_SERIES, ["shard 2 is away"]), r"only in part \(shard 2 is away\)"),
        (html(), "does not answer as a Prometheus does"),
        (html(404), r"no Prometheus API \(HTTP 404\); check the URL"),
        (text("{}"), "does not answer as a Prometheus does"),
        (text("[]"), "does not answer as a Prometheus does"),
        (error(401, "unauthorized", "no"), "refuses access"),
        (html(403), "refuses access"),
        (text("", 302, (("Location", "https://there"),)), "redirects to https://there"),
        (broken_off(), "broke off in the middle"),
        (error(503, "unavailable", "starting"), r"fails \(HTTP 503: starting\)"),
        (error(500, "internal", "disk"), r"fails \(HTTP 500: disk\)"),
        (error(429, "limit", "slow down"), r"fails \(HTTP 429: slow down\)"),
        (error(422, "execution", "query would load too many samples"), "could not answer"),
        (endless(), "longer than 1000000 bytes"),
    ],
)
def test_what_is_no_whole_answer_is_none(reply: Reply, message: str) -> None:
    """Partial, foreign, failing and endless answers are one clear error each."""
    with pytest.raises(SourceUnavailable, match=message) as caught:
        ask(reply, max_bytes=1_000_000)
    assert "\n" not in str(caught.value)


def test_a_refused_query_is_the_users() -> None:
    """A query that Prometheus cannot read is bad input, in Prometheus' own words."""
    with pytest.raises(BadInput, match="refuses a query: parse error: unclosed"):
        ask(error(400, "bad_data", "parse error: unclosed"))


def test_labels_that_look_like_warnings_are_none() -> None:
    """A label named 'warnings' does not make an answer partial."""
    series, _ = ask(success([{"metric": {"warnings": "warnings"}, "values": [[600, "1"]]}]))
    assert 1 == len(series)


def test_a_million_series_are_cut_off_early() -> None:
    """The answer is left at the limit, in a few megabytes, with the way out in the message."""
    tracemalloc.start()
    with pytest.raises(BadInput, match=r"more than 5000 series; aggregate it"):
        ask(many_series(1_000_000))
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 64_000_000


def test_as_many_series_as_allowed_are_taken() -> None:
    """The limit itself is still allowed."""
    series, _ = ask(many_series(40), max_series=40)
    assert 40 == len(series)


def test_series_are_counted_across_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """However the body is cut on its way, the limit holds."""
    monkeypatch.setattr("features.sources.prometheus_http.BLOCK_BYTES", 7)
    with pytest.raises(BadInput, match="more than 40 series"):
        ask(many_series(41), max_series=40)
    series, _ = ask(many_series(40), max_series=40)
    assert 40 == len(series)


def test_a_server_that_hangs_is_left() -> None:
    """The time-out holds for the body too, and the call is not made again."""
    with FakePrometheus(lambda _: fake.hang()) as fake:
        server = PrometheusServer(PrometheusConnection(fake.url, request_timeout_seconds=0.1))
        with pytest.raises(SourceUnavailable, match=r"took longer than 0\.1 s"):
            server.range("up", RANGE)
        assert 1 == len(fake.asked)


def test_a_server_that_drips_is_left() -> None:
    """A byte now and then does not keep a request alive beyond its time."""

    def drip() -> Iterator[bytes]:
        while True:
            fake_is_left.wait(0.02)
            yield b" "

    import threading

    fake_is_left = threading.Event()
    with (
        FakePrometheus(lambda _: Reply(body=drip)) as fake,
        pytest.raises(SourceUnavailable, match=r"took longer than 0\.2 s"),
    ):
        PrometheusServer(PrometheusConnection(fake.url, request_timeout_seconds=0.2)).at("up", 0)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_may_pass_is_tried_again(status: int) -> None:
    """An overloaded or failing server gets another request, and its answer then counts."""
    replies = iter([error(status, "x", "y"), broken_off(), success(ONE_SERIES)])
    series, asked = ask(lambda _: next(replies))
    assert (1, 3) == (len(series), len(asked))


@pytest.mark.parametrize(
    "reply", [error(400, "bad_data", "no"), html(404), success([], ["partial"]), html()]
)
def test_what_will_not_pass_is_asked_once(reply: Reply) -> None:
    """Refusals, wrong servers and partial answers are not asked for again."""
    asked = []

    def once(request: Asked) -> Reply:
        asked.append(request)
        return reply

    with pytest.raises((BadInput, SourceUnavailable)):
        ask(once)
    assert 1 == len(asked)


def test_nobody_there() -> None:
    """An unreachable server is named, with what to check."""
    with FakePrometheus(lambda _: success([])) as fake:
        url = fake.url
    with pytest.raises(SourceUnavailable, match=f"cannot reach Prometheus at {url} .*refused"):
        PrometheusServer(PrometheusConnection(url)).at("up", 0)


def test_an_answer_too_large_is_fetched_in_pieces() -> None:
    """Halves of a refused span are asked for until they pass; positions count from the first."""

    def at_most_one(asked: Asked) -> Reply:
        first, last = int(asked.parameters["start"]), int(asked.parameters["end"])
        if first != last:
            return error(422, "execution", "query processing would load too many samples")
        return success([{"metric": {}, "values": [[first, str(first)]]}])

    with FakePrometheus(at_most_one) as fake:
        pieces = list(PrometheusServer(PrometheusConnection(fake.url)).pieces("up", RANGE))
    assert [0, 1, 2, 3] == [int(one.positions[0]) for one in pieces]
    assert [600.0, 900.0, 1200.0, 1500.0] == [float(one.values[0]) for one in pieces]


def test_no_request_is_longer_than_allowed() -> None:
    """A range is cut at the points of one request, and at the longest span."""
    with FakePrometheus(lambda _: success([])) as fake:
        server = PrometheusServer(PrometheusConnection(fake.url, max_points=3))
        list(server.pieces("up", RANGE))
        list(server.pieces("up", RANGE, longest_seconds=600))
    starts = [asked.parameters["start"] for asked in fake.asked]
    assert ["600", "1500", "600", "1200"] == starts


def test_labels_of_a_series() -> None:
    """Label names and values are asked for one series and one span."""
    with FakePrometheus(lambda _: names(["node", "resource"])) as fake:
        server = PrometheusServer(PrometheusConnection(fake.url))
        assert {"node", "resource"} == server.label_names("kube_x", 0, 60)
        assert {"node", "resource"} == server.label_values("resource", "kube_x", 0, 60)
    assert ["kube_x", "kube_x"] == [asked.parameters["match[]"] for asked in fake.asked]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"url": "prometheus:9090"}, "not a Prometheus URL"),
        ({"url": "http://me:word@here"}, "user and password"),
        ({"url": "http://h", "token": "a", "basic_auth": ("b", "c")}, "give only one"),
        ({"url": "http://h", "request_timeout_seconds": 0}, "must be positive"),
        ({"url": "http://h", "max_points": 0}, "must be positive"),
    ],
)
def test_connections_that_cannot_be(options: dict[str, object], message: str) -> None:
    """A connection that cannot work is refused before it is tried, without showing secrets."""
    with pytest.raises(BadInput, match=message) as caught:
        PrometheusConnection(**options)  # type: ignore[arg-type]
    assert "word" not in str(caught.value).replace("password", "")
