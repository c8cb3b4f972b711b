"""How to reach one Prometheus, as a value. It holds secrets, so it never shows them."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from features.errors import BadInput

LIMITS = ("request_timeout_seconds", "attempts", "max_series", "max_bytes", "max_points")


@dataclass(frozen=True)
class PrometheusConnection:
    """Where Prometheus (or Thanos, Mimir, VictoriaMetrics) is and what it may cost us.

    Attributes:
        url: base URL, with the path prefix if there is one, without `/api/v1`.
        token: bearer token; empty for none.
        basic_auth: user and password; None for none.
        headers: more headers, such as `X-Scope-OrgID` for Mimir.
        ca_file: certificate authority to trust beside the system's; empty for the system's alone.
        verify_tls: False accepts any certificate.
        request_timeout_seconds: longest time for one request, its body included.
        attempts: how often a request is tried when the server cannot be reached, is overloaded
            or fails (429 and 5xx); a refused query is never tried again.
        max_series: most series one answer may hold.
        max_bytes: most bytes one answer may hold, uncompressed.
        max_points: most instants in one request; Prometheus itself allows 11,000.
    """

    url: str
    token: str = field(default="", repr=False)
    basic_auth: tuple[str, str] | None = field(default=None, repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    ca_file: str = ""
    verify_tls: bool = True
    request_timeout_seconds: float = 30.0
    attempts: int = 3
    max_series: int = 5_000
    max_bytes: int = 32_000_000
    max_points: int = 10_500

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.username or parts.password:
            raise BadInput(
                f"the URL of Prometheus at {parts.hostname} holds a user and password; give "
                "them as settings of their own"
            )
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise BadInput(f"'{self.url}' is not a Prometheus URL; write it as 'http://host:9090'")
        if self.token and self.basic_auth:
            raise BadInput("both a token and a user with password for Prometheus; give only one")
        for name in LIMITS:
            if getattr(self, name) <= 0:
                raise BadInput(f"Prometheus: {name} must be positive")
        object.__setattr__(self, "url", self.url.rstrip("/"))
