"""One Prometheus over HTTP: every answer is bounded, and none is taken for whole that is not.

`prometheus-api-client` makes the requests. What it leaves open is closed below it, in the adapter
of its session: it has no limit on what it reads, it drops the `warnings` that mark a partial
answer, and it puts a POST's query into the URL, where proxies cut long ones.
"""

import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit, urlunsplit

import numpy as np

from features.errors import BadInput, SourceUnavailable
from features.series import FloatArray, IntArray
from features.sources.prometheus_connection import PrometheusConnection
from features.sources.prometheus_ranges import InstantRange

if TYPE_CHECKING:
    from prometheus_api_client import PrometheusConnect
    from requests import Response

Answer = TypeVar("Answer")
MALFORMED = (ValueError, LookupError, TypeError, AttributeError)
BLOCK_BYTES = 65_536
WEEK_SECONDS = 7 * 86_400
SERIES_MARK = b'"metric":{'
LONGEST_BACKOFF_SECONDS = 10.0
OVERLOAD = re.compile(
    r"too many samples|maximum resolution|timed out|too many (chunks|points)|exceeded .*limit",
    re.IGNORECASE,
)


class AnswerTooLarge(SourceUnavailable):
    """More than the server or we can take at once; a shorter span may do."""


class _TryAgain(SourceUnavailable):
    """The server is not there, or not well; the same request may succeed later."""

    def __init__(self, message: str, after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.after_seconds = after_seconds


@dataclass(frozen=True, eq=False)
class RangeSeries:
    """One series of a range answer.

    Attributes:
        labels: its labels.
        positions: index of each sample's instant in the range, shape (samples,).
        values: the samples, NaN where Prometheus says NaN, shape (samples,).
    """

    labels: Mapping[str, str]
    positions: IntArray
    values: FloatArray


class PrometheusServer:
    """Asks one Prometheus; every foreign error leaves as one of ours."""

    def __init__(self, connection: PrometheusConnection) -> None:
        self.connection = connection
        self._client: PrometheusConnect | None = None

    def range(self, promql: str, instants: InstantRange) -> list[RangeSeries]:
        """The samples of an expression at these instants.

        Raises:
            AnswerTooLarge: the span is too long for the server or for our limit on bytes.
            SourceUnavailable: no answer, or part of one.
            BadInput: the expression is refused, or has more series than the limit.
        """
        first, last = instants.first_seconds, instants.last_seconds
        results = self._ask(
            lambda client: client.custom_query_range(
                promql,
                datetime.fromtimestamp(first, tz=UTC),
                datetime.fromtimestamp(last, tz=UTC),
                str(instants.step_seconds),
                # The server gives up before we do, and says so; then a shorter span is tried.
                params={"timeout": f"{self.connection.request_timeout_seconds * 0.9:g}s"},
            )
        )
        return [_range_series(one, instants) for one in results]

    def pieces(
        self, promql: str, instants: InstantRange, longest_seconds: int = WEEK_SECONDS
    ) -> Iterator[RangeSeries]:
        """Samples over a long range, asked for in as many pieces as the server needs.

        A series comes once per piece; its positions count from the first instant of all. Errors
        as `range`, where not even one instant can be answered.
        """
        points = min(self.connection.max_points, longest_seconds // instants.step_seconds)
        waiting = list(reversed(instants.chunks(max(points, 1))))
        while waiting:
            piece = waiting.pop()
            try:
                answer = self.range(promql, piece)
            except AnswerTooLarge:
                if len(piece) == 1:
                    raise
                waiting.extend(reversed(piece.halves()))
                continue
            offset = (piece.first_seconds - instants.first_seconds) // instants.step_seconds
            for one in answer:
                yield RangeSeries(one.labels, one.positions + offset, one.values)

    def at(self, promql: str, seconds: int) -> list[tuple[Mapping[str, str], float]]:
        """Labels and value of each sample of an expression at one instant; errors as `range`."""
        results = self._ask(lambda client: client.custom_query(promql, params={"time": seconds}))
        return [(one["metric"], float(one["value"][1])) for one in results]

    def label_names(self, series: str, start_seconds: int, end_seconds: int) -> frozenset[str]:
        """Labels that a series carries in a span; none if it is not there. Errors as `range`."""
        params = {"match[]": series, "start": start_seconds, "end": end_seconds}
        return frozenset(self._ask(lambda client: client.get_label_names(params=params)))

    def label_values(
        self, label: str, series: str, start_seconds: int, end_seconds: int
    ) -> frozenset[str]:
        """Values of a label of a series in a span. Errors as `range`."""
        params = {"match[]": series, "start": start_seconds, "end": end_seconds}
        return frozenset(self._ask(lambda client: client.get_label_values(label, params=params)))

    def _ask(self, question: Callable[["PrometheusConnect"], Answer]) -> Answer:
        import requests
        import stamina

        client = self._connected()
        url = self.connection.url
        attempts = stamina.retry_context(on=_backoff, attempts=self.connection.attempts)
        for attempt in attempts:
            with attempt:
                try:
                    return question(client)
                except requests.exceptions.SSLError as error:
                    raise SourceUnavailable(
                        f"the certificate of {url} is not trusted ({_innermost(error)}); give "
                        "the authority's file"
                    ) from error
                except requests.exceptions.ReadTimeout as error:
                    raise SourceUnavailable(self._too_slow()) from error
                except requests.exceptions.ConnectionError as error:
                    raise _TryAgain(
                        f"cannot reach Prometheus at {url} ({_innermost(error)}); check the URL, "
                        "and that it runs"
                    ) from error
                except (requests.exceptions.RequestException, *MALFORMED) as error:
                    raise SourceUnavailable(
                        f"{url} does not answer as a Prometheus does ({_innermost(error)}); check "
                        "the URL and its path prefix"
                    ) from error
        raise AssertionError("stamina makes at least one attempt")

    def _too_slow(self) -> str:
        return (
            f"Prometheus at {self.connection.url} took longer than "
            f"{self.connection.request_timeout_seconds:g} s for one answer; use the recording "
            "rules, or raise the time-out"
        )

    def _connected(self) -> "PrometheusConnect":
        if self._client is None:
            self._client = _client(self.connection, self._too_slow())
        return self._client


def _client(connection: PrometheusConnection, too_slow: str) -> "PrometheusConnect":
    """The library's client, with a session whose adapter checks every answer."""
    import requests
    from prometheus_api_client import PrometheusConnect

    session = requests.Session()
    # To compress an answer costs a server several times what finding it does.
    session.headers["Accept-Encoding"] = "identity"
    session.verify = connection.ca_file or connection.verify_tls
    headers = dict(connection.headers)
    if connection.token:
        headers["Authorization"] = f"Bearer {connection.token}"
    client = PrometheusConnect(
        url=connection.url,
        headers=headers,
        auth=connection.basic_auth,
        session=session,
        timeout=connection.request_timeout_seconds,
        method="POST",
    )
    session.mount(connection.url, _checking_adapter(connection, too_slow))
    return client


def _checking_adapter(connection: PrometheusConnection, too_slow: str) -> Any:
    from requests.adapters import HTTPAdapter

    class CheckingAdapter(HTTPAdapter):
        """Sends a query in the body, reads no more than allowed, and passes on whole answers."""

        def send(self, request: Any, *args: Any, **kwargs: Any) -> "Response":
            if request.method == "POST":
                _query_into_body(request)
            kwargs["stream"] = True
            response = super().send(request, *args, **kwargs)
            try:
                body = _read(response, connection, too_slow)
            finally:
                response.close()
            _check(response, body, connection)
            response.raw = io.BytesIO(body)
            return response

    return CheckingAdapter()


def _query_into_body(request: Any) -> None:
    parts = urlsplit(request.url)
    request.url = urlunsplit(parts._replace(query=""))
    request.headers["Content-Type"] = "application/x-www-form-urlencoded"
    request.prepare_body(data=parts.query, files=None)


def _read(response: "Response", connection: PrometheusConnection, too_slow: str) -> bytes:
    """The body, unless it is too long, too slow, or has too many series."""
    import urllib3

    deadline = monotonic() + connection.request_timeout_seconds
    body, series, tail = bytearray(), 0, b""
    try:
        # `read1` gives what has come; `read` and `stream` would wait for a full block.
        while block := response.raw.read1(BLOCK_BYTES, decode_content=True):
            body += block
            series += (tail + block).count(SERIES_MARK)
            tail = (tail + block)[1 - len(SERIES_MARK) :]
            if series > connection.max_series:
                raise BadInput(
                    f"a query to {connection.url} gives more than {connection.max_series} "
                    "series; aggregate it, or raise max_series"
                )
            if len(body) > connection.max_bytes:
                raise AnswerTooLarge(
                    f"an answer of {connection.url} is longer than {connection.max_bytes} "
                    "bytes; aggregate the query, or raise max_bytes"
                )
            if monotonic() > deadline:
                raise SourceUnavailable(too_slow)
    except urllib3.exceptions.ReadTimeoutError as error:
        raise SourceUnavailable(too_slow) from error
    except urllib3.exceptions.HTTPError as error:
        raise _TryAgain(
            f"Prometheus at {connection.url} broke off in the middle of an answer "
            f"({_innermost(error)}); nothing of it is used"
        ) from error
    return bytes(body)


def _check(response: "Response", body: bytes, connection: PrometheusConnection) -> None:
    """Let only a whole, successful answer through."""
    url, status = connection.url, response.status_code
    if response.is_redirect:
        where = response.headers.get("Location", "elsewhere")
        raise SourceUnavailable(f"{url} redirects to {where}; give that URL")
    if status == HTTPStatus.OK:
        # The word may be a label; only then, and for a partial answer, is the body parsed twice.
        if b'"warnings"' in body and (warnings := json.loads(body).get("warnings")):
            raise SourceUnavailable(
                f"{url} answered only in part ({_one_line('; '.join(warnings))}); nothing of "
                "it is used"
            )
        return
    said = _error_text(body)
    if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        raise SourceUnavailable(f"{url} refuses access (HTTP {status}); check the token or user")
    if OVERLOAD.search(said):
        raise AnswerTooLarge(f"{url} could not answer: {said}; use the recording rules")
    if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        wait = response.headers.get("Retry-After", "")
        raise _TryAgain(
            f"Prometheus at {url} fails (HTTP {status}: {said}); try again later",
            min(float(wait), LONGEST_BACKOFF_SECONDS) if wait.isdigit() else None,
        )
    if status in {HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY}:
        raise BadInput(f"{url} refuses a query: {said}")
    raise SourceUnavailable(
        f"{url} has no Prometheus API (HTTP {status}); check the URL and its path prefix"
    )


def _backoff(error: Exception) -> bool | float:
    if not isinstance(error, _TryAgain):
        return False
    return True if error.after_seconds is None else error.after_seconds


def _error_text(body: bytes) -> str:
    try:
        said = str(json.loads(body)["error"])
    except (ValueError, LookupError, TypeError):
        said = body[:200].decode(errors="replace")
    return _one_line(said)


def _innermost(error: BaseException) -> str:
    """What happened at the bottom of nested errors, in one line."""
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    return _one_line(str(error) or type(error).__name__)


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 300 else line[:300] + "..."  # noqa: PLR2004 - a line of a terminal


def _range_series(result: Mapping[str, Any], instants: InstantRange) -> RangeSeries:
    samples = result["values"]
    times = np.array([at for at, _ in samples], dtype=np.float64)
    return RangeSeries(
        labels=result["metric"],
        positions=np.rint((times - instants.first_seconds) / instants.step_seconds).astype(
            np.int64
        ),
        values=np.array([value for _, value in samples], dtype=np.float64),
    )
