"""The webhook about checkpoints: one POST, and an answer that is whole or none."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from actuator.backends.checkpoint_webhook import CheckpointWebhook
from features.errors import SourceUnavailable


class Service:
    """A user's service that says what it is told to."""

    def __init__(self) -> None:
        self.status, self.answer = 200, b"{}"
        self.asked: list[Any] = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                sent = self.rfile.read(int(self.headers["Content-Length"]))
                service.asked.append(json.loads(sent))
                self.send_response(service.status)
                self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", str(len(service.answer)))
                self.end_headers()
                self.wfile.write(service.answer)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server.server_port}/checkpoints"


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service()
    yield made
    made.server.shutdown()
    made.server.server_close()


def test_it_is_asked_for_what_it_knows(service: Service) -> None:
    """Pods that it does not know are left out, and so are those that nobody asked about."""
    service.answer = b'{"checkpoints": {"ml/a": 1700000000, "ml/x": 5}}'
    webhook = CheckpointWebhook(service.url)
    assert {"ml/a": 1_700_000_000} == webhook.reported(["ml/a", "ml/b"])
    assert [{"wanted": "report", "pods": ["ml/a", "ml/b"]}] == service.asked


def test_it_is_asked_to_have_a_checkpoint_saved(service: Service) -> None:
    """It need not answer anything."""
    service.answer = b""
    CheckpointWebhook(service.url).ask(("ml/a",))
    assert [{"wanted": "checkpoint", "pods": ["ml/a"]}] == service.asked


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        (200, b"{}"),
        (200, b""),
        (200, b"[]"),
        (200, b"<html>"),
        (200, b'{"checkpoints": {"ml/a": "soon"}}'),
        (200, b'{"checkpoints": {"ml/a": true}}'),
        (200, b'{"checkpoints": ["ml/a"]}'),
        (302, b""),
        (500, b'{"checkpoints": {"ml/a": 1}}'),
    ],
)
def test_an_answer_that_is_not_whole_is_none(service: Service, status: int, answer: bytes) -> None:
    """It is one line, and nobody is evicted on it."""
    service.status, service.answer = status, answer
    with pytest.raises(SourceUnavailable, match=r"webhook http://127.*/checkpoints: [^\n]+"):
        CheckpointWebhook(service.url).reported(["ml/a"])


def test_a_service_that_is_not_there_is_one_line() -> None:
    """Whatever the library says of it."""
    with pytest.raises(SourceUnavailable, match=r"webhook http://127.0.0.1:9/: [^\n]+"):
        CheckpointWebhook("http://127.0.0.1:9/", timeout_seconds=0.5).ask(["ml/a"])
