"""What holds before any route is reached: who may be called by which name, how often, how much.

It knows no route. What it keeps is bounded whatever callers send, and no response leaves without
the headers of `headers`, not even that of an error which nobody expected.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from http import HTTPStatus
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from forecaster.api.headers import completed
from forecaster.api.problems import refusal, unexpected
from forecaster.settings.serving import ServiceSettings

MOST_BYTES = 65_536
LONGEST_LENGTH = 12
"""Digits of a Content-Length that are read; servers let nothing but digits through."""

MOST_CALLERS = 10_000
"""Told apart within one stretch of time; all others count as one."""

READS = frozenset({"GET", "HEAD", "OPTIONS"})
MINUTE_SECONDS = 60


@dataclass
class Window:
    """Counts what each caller asked for within a stretch of time; with its end all is forgotten.

    Attributes:
        seconds: how long a stretch lasts.
        most: requests of one caller in it.
    """

    seconds: int
    most: int
    _stretch: int = field(default=0, init=False)
    _counts: dict[str, int] = field(default_factory=dict, init=False)

    def wait_seconds(self, caller: str, now_seconds: int) -> int | None:
        """Count a request; gives how long to wait if it is one too many."""
        stretch = now_seconds // self.seconds
        if stretch != self._stretch:
            self._stretch, self._counts = stretch, {}
        if caller not in self._counts and len(self._counts) >= MOST_CALLERS:
            caller = ""
        count = self._counts.get(caller, 0) + 1
        self._counts[caller] = count
        return None if count <= self.most else self.seconds - now_seconds % self.seconds


class Limits:
    """ASGI middleware: names, origins, rates and sizes first, then the app."""

    def __init__(
        self,
        app: ASGIApp,
        settings: ServiceSettings,
        clock: Callable[[], int],
        is_known_token: Callable[[str], bool],
    ) -> None:
        """Wrap an app.

        Args:
            app: what is asked once a request may pass.
            settings: names and rates.
            clock: Unix time.
            is_known_token: whether a token was lately found to count; any other counts as its
                sender's address, so that made-up tokens buy nothing.
        """
        self._app, self._clock, self._is_known_token = app, clock, is_known_token
        self._reads = Window(1, settings.requests_per_second)
        self._writes = Window(MINUTE_SECONDS, settings.writes_per_minute)
        names = frozenset(name.lower() for name in (*settings.allowed_hosts, settings.host))
        self._is_allowed = lru_cache(maxsize=256)(lambda host: _is_allowed(host, names))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let the app answer it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_answered = False

        async def send_completed(message: Message) -> None:
            nonlocal is_answered
            if message["type"] == "http.response.start":
                is_answered = True
                message = {**message, "headers": completed(scope["path"], [*message["headers"]])}
            await send(message)

        try:
            headers = Headers(scope=scope)
            self._check_names(scope, headers)
            self._check_rate(scope, headers)
            whole = await _whole_body(scope, headers, receive)
            await self._app(scope, whole, send_completed)
        except HTTPException as error:
            await refusal(error)(scope, receive, send_completed)
        except Exception as error:
            if is_answered:
                raise
            await unexpected(scope["path"], error)(scope, receive, send_completed)

    def _check_names(self, scope: Scope, headers: Headers) -> None:
        """Refuse foreign names (DNS rebinding), and what a foreign page makes a browser send."""
        host = headers.get("host", "")
        if not self._is_allowed(host):
            raise HTTPException(
                HTTPStatus.BAD_REQUEST,
                f"this service is not called {host[:100]!r}; add the name to service.allowed_hosts",
            )
        origin = headers.get("origin")
        if scope["method"] not in READS and origin and origin.partition("://")[2] != host:
            raise HTTPException(
                HTTPStatus.FORBIDDEN, "this comes from another site's page; send it from here"
            )

    def _check_rate(self, scope: Scope, headers: Headers) -> None:
        window = self._reads if _reads(scope) else self._writes
        wait_seconds = window.wait_seconds(self._caller(scope, headers), self._clock())
        if wait_seconds is not None:
            raise HTTPException(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"more than {window.most} requests in {window.seconds} s; wait {wait_seconds} s",
                {"Retry-After": str(wait_seconds)},
            )

    def _caller(self, scope: Scope, headers: Headers) -> str:
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and self._is_known_token(token):
            return sha256(token.encode()).hexdigest()
        client = scope.get("client")
        return client[0] if client else "unknown"


def _reads(scope: Scope) -> bool:
    """Whether a request changes nothing; queries of `/prom` are posted when they are long."""
    return scope["method"] in READS or scope["path"].startswith("/prom/")


def _is_read(scope: Scope) -> bool:
    """Whether a request changes nothing; Prometheus clients send long queries by POST."""
    is_query: bool = scope["path"].startswith("/prom/")
    return scope["method"] in READS or is_query


def _is_allowed(host: str, names: frozenset[str]) -> bool:
    """Whether a Host header is one of ours; an address cannot be rebound, so any will do."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    if name == "localhost" or name in names:
        return True
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


async def _whole_body(scope: Scope, headers: Headers, receive: Receive) -> Receive:
    """What gives the body that was received, which is never more than `MOST_BYTES`.

    Raises:
        HTTPException: 413 for a larger one, as soon as that is known.
    """
    if scope["method"] in READS:
        return receive
    _check_size(int(headers.get("content-length", "0")[:LONGEST_LENGTH]))
    body = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            break
        body += message.get("body", b"")
        _check_size(len(body))
        if not message.get("more_body"):
            message = {"type": "http.request", "body": body, "more_body": False}
            break
    told = [message]

    async def replay() -> Message:
        return told.pop() if told else await receive()

    return replay


def _check_size(size_bytes: int) -> None:
    if size_bytes > MOST_BYTES:
        raise HTTPException(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"the body is larger than {MOST_BYTES} bytes; send less",
        )
