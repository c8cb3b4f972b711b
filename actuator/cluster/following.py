"""Follows one kind of object: lists it, watches it, and knows how long ago it last heard anything.

It goes on through everything a server may do (refuse, hang, break off, forget), each time after a
pause that grows. A list replaces what was held only once it is whole.
"""

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from actuator.cluster.api_errors import Expired
from actuator.cluster.connection import KubernetesConnection
from actuator.cluster.inventory import Held
from features.errors import SourceUnavailable, TidecastError

Kept = TypeVar("Kept", bound=Held)


@dataclass(frozen=True)
class FollowSettings:
    """How a kind of object is followed.

    Attributes:
        page_size: most objects in one part of a list.
        watch_seconds: after so long a watch is begun anew, which proves that it is alive.
        resync_seconds: after so long all is listed again, lest an event was lost.
        longest_silence_seconds: having heard nothing for so long, we do not know.
        first_backoff_seconds: pause after a first failure; it doubles.
        longest_backoff_seconds: at most so long.
    """

    page_size: int = 1000
    watch_seconds: float = 30.0
    resync_seconds: float = 1800.0
    longest_silence_seconds: float = 60.0
    first_backoff_seconds: float = 0.5
    longest_backoff_seconds: float = 15.0


class Following(Generic[Kept]):
    """Keeps what is held of one kind of object up to date, in a thread of its own."""

    def __init__(
        self,
        path: str,
        fresh: Callable[[Kept | None], Kept],
        *,
        selector: str = "",
        connection: KubernetesConnection,
        settings: FollowSettings,
        clock: Callable[[], float],
    ) -> None:
        """Nothing is asked before `start`.

        Args:
            path: where its objects are listed.
            fresh: an empty collection that may learn from the one it replaces.
            selector: field selector of those wanted, empty for all.
            connection: the API server.
            settings: how it is followed.
            clock: seconds that only ever grow.
        """
        self.lock = threading.Lock()
        self.held: Kept = fresh(None)
        self._path, self._fresh, self._connection = path, fresh, connection
        self._parameters = {"fieldSelector": selector} if selector else {}
        self._settings, self._clock = settings, clock
        self._version: str | None = None
        self._listed_at: float | None = None
        self._heard_at: float | None = None
        self._failure = ""
        name = f"tidecast-{self._plural}"
        self._thread = threading.Thread(target=self._follow, name=name, daemon=True)

    def start(self) -> None:
        """Begin to list and watch."""
        self._thread.start()

    def join(self, wait_seconds: float) -> None:
        """Wait for the end, which comes once the connection is closed."""
        if self._thread.is_alive():
            self._thread.join(wait_seconds)

    def problem(self) -> str:
        """Why what is held cannot be trusted; empty if it can."""
        because = f" ({self._failure})" if self._failure else ""
        if self._connection.is_closed or not self._thread.is_alive():
            return f"{self._plural} are not being watched{because}"
        if self._heard_at is None:
            return f"{self._plural} have not been listed yet{because}"
        silent = self._clock() - self._heard_at
        if silent > self._settings.longest_silence_seconds:
            return f"nothing has been heard of {self._plural} for {silent:.0f} s{because}"
        return ""

    @property
    def _plural(self) -> str:
        return self._path.rpartition("/")[2]

    def _follow(self) -> None:
        failures = 0
        while not self._connection.is_closed:
            try:
                if self._is_list_due():
                    self._list()
                self._watch()
            except TidecastError as error:
                if isinstance(error, Expired):
                    self._version = None
                self._failure = str(error)
                failures += 1
                self._connection.wait(self._pause_seconds(failures))
            else:
                self._failure = ""
                failures = 0

    def _is_list_due(self) -> bool:
        if self._version is None or self._listed_at is None:
            return True
        return self._clock() - self._listed_at > self._settings.resync_seconds

    def _list(self) -> None:
        """Take in the whole list, or nothing of it.

        It is read without a `resourceVersion`: with `0` a server may answer from a cache that
        knows no pods yet, and every node would look empty.
        """
        fresh = self._fresh(self.held)
        version = ""
        limit = self._settings.page_size
        for page in self._connection.pages(self._path, self._parameters, limit):
            try:
                version = page["metadata"]["resourceVersion"]
                for body in page["items"]:
                    fresh.put(body)
            except (LookupError, TypeError) as error:
                raise self._unlike_kubernetes("list") from error
        fresh.settle()
        with self.lock:
            self.held = fresh
        self._version = version
        self._listed_at = self._heard_at = self._clock()

    def _watch(self) -> None:
        parameters = {
            **self._parameters,
            "resourceVersion": self._version or "",
            "allowWatchBookmarks": "true",
        }
        seconds = self._settings.watch_seconds
        for event in self._connection.watch(self._path, parameters, seconds):
            try:
                self._take(event["type"], event["object"])
            except (LookupError, TypeError) as error:
                raise self._unlike_kubernetes("watch") from error
            self._heard_at = self._clock()
        self._heard_at = self._clock()

    def _take(self, kind: str, body: dict[str, Any]) -> None:
        version = body["metadata"]["resourceVersion"]
        with self.lock:
            if kind == "DELETED":
                self.held.drop(body)
            elif kind != "BOOKMARK":
                self.held.put(body)
        self._version = version

    def _pause_seconds(self, failures: int) -> float:
        longest = self._settings.longest_backoff_seconds
        doubled = self._settings.first_backoff_seconds * 2.0 ** min(failures - 1, 20)
        return min(doubled, longest) * random.uniform(0.5, 1.0)  # noqa: S311 -- spreads the load

    def _unlike_kubernetes(self, what: str) -> SourceUnavailable:
        where = f"{self._connection.url}{self._path}"
        return SourceUnavailable(f"a {what} of {where} is not as Kubernetes sends it; check it")
