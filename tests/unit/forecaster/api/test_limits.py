"""Names, rates, sizes and headers hold before any route is reached."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from forecaster.api.headers import completed
from forecaster.api.limits import MOST_BYTES, MOST_CALLERS, Window
from forecaster.scopes import Scope
from tests.fakes.service import NOW_SECONDS, Service, service, token

PREVIEW = "/v1/announcements/preview"
HEADERS = {"x-content-type-options": "nosniff", "x-frame-options": "DENY"}


async def in_parts(size_bytes: int) -> AsyncIterator[bytes]:
    """A body whose length nobody announces."""
    for _ in range(size_bytes // 1024):
        yield b" " * 1024


def test_a_body_is_at_most_64_kib(local: Service) -> None:
    """One byte more is too much, whatever it holds."""
    assert 422 == local.post(PREVIEW, content=b" " * MOST_BYTES).status_code
    refused = local.post(PREVIEW, content=b" " * (MOST_BYTES + 1))
    assert 413 == refused.status_code
    assert "application/problem+json" == refused.headers["content-type"]


def test_a_body_of_unknown_length_is_cut_off_while_it_comes(local: Service) -> None:
    """Without a Content-Length too."""
    assert 413 == local.post(PREVIEW, content=in_parts(MOST_BYTES + 1024)).status_code
    assert 422 == local.post(PREVIEW, content=in_parts(MOST_BYTES)).status_code


def test_no_more_of_an_endless_body_is_read_than_may_be(local: Service) -> None:
    """What is refused is not waited for."""
    read = 0

    async def receive() -> dict[str, object]:
        nonlocal read
        read += 1024
        return {"type": "http.request", "body": b" " * 1024, "more_body": True}

    sent: list[dict[str, object]] = []

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "POST", "path": PREVIEW, "headers": [(b"host", b"localhost")],
        "client": None,
    }  # fmt: skip
    asyncio.run(local.app(scope, receive, send))  # type: ignore[arg-type]
    assert 413 == sent[0]["status"]
    assert read <= MOST_BYTES + 1024


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8080", "127.0.0.1", "[::1]:80", "10.1.2.3"]
)
def test_the_machine_itself_and_addresses_may_call(local: Service, host: str) -> None:
    """An address cannot be rebound, and probes call by one."""
    assert 200 == local.get("/healthz", headers={"Host": host}).status_code


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.", "", "[::1"]
)
def test_a_foreign_name_is_refused(local: Service, host: str) -> None:
    """A page whose name was rebound to this machine reads nothing."""
    refused = local.get("/v1/pools", headers={"Host": host})
    assert 400 == refused.status_code
    assert "allowed_hosts" in refused.json()["detail"]


def test_an_allowed_name_may_call(tmp_path: Path) -> None:
    """As the settings have it, in any case of letters."""
    with service(tmp_path, allowed_hosts=("Tide.example",)) as opened:
        assert 200 == opened.get("/healthz", headers={"Host": "tide.example:80"}).status_code


def test_a_page_of_another_site_changes_nothing(local: Service) -> None:
    """A browser sends its form here all the same."""
    foreign = {"Origin": "https://evil.example"}
    assert 403 == local.post("/v1/models/champion/rollback", headers=foreign).status_code
    own = {"Origin": "http://127.0.0.1"}
    assert 422 == local.post("/v1/models/champion/rollback", headers=own).status_code


def test_who_asks_too_often_is_told_to_wait(tmp_path: Path) -> None:
    """Until the second is over; others are answered meanwhile."""
    with service(tmp_path, requests_per_second=2) as opened:
        assert [200, 200, 429] == [opened.get("/healthz").status_code for _ in range(3)]
        refused = opened.get("/healthz")
        assert "1" == refused.headers["retry-after"]
        assert "application/problem+json" == refused.headers["content-type"]
        opened.clock.seconds += 1
        assert 200 == opened.get("/healthz").status_code


def test_writing_has_a_limit_of_its_own(tmp_path: Path) -> None:
    """By the minute; reading goes on."""
    with service(tmp_path, writes_per_minute=1) as opened:
        opened.clock.seconds = NOW_SECONDS + 20
        lost = {"node": "a"}
        assert 200 == opened.post("/v1/node-events/node-lost", json=lost).status_code
        refused = opened.post("/v1/node-events/node-lost", json=lost)
        assert (429, "40") == (refused.status_code, refused.headers["retry-after"])
        assert 200 == opened.get("/v1/node-events").status_code
        query = {"data": {"query": "1"}}  # Grafana asks by POST, and changes nothing
        assert 200 == opened.post("/prom/api/v1/query", **query).status_code


def test_a_made_up_token_buys_nothing(tmp_path: Path) -> None:
    """It counts as its sender's address; a real one has a limit of its own."""
    with service(tmp_path, require_token=True, requests_per_second=3) as opened:
        real = token(opened, Scope.READ)
        opened.token = real
        assert 200 == opened.get("/v1/pools").status_code
        for made_up in ("a", "b"):
            opened.token = made_up
            assert 401 == opened.get("/v1/pools").status_code
        opened.token = "c"
        assert 429 == opened.get("/v1/pools").status_code
        opened.token = real
        assert 200 == opened.get("/v1/pools").status_code


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 5)), max_size=60))
def test_a_window_lets_by_what_a_naive_count_does(asked: list[tuple[str, int]]) -> None:
    """For requests in the order of time."""
    window, seen = Window(seconds=2, most=3), []
    for caller, second in sorted(asked, key=lambda one: one[1]):
        seen.append((caller, second // 2))
        may = seen.count((caller, second // 2)) <= 3
        assert may == (window.wait_seconds(caller, second) is None)


def test_ever_new_callers_take_no_more_memory() -> None:
    """Those beyond the most that are told apart count as one."""
    window = Window(seconds=1, most=5)
    waits = [window.wait_seconds(str(number), 0) for number in range(MOST_CALLERS + 10)]
    assert [None] * (MOST_CALLERS + 5) + [1] * 5 == waits
    assert len(window._counts) <= MOST_CALLERS + 1


@pytest.mark.parametrize(
    ("path", "status"),
    [("/v1/pools", 200), ("/v1/nothing", 404), ("/v1/policies/diff?before=0&after=1", 422)],
)
def test_every_answer_carries_the_headers(local: Service, path: str, status: int) -> None:
    """Whatever became of the request; nothing of /v1 is kept by a cache."""
    answer = local.get(path)
    assert status == answer.status_code
    assert HEADERS | {"cache-control": "no-store"} == {
        name: answer.headers[name] for name in (*HEADERS, "cache-control")
    }


def test_an_unforeseen_error_is_a_problem_that_shows_nothing(
    local: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the headers, and without the reason."""

    def fail(*_: object) -> None:
        raise RuntimeError("the secret inside")

    monkeypatch.setattr(type(local.context), "pools", fail)
    with capture_logs() as logged:
        answer = local.get("/v1/pools")
    assert 500 == answer.status_code
    assert ["the secret inside"] == [str(one["exc_info"]) for one in logged]
    assert "secret" not in answer.text
    assert "nosniff" == answer.headers["x-content-type-options"]


def test_a_page_that_says_nothing_of_it_may_load_nothing() -> None:
    """And one that does keeps its own policy."""
    html = (b"content-type", b"text/html; charset=utf-8")
    own = (b"content-security-policy", b"default-src 'self'")
    assert b"default-src 'none'" in dict(completed("/", [html]))[own[0]]
    assert own[1] == dict(completed("/", [html, own]))[own[0]]
    assert own[0] not in dict(completed("/v1/pools", [(b"content-type", b"application/json")]))
