"""What can go wrong between a client and a Kubernetes API server."""

import random
import re
import threading
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

Moment = Literal["before", "after"]


class Silence(Enum):
    """Ways not to answer in full; what was asked for happens `after` it only where that says so."""

    HANG = "nothing is done and nothing comes"
    HANG_AFTER = "it is done and nothing comes"
    HALF = "it is done and the answer breaks off"
    CUT = "nothing is done and the connection breaks off"


@dataclass(frozen=True)
class Status:
    """An error as the API words it.

    Attributes:
        code: HTTP status.
        reason: the API's word for it.
        retry_after: seconds in a Retry-After header; None for no header.
    """

    code: int
    reason: str
    retry_after: int | None = None


Fault = Status | Silence
CONFLICT = Status(409, "Conflict")
GONE = Status(410, "Expired")
THROTTLED = Status(429, "TooManyRequests", retry_after=1)
BROKEN = Status(500, "InternalError")
HANG, HANG_AFTER, HALF, CUT = Silence.HANG, Silence.HANG_AFTER, Silence.HALF, Silence.CUT


@dataclass
class Trouble:
    """Which requests go wrong, and how: those next in line first, then a share of all."""

    _planned: list[tuple[Fault, re.Pattern[str]]] = field(default_factory=list)
    _shares: list[tuple[Fault, re.Pattern[str], float]] = field(default_factory=list)
    _draw: random.Random = field(default_factory=lambda: random.Random(1))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def plan(self, fault: Fault, times: int, request: str) -> None:
        """The next requests whose `METHOD /path?query` fits the pattern go wrong."""
        with self._lock:
            self._planned += [(fault, re.compile(request))] * times

    def share(self, fault: Fault, share: float, request: str) -> None:
        """This share of the requests that fit goes wrong until it heals."""
        with self._lock:
            self._shares.append((fault, re.compile(request), share))

    def heal(self) -> None:
        """Nothing goes wrong any more."""
        with self._lock:
            self._planned.clear()
            self._shares.clear()

    def next(self, request: str) -> Fault | None:
        """What goes wrong with this request."""
        with self._lock:
            for number, (fault, pattern) in enumerate(self._planned):
                if pattern.search(request):
                    del self._planned[number]
                    return fault
            for fault, pattern, share in self._shares:
                if pattern.search(request) and self._draw.random() < share:
                    return fault
        return None
