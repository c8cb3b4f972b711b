"""One Kubernetes API server over HTTP: every request ends in time, and none comes too often.

The `kubernetes` client finds the server and proves who we are (kubeconfig, service account, token
rotation); its typed models are passed by, because they take a millisecond per pod and 50,000 pods
are read. What is asked is retried where asking twice is asking once. No foreign exception and no
partial answer may leave this module.
"""

import json
import random
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from actuator.cluster.access import ClusterAccess, Identity
from actuator.cluster.api_errors import NotWell, Throttled, refusal
from actuator.cluster.pace import Pace
from features.errors import SourceUnavailable

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse

Json = dict[str, Any]
APPLY_PATCH = "application/apply-patch+yaml"
MERGE_PATCH = "application/merge-patch+json"
BLOCK_BYTES = 65_536
FIRST_BACKOFF_SECONDS = 0.2
LONGEST_HOLD_SECONDS = 60.0


@dataclass(frozen=True)
class _Question:
    """One request."""

    method: str
    path: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    body: Json | None = None
    content_type: str = "application/json"

    @property
    def is_repeatable(self) -> bool:
        """Asking twice is asking once: our patches hold absolute values."""
        return self.method in {"GET", "PATCH"}

    @property
    def is_eviction(self) -> bool:
        """A 429 then speaks of a disruption budget, not of a busy server."""
        return self.path.endswith("/eviction")

    @property
    def address(self) -> str:
        """Path and parameters as the server reads them."""
        return self.path + (f"?{urlencode(self.parameters)}" if self.parameters else "")


class KubernetesConnection:
    """Asks one API server; safe to share between threads, and meant to be, for the pace's sake.

    Its methods raise `NotThere`, `Conflict`, `Expired` and `Throttled` as named, `BadInput` for
    what the server finds invalid, and else `SourceUnavailable`.
    """

    def __init__(self, access: ClusterAccess, *, clock: Callable[[], float] = monotonic) -> None:
        """Find the server; it is not asked anything yet.

        Raises:
            BadInput: no way to a server is configured.
        """
        self.access = access
        self._clock = clock
        self._closed = threading.Event()
        self._pace = Pace(access.requests_per_second, clock, self._closed.wait)
        self._open: set[BaseHTTPResponse] = set()
        self._identity = Identity(access)
        self._pool = self._identity.pool()

    @property
    def url(self) -> str:
        """Where the server is."""
        return self._identity.url

    @property
    def is_closed(self) -> bool:
        """Whether nothing can be asked any more."""
        return self._closed.is_set()

    def get(self, path: str, parameters: Mapping[str, str] | None = None) -> Json:
        """One object."""
        return self.request("GET", path, parameters)

    def pages(
        self, path: str, parameters: Mapping[str, str] | None = None, limit: int = 1000
    ) -> Iterator[Json]:
        """A list in parts, all as of one version."""
        asked = {**(parameters or {}), "limit": str(limit)}
        while True:
            page = self.request("GET", path, asked)
            yield page
            token = page.get("metadata", {}).get("continue")
            if not token:
                return
            asked["continue"] = token

    def apply(self, path: str, body: Json, manager: str, *, force: bool = False) -> Json:
        """Server-side apply of what this manager wants, which creates what is missing.

        Raises:
            Conflict: another manager owns a field, and it is not forced.
        """
        parameters = {"fieldManager": manager, "force": "true" if force else "false"}
        return self.request("PATCH", path, parameters, body, APPLY_PATCH)

    def merge(self, path: str, body: Json, manager: str) -> Json:
        """A merge patch; with a `resourceVersion` in it only if nobody wrote meanwhile."""
        return self.request("PATCH", path, {"fieldManager": manager}, body, MERGE_PATCH)

    def request(
        self,
        method: str,
        path: str,
        parameters: Mapping[str, str] | None = None,
        body: Json | None = None,
        content_type: str = "application/json",
    ) -> Json:
        """One request; what may be repeated is, while the server is not well or asks us to wait."""
        question = _Question(method, path, parameters or {}, body, content_type)
        ends = self._clock() + self.access.request_timeout_seconds
        for attempt in range(1, self.access.attempts + 1):
            try:
                return self._once(question)
            except (NotWell, Throttled) as error:
                may_repeat = question.is_repeatable or isinstance(error, Throttled)
                is_last = attempt == self.access.attempts or self._clock() > ends
                if is_last or question.is_eviction or not may_repeat:
                    raise
                self.wait(_backoff_seconds(attempt))
        raise AssertionError("there is at least one attempt")

    def watch(self, path: str, parameters: Mapping[str, str], seconds: float) -> Iterator[Json]:
        """The events of a watch, until the server ends it, which it is asked to after so long.

        Raises:
            Expired: the version to go on from is forgotten.
        """
        asked = {**parameters, "watch": "true", "timeoutSeconds": str(max(round(seconds), 1))}
        question = _Question("GET", path, asked)
        with self._answer(question) as response:
            # An answer must begin in time, but then it may be silent for as long as it lasts.
            if (socket := getattr(response.connection, "sock", None)) is not None:
                socket.settimeout(seconds + self.access.request_timeout_seconds)
            rest = b""
            for block in self._blocks(response):
                *lines, rest = (rest + block).split(b"\n")
                for line in lines:
                    yield self._event(line, question)
            if rest:
                raise NotWell(self._broken_off("an event is cut short"))

    def wait(self, seconds: float) -> None:
        """Let time pass, unless the connection is closed meanwhile."""
        self._closed.wait(seconds)

    def close(self) -> None:
        """End every watch and refuse further requests."""
        self._closed.set()
        for response in list(self._open):
            try:
                response.shutdown()
            except (OSError, RuntimeError, ValueError):
                continue  # it had ended by itself
        self._pool.clear()

    def _once(self, question: _Question) -> Json:
        with self._answer(question) as response:
            return self._parsed(self._body(response), question)

    @contextmanager
    def _answer(self, question: _Question) -> Iterator["BaseHTTPResponse"]:
        """A successful answer whose body is still to be read."""
        response = self._send(question)
        self._open.add(response)
        try:
            self._check_open()  # it may have been closed since it was asked
            if not HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES:
                wait = response.headers.get("Retry-After", "")
                if wait.isdigit() and not question.is_eviction:
                    self._pace.hold(min(float(wait), LONGEST_HOLD_SECONDS))
                where = f"{self.url}{question.path}"
                raise refusal(response.status, self._body(response), where)
            yield response
        finally:
            self._open.discard(response)
            response.close()

    def _send(self, question: _Question) -> "BaseHTTPResponse":
        import urllib3

        self._pace.take_turn()
        self._check_open()
        timeout = self.access.request_timeout_seconds
        headers = {"User-Agent": "tidecast", "Content-Type": question.content_type}
        try:
            return self._pool.request(
                question.method,
                self.url + question.address,
                body=None if question.body is None else json.dumps(question.body),
                headers=headers | self._identity.headers(),
                timeout=urllib3.Timeout(connect=timeout, read=timeout),
                retries=False,  # its own would pass by the pace
                preload_content=False,
            )
        except urllib3.exceptions.SSLError as error:
            raise SourceUnavailable(
                f"the certificate of {self.url} is not trusted ({_words(error)}); check the "
                "authority in the kubeconfig"
            ) from error
        except urllib3.exceptions.HTTPError as error:
            raise NotWell(
                f"cannot reach the Kubernetes API at {self.url} ({_words(error)}); check the "
                "address, and that it runs"
            ) from error

    def _check_open(self) -> None:
        if self.is_closed:
            raise SourceUnavailable(f"the connection to {self.url} is closed")

    def _body(self, response: "BaseHTTPResponse") -> bytes:
        ends = self._clock() + self.access.request_timeout_seconds
        body = bytearray()
        for block in self._blocks(response):
            body += block
            if self._clock() > ends:
                raise NotWell(
                    f"{self.url} took longer than {self.access.request_timeout_seconds:g} s for "
                    "one answer"
                )
        return bytes(body)

    def _blocks(self, response: "BaseHTTPResponse") -> Iterator[bytes]:
        """What has come, as it comes."""
        import urllib3

        try:
            while block := response.read1(BLOCK_BYTES, decode_content=True):
                yield block
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise NotWell(self._broken_off(_words(error))) from error
        except (AttributeError, ValueError) as error:  # closed by another thread while it read
            raise SourceUnavailable(f"the connection to {self.url} is closed") from error

    def _broken_off(self, why: str) -> str:
        return f"{self.url} broke off in the middle of an answer ({why}); nothing of it is used"

    def _event(self, line: bytes, question: _Question) -> Json:
        event = self._parsed(line, question)
        if event.get("type") == "ERROR":
            status = event.get("object", {})
            where = f"{self.url}{question.path}"
            raise refusal(status.get("code", 500), json.dumps(status).encode(), where)
        return event

    def _parsed(self, text: bytes, question: _Question) -> Json:
        try:
            answer = json.loads(text)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise SourceUnavailable(
                f"{self.url}{question.path} does not answer as a Kubernetes API does; check the "
                "address"
            )
        return answer


def _backoff_seconds(attempt: int) -> float:
    return FIRST_BACKOFF_SECONDS * 2.0**attempt * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load


def _words(error: BaseException) -> str:
    """What happened, without the library's names for its own objects."""
    return re.sub(r"^HTTPS?Connection(Pool)?\(.*?\): ", "", " ".join(str(error).split()))
