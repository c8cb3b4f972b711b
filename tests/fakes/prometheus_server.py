"""A Prometheus over real HTTP that answers what a test tells it to, and fails as the real ones do.

It is honest: it speaks the same API, checks the form of a request, and records what it was asked.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class Reply:
    """One answer.

    Attributes:
        status: HTTP status.
        body: parts of the body, sent one after the other; it may be endless.
        headers: more headers.
        promised_bytes: Content-Length; None leaves it out and closes the connection at the end.
    """

    status: int = 200
    body: Callable[[], Iterator[bytes]] = lambda: iter(())
    headers: tuple[tuple[str, str], ...] = ()
    promised_bytes: int | None = None


@dataclass(frozen=True)
class Asked:
    """One request as it arrived: path, parameters, where these stood, and headers."""

    method: str
    path: str
    parameters: Mapping[str, str]
    in_url: bool
    headers: Mapping[str, str]


def text(body: str, status: int = 200, headers: tuple[tuple[str, str], ...] = ()) -> Reply:
    """Any text."""
    return Reply(status, lambda: iter((body.encode(),)), headers, len(body.encode()))


def success(result: Sequence[object], warnings: Sequence[str] = ()) -> Reply:
    """A successful matrix, with warnings if there are any."""
    answer: dict[str, object] = {
        "status": "success",
        "data": {"resultType": "matrix", "result": result},
    }
    if warnings:
        answer["warnings"] = list(warnings)
    return text(json.dumps(answer, separators=(",", ":")))


def names(values: Sequence[str]) -> Reply:
    """Label names or values."""
    return text(json.dumps({"status": "success", "data": list(values)}))


def error(status: int, kind: str, message: str) -> Reply:
    """An error as Prometheus words it."""
    return text(json.dumps({"status": "error", "errorType": kind, "error": message}), status)


def html(status: int = 200) -> Reply:
    """What a proxy or another server says."""
    return text("<!DOCTYPE html><html><body>Welcome</body></html>", status)


def broken_off() -> Reply:
    """Half of what was promised."""
    half = b'{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"val'
    return Reply(body=lambda: iter((half,)), promised_bytes=2 * len(half))


def many_series(count: int) -> Reply:
    """So many series of one sample, made as they are sent."""

    def body() -> Iterator[bytes]:
        yield b'{"status":"success","data":{"resultType":"matrix","result":['
        for number in range(count):
            comma = b"," if number else b""
            yield comma + b'{"metric":{"pod":"p-%d"},"values":[[0,"1"]]}' % number
        yield b"]}}"

    return Reply(body=body)


def endless() -> Reply:
    """One string that never ends."""

    def body() -> Iterator[bytes]:
        yield b'{"status":"success","data":"'
        while True:
            yield b"x" * 65_536

    return Reply(body=body)


@dataclass
class FakePrometheus:
    """Serves on a free port while it is entered.

    Attributes:
        answers: gives the reply to a request; may be exchanged at any time.
        asked: every request so far.
    """

    answers: Callable[[Asked], Reply]
    asked: list[Asked] = field(default_factory=list)

    def __enter__(self) -> "FakePrometheus":
        self._released = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._released.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def hang(self) -> Reply:
        """A reply that sends nothing until the server is left."""

        def body() -> Iterator[bytes]:
            self._released.wait()
            yield from ()

        return Reply(body=body, promised_bytes=10)


def _handler(fake: FakePrometheus) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def _answer(self) -> None:
            url = urlsplit(self.path)
            sent = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            parameters = {k: v[0] for k, v in parse_qs(url.query or sent).items()}
            asked = Asked(self.command, url.path, parameters, bool(url.query), dict(self.headers))
            fake.asked.append(asked)
            reply = fake.answers(asked)
            self.send_response(reply.status)
            for name, value in reply.headers:
                self.send_header(name, value)
            if reply.promised_bytes is not None:
                self.send_header("Content-Length", str(reply.promised_bytes))
            self.close_connection = True
            self.send_header("Connection", "close")
            self.end_headers()
            try:
                for part in reply.body():
                    self.wfile.write(part)
            except OSError:
                return  # the client has heard enough

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler
