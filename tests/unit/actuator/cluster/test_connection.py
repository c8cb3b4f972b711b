"""Whatever a server does, a request ends in time, and with one of our errors."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from actuator.cluster.access import ClusterAccess
from actuator.cluster.api_errors import Conflict, Expired, NotThere, NotWell, Throttled
from actuator.cluster.connection import KubernetesConnection
from features.errors import BadInput, SourceUnavailable
from tests.fakes.kubernetes_bodies import pod_body
from tests.fakes.kubernetes_faults import (
    BROKEN,
    CONFLICT,
    CUT,
    GONE,
    HALF,
    HANG,
    HANG_AFTER,
    THROTTLED,
    Fault,
    Status,
)
from tests.fakes.kubernetes_server import FakeKubernetes
from tests.fakes.prometheus_server import FakePrometheus, html, text
from tests.fakes.waiting import eventually

PODS = "/api/v1/pods"
BUSY = Status(429, "TooManyRequests")


@pytest.fixture
def server() -> Iterator[FakeKubernetes]:
    with FakeKubernetes(token="secret", bookmark_seconds=0.05) as fake:
        yield fake


def connect(
    server: FakeKubernetes, attempts: int = 1, token: str = "secret", timeout_seconds: float = 0.3
) -> KubernetesConnection:
    """A connection that is not held back."""
    return KubernetesConnection(
        ClusterAccess(
            server.url,
            token=token,
            attempts=attempts,
            request_timeout_seconds=timeout_seconds,
            requests_per_second=1000,
        )
    )


@pytest.mark.parametrize(
    ("fault", "error", "says"),
    [
        (CONFLICT, Conflict, "was not changed"),
        (GONE, Expired, "has forgotten"),
        (BUSY, Throttled, "asks us to wait"),
        (BROKEN, NotWell, "HTTP 500: injected"),
        (Status(404, "NotFound"), NotThere, "is not there"),
        (Status(403, "Forbidden"), SourceUnavailable, "refuses access; check the service account"),
        (Status(422, "Invalid"), BadInput, "refuses what it was sent"),
        (Status(302, "Found"), NotWell, "HTTP 302"),
        (HALF, NotWell, "broke off in the middle"),
        (HANG, NotWell, "cannot reach the Kubernetes API"),
        (HANG_AFTER, NotWell, "cannot reach the Kubernetes API"),
        (CUT, NotWell, "cannot reach the Kubernetes API"),
    ],
)
def test_each_trouble_is_one_of_our_errors(
    server: FakeKubernetes, fault: Fault, error: type[Exception], says: str
) -> None:
    """One line, of the kind that says what the caller has to do."""
    connection = connect(server)
    server.fail_next(fault)
    with pytest.raises(error, match=says) as caught:
        connection.get(PODS)
    assert error is type(caught.value)
    assert "\n" not in str(caught.value)
    assert [] == connection.get(PODS)["items"]


@pytest.mark.parametrize("fault", [BROKEN, HALF, CUT, BUSY])
@pytest.mark.parametrize("method", ["GET", "PATCH"])
def test_what_may_be_repeated_is(server: FakeKubernetes, fault: Fault, method: str) -> None:
    """A read, or a patch of absolute values, done twice is done once."""
    server.create(pod_body())
    server.fail_next(fault)
    body = {"metadata": {"labels": {"a": "b"}}} if method == "PATCH" else None
    path, kind = "/api/v1/namespaces/default/pods/pod-1", "application/merge-patch+json"
    connection = connect(server, attempts=2, timeout_seconds=5)
    answer = connection.request(method, path, None, body, kind)
    assert "pod-1" == answer["metadata"]["name"]
    assert 2 == len(server.asked(method))


@pytest.mark.parametrize(("fault", "attempts"), [(BROKEN, 1), (HALF, 1), (BUSY, 3)])
def test_a_creation_is_repeated_only_if_it_surely_did_not_happen(
    server: FakeKubernetes, fault: Fault, attempts: int
) -> None:
    """A server that is too busy has done nothing; one that breaks off may have."""
    server.fail_next(fault, times=3)
    connection = connect(server, attempts=3, timeout_seconds=5)
    with pytest.raises(SourceUnavailable):
        connection.request("POST", "/api/v1/namespaces/default/pods", {}, pod_body())
    assert attempts == len(server.asked("POST"))


def test_a_refused_eviction_is_not_repeated(server: FakeKubernetes) -> None:
    """There a 429 speaks of a disruption budget, which has its own time."""
    server.fail_next(THROTTLED)
    connection = connect(server, attempts=3)
    with pytest.raises(Throttled):
        connection.request("POST", "/api/v1/namespaces/default/pods/pod-1/eviction", {}, {})
    assert 1 == len(server.asked("POST"))


def test_the_wait_that_a_server_asks_for_is_kept(server: FakeKubernetes) -> None:
    """No request of any kind comes before it is over."""
    server.fail_next(THROTTLED)
    connect(server, attempts=2, timeout_seconds=5).get(PODS)
    first, second = server.asked("GET")
    assert second.at_seconds - first.at_seconds >= 0.9


def test_a_drip_of_bytes_is_no_answer(server: FakeKubernetes) -> None:
    """The time-out is on the whole of an answer, not on the next byte."""
    connection = connect(server)
    with pytest.raises(NotWell, match=r"took longer than 0\.3 s"):
        connection.get(PODS, {"watch": "true", "allowWatchBookmarks": "true"})


def test_what_is_no_kubernetes_api_is_told_apart() -> None:
    """A page in its place is not read as one."""
    with FakePrometheus(lambda _: html()) as other:
        connection = KubernetesConnection(ClusterAccess(other.url))
        with pytest.raises(SourceUnavailable, match="does not answer as a Kubernetes API does"):
            connection.get(PODS)


def test_a_wrong_token_is_refused_access(server: FakeKubernetes) -> None:
    """And the message does not hold it."""
    with pytest.raises(SourceUnavailable, match="refuses access") as caught:
        connect(server, token="wrong-token").get(PODS)
    assert "wrong-token" not in str(caught.value) + repr(ClusterAccess(token="wrong-token"))


def watched(connection: KubernetesConnection, version: str = "1") -> Iterator[dict[str, object]]:
    """A watch of all pods."""
    return connection.watch(PODS, {"resourceVersion": version}, 1)


@pytest.mark.parametrize(
    ("fault", "error"), [(GONE, Expired), (BROKEN, NotWell), (HALF, NotWell), (CUT, NotWell)]
)
def test_a_watch_ends_with_one_of_our_errors(
    server: FakeKubernetes, fault: Fault, error: type[Exception]
) -> None:
    """Half an event is none."""
    server.create(pod_body())
    server.fail_next(fault)
    seen = []
    with pytest.raises(error):
        seen += list(watched(connect(server)))
    assert [] == seen


def test_an_event_without_its_end_is_none() -> None:
    """Even where the connection ends as it should."""
    with FakePrometheus(lambda _: text('{"type": "BOOKMARK", "object": {}}')) as other:
        connection = KubernetesConnection(ClusterAccess(other.url, attempts=1))
        with pytest.raises(NotWell, match="an event is cut short"):
            list(watched(connection))


def test_a_version_that_is_forgotten_ends_a_watch(server: FakeKubernetes) -> None:
    """The server says so inside a stream that began well."""
    server.create(pod_body())
    server.store.forget()
    with pytest.raises(Expired):
        list(watched(connect(server)))


def test_a_watch_ends_by_itself_in_time(server: FakeKubernetes) -> None:
    """That it ended is proof that it lived."""
    server.create(pod_body())
    assert ["ADDED"] == [event["type"] for event in watched(connect(server))]


def in_thread(work: Callable[[], object]) -> tuple[threading.Thread, list[Exception]]:
    """Work begun elsewhere, and what it raised."""
    raised: list[Exception] = []

    def run() -> None:
        try:
            work()
        except SourceUnavailable as error:
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, raised


def test_closing_ends_a_watch_at_once(server: FakeKubernetes) -> None:
    """And whatever is asked afterwards is refused."""
    connection = connect(server)
    thread, raised = in_thread(lambda: list(connection.watch(PODS, {}, 600)))
    eventually(lambda: connection._open)
    connection.close()
    thread.join(5)
    assert not thread.is_alive()
    assert 1 == len(raised)
    with pytest.raises(SourceUnavailable, match="is closed"):
        connection.get(PODS)


def test_all_threads_share_one_pace(server: FakeKubernetes) -> None:
    """Five a second are five a second over all."""
    connection = KubernetesConnection(
        ClusterAccess(server.url, token="secret", requests_per_second=5)
    )
    threads = [in_thread(lambda: connection.get(PODS))[0] for _ in range(8)]
    for thread in threads:
        thread.join(10)
    begun = sorted(one.at_seconds for one in server.requests)
    assert begun[5] - begun[0] > 0.9


def test_a_stopped_server_is_reached_again(server: FakeKubernetes) -> None:
    """Connections that died are not used again."""
    connection = connect(server)
    connection.get(PODS)
    server.stop()
    with pytest.raises(NotWell, match="Connection refused"):
        connection.get(PODS)
    server.start()
    connection.get(PODS)


def test_a_kubeconfig_leads_to_its_server(server: FakeKubernetes, tmp_path: Path) -> None:
    """With the token that stands in it."""
    path = tmp_path / "config"
    path.write_text(
        f"""
apiVersion: v1
kind: Config
current-context: here
contexts: [{{name: here, context: {{cluster: here, user: me}}}}]
clusters: [{{name: here, cluster: {{server: "{server.url}"}}}}]
users: [{{name: me, user: {{token: secret}}}}]
"""
    )
    assert [] == KubernetesConnection(ClusterAccess(kubeconfig=str(path))).get(PODS)["items"]
    with pytest.raises(BadInput, match="no way to a Kubernetes API"):
        KubernetesConnection(ClusterAccess(kubeconfig=str(path), context="there"))


@pytest.mark.parametrize("text", ["", "{", "[]", "just text", "kind: Config\nclusters: 1"])
def test_a_kubeconfig_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    """In one line."""
    path = tmp_path / "config"
    path.write_text(text)
    with pytest.raises(BadInput, match="no way to a Kubernetes API") as caught:
        KubernetesConnection(ClusterAccess(kubeconfig=str(path)))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["request_timeout_seconds", "requests_per_second", "attempts"])
def test_limits_must_be_positive(name: str) -> None:
    """None of them can be switched off."""
    with pytest.raises(BadInput, match=f"{name} must be positive"):
        ClusterAccess(**{name: 0})


def test_a_hung_request_takes_its_time_out_and_no_longer(server: FakeKubernetes) -> None:
    """However many attempts there are, hanging ones do not add up."""
    server.fail_next(HANG, times=20)
    with pytest.raises(NotWell):
        connect(server, attempts=20).get(PODS)
    assert 1 == len(server.requests)
