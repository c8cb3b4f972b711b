"""A Kubernetes API server over real HTTP, small and honest, that fails as the real ones do.

Lists come in pages, watches stream, versions and owners are checked (`kubernetes_objects`); any
request can be made to go wrong (`kubernetes_faults`) and all are recorded. Not honest: strategic
merge patches are plain merges, lists are owned whole, `scale` finds no conflicts, nothing is
validated against a schema, and no controller runs.
"""

import json
import socket
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.fakes.kubernetes_faults import Fault, Silence, Status, Trouble
from tests.fakes.kubernetes_objects import ObjectStore, check_version, key_of, merged, wants
from tests.fakes.kubernetes_resources import (
    Json,
    Refused,
    Resource,
    Target,
    bookmark,
    listed,
    scale_of,
    status_of,
    target_of,
)
from tests.fakes.kubernetes_selectors import labels_match

APPLY = "application/apply-patch+yaml"
PATCHES = {"application/merge-patch+json", "application/strategic-merge-patch+json", APPLY}


@dataclass(frozen=True)
class Asked:
    """One request as it arrived; the time is of a clock that only runs forward."""

    method: str
    path: str
    parameters: dict[str, str]
    at_seconds: float
    user_agent: str = ""


@dataclass
class FakeKubernetes:
    """Serves on a free port while it is entered.

    Attributes:
        token: bearer token that every request must carry; empty for none.
        bookmark_seconds: a watch that asked for bookmarks is sent one this often.
        store: the objects.
        trouble: which requests go wrong.
        requests: every request so far.
    """

    token: str = ""
    bookmark_seconds: float = 60.0
    store: ObjectStore = field(default_factory=ObjectStore)
    trouble: Trouble = field(default_factory=Trouble)
    requests: list[Asked] = field(default_factory=list)

    def __enter__(self) -> "FakeKubernetes":
        self._port = 0
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Listen; after a stop on the same port, with the same objects."""
        self.released = threading.Event()
        self.sockets: set[socket.socket] = set()
        self._server = _Server(("127.0.0.1", self._port), _handler(self))
        self._port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        """Refuse connections and break off those there are."""
        if self.released.is_set():
            return
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self.drop_connections()

    def drop_connections(self) -> None:
        """Break off every connection, watches too."""
        for one in list(self.sockets):
            self.sockets.discard(one)
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue  # it was closed meanwhile
        with self.store.changed:
            self.store.changed.notify_all()

    def fail_next(self, fault: Fault, times: int = 1, request: str = "") -> None:
        """The next requests whose `METHOD /path?query` fits the pattern go wrong."""
        self.trouble.plan(fault, times, request)

    def fail_share(self, fault: Fault, share: float, request: str = "") -> None:
        """This share of the requests that fit goes wrong until `heal`."""
        self.trouble.share(fault, share, request)

    def heal(self) -> None:
        """Nothing goes wrong any more; what hangs stays so."""
        self.trouble.heal()

    def asked(self, method: str, path: str = "") -> list[Asked]:
        """The requests of a method whose path has this in it."""
        return [one for one in self.requests if one.method == method and path in one.path]

    def create(self, body: Json) -> Json:
        """A new object, its status as given; `apiVersion` and `kind` say of what."""
        return self.store.create(self._resource_of(body), body, "test")

    def replace(self, body: Json) -> Json:
        """An object as given, its status too, whatever it was before."""
        return self.store.replace(self._resource_of(body), key_of(body), body, "test")

    def patch(self, kind: str, name: str, body: Json, namespace: str = "") -> Json:
        """A merge patch, of the status too."""
        resource, key = self._resource(kind), (namespace, name)
        with self.store.changed:
            changed = merged(self.store.get(resource, key), body)
            return self.store.replace(resource, key, changed, "test")

    def get(self, kind: str, name: str, namespace: str = "") -> Json:
        """An object as it is; it must not be changed."""
        return self.store.get(self._resource(kind), (namespace, name))

    def all(self, kind: str) -> list[Json]:
        """All objects of a kind."""
        return list(self.store.of(self._resource(kind)).objects.values())

    def delete(self, kind: str, name: str, namespace: str = "") -> None:
        """The object goes."""
        self.store.delete(self._resource(kind), (namespace, name), {})

    def _resource(self, kind: str) -> Resource:
        return next(one for one in self.store.resources if one.kind == kind)

    def _resource_of(self, body: Json) -> Resource:
        wanted = (body["apiVersion"], body["kind"])
        return next(one for one in self.store.resources if (one.api_version, one.kind) == wanted)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client that goes away is no error here."""


def _handler(fake: FakeKubernetes) -> type[BaseHTTPRequestHandler]:
    class Handler(_Handler):
        pass

    Handler.fake = fake
    return Handler


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    fake: FakeKubernetes

    def setup(self) -> None:
        super().setup()
        self.released, self.live = self.fake.released, self.fake.sockets
        self.live.add(self.connection)

    def finish(self) -> None:
        self.live.discard(self.connection)
        super().finish()

    def do_GET(self) -> None:
        self._serve()

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815 -- http.server names them

    def _serve(self) -> None:
        url = urlsplit(self.path)
        self.query = dict(parse_qsl(url.query))
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        agent = self.headers.get("User-Agent", "")
        asked = Asked(self.command, url.path, self.query, time.monotonic(), agent)
        self.fake.requests.append(asked)
        fault = self.fake.trouble.next(f"{self.command} {self.path}")
        if fault is Silence.HANG:
            self._hang()
            return
        if fault is Silence.CUT:
            self.close_connection = True
            return
        try:
            self._admit(fault)
            answer = self._dispatch(unquote(url.path), json.loads(sent) if sent else {}, fault)
        except Refused as refused:
            retry_after = fault.retry_after if isinstance(fault, Status) else None
            self._send(refused.status, status_of(refused), fault, retry_after)
        else:
            if fault is Silence.HANG_AFTER:
                self._hang()
            elif answer is not None:
                self._send(201 if self.command == "POST" else 200, answer, fault)

    def _hang(self) -> None:
        self.close_connection = True
        self.released.wait()

    def _admit(self, fault: Fault | None) -> None:
        said = self.headers.get("Authorization", "").lower()
        if self.fake.token and said != f"bearer {self.fake.token}".lower():
            raise Refused(401, "Unauthorized", "Unauthorized")
        if isinstance(fault, Status):
            raise Refused(fault.code, fault.reason, "injected")

    def _dispatch(self, path: str, body: Json, fault: Fault | None) -> Json | None:
        if path == "/version":
            return {"major": "1", "minor": "37", "gitVersion": "v1.37.0-fake"}
        target = target_of(self.fake.store.resources, path)
        if isinstance(target, dict):
            return target
        if self.command == "GET":
            if self.query.get("watch") in {"true", "1"}:
                self._watch(target, fault)
                return None
            return self._read(target)
        return self._write(target, body)

    def _read(self, target: Target) -> Json:
        store, resource = self.fake.store, target.resource
        if target.name:
            found = store.get(resource, target.key)
            return scale_of(found) if target.subresource == "scale" else found
        limit = int(self.query.get("limit") or 0)
        if token := self.query.get("continue"):
            page = store.next_page(token, limit)
        else:
            page = store.page(resource, self._wanted(target), limit)
        return listed(resource, page.items, page.version, page.token, page.remaining)

    def _wanted(self, target: Target) -> Any:
        selectors = self.query.get("labelSelector", ""), self.query.get("fieldSelector", "")
        return wants(target.namespace, *selectors)

    def _write(self, target: Target, body: Json) -> Json:
        store, resource, key = self.fake.store, target.resource, target.key
        manager = self.query.get("fieldManager") or self.headers.get("User-Agent", "").split("/")[0]
        dry = self.query.get("dryRun") == "All"
        with store.changed:
            if self.command == "POST" and target.subresource == "eviction":
                return self._evict(target)
            if self.command == "POST" and not target.name:
                body.pop("status", None)
                body.setdefault("metadata", {}).pop("creationTimestamp", None)
                if resource.namespaced:
                    body["metadata"]["namespace"] = target.namespace
                return store.create(resource, body, manager, dry=dry)
            if self.command == "DELETE" and target.name:
                return store.delete(resource, key, body.get("preconditions") or {})
            if self.command not in {"PUT", "PATCH"} or not target.name:
                raise Refused(405, "MethodNotAllowed", f"{self.command} is not served here")
            if self._content_type() == APPLY and not target.subresource:
                return self._apply(target, body, dry=dry)
            before = store.get(resource, key)
            made = self._changed(target, before, body)
            after = store.replace(resource, key, made, manager, dry=dry)
            return scale_of(after) if target.subresource == "scale" else after

    def _content_type(self) -> str:
        kind = self.headers.get("Content-Type", "").split(";")[0]
        if self.command == "PATCH" and kind not in PATCHES:
            raise Refused(415, "UnsupportedMediaType", f"cannot patch with {kind}")
        return kind

    def _apply(self, target: Target, body: Json, *, dry: bool) -> Json:
        if not (manager := self.query.get("fieldManager")):
            raise Refused(400, "BadRequest", "fieldManager is required for apply patch")
        metadata = body.setdefault("metadata", {})
        metadata["name"] = target.name
        if target.namespace:
            metadata["namespace"] = target.namespace
        body.pop("status", None)
        force = self.query.get("force") == "true"
        return self.fake.store.apply(
            target.resource, target.key, body, manager, force=force, dry=dry
        )

    def _changed(self, target: Target, before: Json, body: Json) -> Json:
        """The object after a PUT or a patch of it, of its status or of its scale."""
        is_patch = self.command == "PATCH"
        if target.subresource == "scale":
            scale = merged(scale_of(before), body) if is_patch else body
            check_version(target.resource, before, body)
            return before | {"spec": before["spec"] | {"replicas": scale["spec"]["replicas"]}}
        made = merged(before, body) if is_patch else body
        if target.subresource == "status":
            check_version(target.resource, before, body)
            return before | {"status": made.get("status", {})}
        kept = {"status": before["status"]} if "status" in before else {}
        return {name: value for name, value in made.items() if name != "status"} | kept

    def _evict(self, target: Target) -> Json:
        store = self.fake.store
        labels = store.get(target.resource, target.key)["metadata"].get("labels") or {}
        for budget in self.fake.all("PodDisruptionBudget"):
            wanted = budget["spec"].get("selector", {}).get("matchLabels", {})
            selector = ",".join(f"{name}={value}" for name, value in wanted.items())
            is_same = budget["metadata"]["namespace"] == target.namespace
            allowed = budget.get("status", {}).get("disruptionsAllowed", 0)
            if is_same and labels_match(selector, labels) and allowed < 1:
                message = "Cannot evict pod as it would violate the pod's disruption budget."
                raise Refused(429, "TooManyRequests", message)
        store.delete(target.resource, target.key, {})
        return {"kind": "Status", "apiVersion": "v1", "status": "Success"}

    def _watch(self, target: Target, fault: Fault | None) -> None:
        store, wanted = self.fake.store, self._wanted(target)
        if target.name:
            raise Refused(405, "MethodNotAllowed", "watch a list with a field selector")
        version = int(self.query.get("resourceVersion") or store.version)
        ends = time.monotonic() + float(self.query.get("timeoutSeconds") or 1800)
        bookmarks = self.query.get("allowWatchBookmarks") in {"true", "1"}
        next_bookmark = time.monotonic() + self.fake.bookmark_seconds
        self._begin_stream()
        while not self.released.is_set() and self.connection in self.live:
            with store.changed:
                try:
                    changes = store.changes_since(target.resource, version)
                except Refused as refused:
                    self._event({"type": "ERROR", "object": status_of(refused)})
                    break
                version = store.version
                if not changes:
                    store.changed.wait(min(0.05, self.fake.bookmark_seconds))
            for change in changes:
                if event := change.event(wanted):
                    self._event(event, fault)
            now = time.monotonic()
            if bookmarks and (now >= next_bookmark or now >= ends):
                next_bookmark = now + self.fake.bookmark_seconds
                self._event(bookmark(target.resource, version), fault)
            if now >= ends:
                break
        self.wfile.write(b"0\r\n\r\n")

    def _begin_stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()

    def _event(self, event: Json, fault: Fault | None = None) -> None:
        line = json.dumps(event, separators=(",", ":")).encode() + b"\n"
        if fault is Silence.HALF:
            self.wfile.write(b"%x\r\n%s" % (len(line), line[: len(line) // 2]))
            raise ConnectionAbortedError("half an event, as asked")
        self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
        self.wfile.flush()

    def _send(
        self, status: int, body: Json, fault: Fault | None, retry_after: int | None = None
    ) -> None:
        text = json.dumps(body, separators=(",", ":")).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        if retry_after is not None:
            self.send_header("Retry-After", str(retry_after))
        self.end_headers()
        if fault is Silence.HALF:
            self.close_connection = True
            text = text[: len(text) // 2]
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        """Say nothing."""
