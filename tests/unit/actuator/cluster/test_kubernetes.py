"""A cluster is followed through whatever its API does, and says while it cannot be trusted."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from actuator.cluster.access import ClusterAccess
from actuator.cluster.connection import KubernetesConnection
from actuator.cluster.following import FollowSettings
from actuator.cluster.kubernetes import KubernetesCluster
from actuator.state import Waiting
from tests.fakes.kubernetes_bodies import TYPE_LABEL, node_body, pod_body
from tests.fakes.kubernetes_faults import (
    BROKEN,
    CONFLICT,
    CUT,
    GONE,
    HALF,
    HANG,
    Fault,
    Status,
)
from tests.fakes.kubernetes_server import FakeKubernetes
from tests.fakes.waiting import eventually

NOW = 1_795_953_660
QUICK = FollowSettings(
    page_size=2,
    watch_seconds=30,
    longest_silence_seconds=0.5,
    first_backoff_seconds=0.02,
    longest_backoff_seconds=0.1,
)
PATIENT = FollowSettings(page_size=2, first_backoff_seconds=0.02, longest_backoff_seconds=0.1)
BUSY = Status(429, "TooManyRequests", retry_after=0)
TROUBLES = [CONFLICT, GONE, BUSY, BROKEN, HALF, HANG, CUT, Status(403, "Forbidden")]


@pytest.fixture
def server() -> Iterator[FakeKubernetes]:
    with FakeKubernetes(bookmark_seconds=0.05) as fake:
        for number in range(3):
            fake.create(node_body(f"node-{number}"))
        for number in range(5):
            fake.create(pod_body(f"pod-{number}", node=f"node-{number % 3}"))
        yield fake


@contextmanager
def followed(
    server: FakeKubernetes,
    settings: FollowSettings = QUICK,
    clock: Callable[[], float] | None = None,
) -> Iterator[KubernetesCluster]:
    """A cluster that is followed as long as it is entered."""
    access = ClusterAccess(
        server.url, attempts=1, request_timeout_seconds=0.3, requests_per_second=1000
    )
    more = {"clock": clock} if clock else {}
    with KubernetesCluster(KubernetesConnection(access), following=settings, **more) as cluster:
        yield cluster


def sizes(cluster: KubernetesCluster) -> tuple[int, int]:
    """How many nodes and pods it shows, and that it stands by them; none of each otherwise."""
    state = cluster.state(NOW)
    return (len(state.nodes), len(state.pods)) if state.synced else (0, 0)


def test_all_pages_are_read_before_a_cluster_is_synced(server: FakeKubernetes) -> None:
    """Nodes that are listed while their pods are not look empty, and are not shown as such."""
    server.fail_share(HANG, 1.0, request="GET /api/v1/pods.*continue=")
    with followed(server) as cluster:
        eventually(lambda: len(cluster.state(NOW).nodes) == 3)
        state = cluster.state(NOW)
        assert (False, ()) == (state.synced, state.pods)
        assert "pods have not been listed yet" in state.problems[0]
        server.heal()
        eventually(lambda: sizes(cluster) == (3, 5))
        assert (NOW, ()) == (cluster.state(NOW).taken_seconds, cluster.state(NOW).problems)


def test_changes_arrive_without_a_new_list(server: FakeKubernetes) -> None:
    """Nodes and pods come, change and go."""
    with followed(server, PATIENT) as cluster:
        eventually(lambda: sizes(cluster) == (3, 5))
        server.create(node_body("node-3", ready=False))
        server.create(pod_body("pod-5"))
        eventually(lambda: sizes(cluster) == (4, 6))
        server.patch("Node", "node-3", {"spec": {"unschedulable": True}})
        eventually(lambda: not cluster.state(NOW).nodes[-1].schedulable)
        server.patch("Pod", "pod-5", {"status": {"phase": "Succeeded"}}, "default")
        server.delete("Pod", "pod-0", "default")
        server.delete("Node", "node-0")
        eventually(lambda: sizes(cluster) == (3, 4))
        assert 5 == len([one for one in server.requests if "watch" not in one.parameters])


def test_a_state_is_the_same_value_while_nothing_happens(server: FakeKubernetes) -> None:
    """Which is also why it costs next to nothing."""
    with followed(server, PATIENT) as cluster:
        eventually(lambda: sizes(cluster) == (3, 5))
        assert cluster.state(NOW).pods is cluster.state(NOW).pods
        assert cluster.state(NOW).nodes is cluster.state(NOW).nodes


@pytest.mark.parametrize("fault", TROUBLES, ids=str)
def test_while_every_request_fails_the_cluster_is_not_synced(
    server: FakeKubernetes, fault: Fault
) -> None:
    """It says so, keeps what it knew, goes on trying, and is right again afterwards."""
    with followed(server) as cluster:
        eventually(lambda: sizes(cluster) == (3, 5))
        server.fail_share(fault, 1.0)
        server.drop_connections()
        server.create(pod_body("pod-5"))
        eventually(lambda: not cluster.state(NOW).synced)
        state = cluster.state(NOW)
        assert (3, 5) == (len(state.nodes), len(state.pods))
        assert any("nothing has been heard of" in one for one in state.problems)
        server.heal()
        eventually(lambda: sizes(cluster) == (3, 6))


@pytest.mark.parametrize("fault", [GONE, BUSY, HALF, HANG, CUT], ids=str)
def test_a_start_among_failures_ends_well(server: FakeKubernetes, fault: Fault) -> None:
    """A third of all requests goes wrong, and still everything is seen in the end."""
    server.fail_share(fault, 0.3)
    with followed(server, PATIENT) as cluster:
        eventually(lambda: sizes(cluster) == (3, 5), seconds=20)


def test_every_list_is_gone_for_a_while(server: FakeKubernetes) -> None:
    """The continuation of a list may expire again and again."""
    server.fail_next(GONE, times=10, request="continue=")
    with followed(server, PATIENT) as cluster:
        eventually(lambda: sizes(cluster) == (3, 5), seconds=20)


def test_forgotten_versions_are_listed_anew(server: FakeKubernetes) -> None:
    """What happened meanwhile is not lost."""
    with followed(server) as cluster:
        eventually(lambda: sizes(cluster) == (3, 5))
        for number in range(5, 8):
            server.create(pod_body(f"pod-{number}"))
            server.delete("Pod", f"pod-{number - 5}", "default")
            server.store.forget()
            server.drop_connections()
        eventually(lambda: {p.name for p in cluster.state(NOW).pods} == {
            f"default/pod-{number}" for number in range(3, 8)
        })  # fmt: skip
        eventually(lambda: sizes(cluster) == (3, 5))


def test_a_server_that_is_away_is_found_again_without_a_burst(server: FakeKubernetes) -> None:
    """While it refuses connections nothing is shown as certain."""
    with followed(server) as cluster:
        eventually(lambda: sizes(cluster) == (3, 5))
        server.stop()
        server.create(node_body("node-3"))
        eventually(lambda: not cluster.state(NOW).synced)
        assert "Connection refused" in " ".join(cluster.state(NOW).problems)
        before = len(server.requests)
        server.start()
        eventually(lambda: sizes(cluster) == (4, 5))
        assert len(server.requests) - before <= 4


def test_a_watch_that_falls_silent_is_noticed(server: FakeKubernetes) -> None:
    """No event is no sign of life; without a bookmark or an end, we do not know."""
    time = [100.0]
    settings = FollowSettings(watch_seconds=600, longest_silence_seconds=90)
    server.bookmark_seconds = 600
    with followed(server, settings, lambda: time[0]) as cluster:
        eventually(lambda: sizes(cluster) == (3, 5))
        time[0] += 90
        assert cluster.state(NOW).synced
        time[0] += 1
        state = cluster.state(NOW)
        assert (False, "nothing has been heard of nodes for 91 s") == (
            state.synced,
            state.problems[0],
        )


def test_a_bookmark_is_a_sign_of_life(server: FakeKubernetes) -> None:
    """A quiet watch need not be begun anew."""
    time = [100.0]
    settings = FollowSettings(watch_seconds=600, longest_silence_seconds=90)
    with followed(server, settings, lambda: time[0]) as cluster:
        eventually(lambda: sizes(cluster) == (3, 5))
        time[0] += 1000
        eventually(lambda: sizes(cluster) == (3, 5))
    assert 2 == len([one for one in server.requests if "watch" in one.parameters])


def test_all_is_listed_again_from_time_to_time(server: FakeKubernetes) -> None:
    """An event that was lost is made good."""
    time = [100.0]
    settings = FollowSettings(watch_seconds=1, resync_seconds=1800, longest_silence_seconds=1e6)
    with followed(server, settings, lambda: time[0]) as cluster:
        eventually(lambda: sizes(cluster) == (3, 5))
        server.store.of(server._resource("Pod")).objects.pop(("default", "pod-0"))
        time[0] += 1801
        eventually(lambda: sizes(cluster) == (3, 4))


def test_a_stopped_cluster_is_not_synced(server: FakeKubernetes) -> None:
    """Nobody keeps it up to date any more; and it stops at once."""
    with followed(server, PATIENT) as cluster:
        eventually(lambda: sizes(cluster) == (3, 5))
    state = cluster.state(NOW)
    assert (False, "nodes are not being watched") == (state.synced, state.problems[0][:27])
    threads = (cluster._nodes._thread, cluster._pods._thread)
    eventually(lambda: not any(one.is_alive() for one in threads))


def test_an_object_that_cannot_be_read_is_a_problem(server: FakeKubernetes) -> None:
    """The others are shown, and nobody is left to believe that these are all."""
    broken = pod_body("broken")
    broken["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "many"}}
    server.create(broken)
    with followed(server) as cluster:
        eventually(lambda: sizes(cluster) == (3, 5))
        assert "pod 'broken' cannot be read" in cluster.state(NOW).problems[0]


def test_a_pod_for_a_node_pool_without_nodes_waits_for_room(server: FakeKubernetes) -> None:
    """If somebody expects that node pool, and else for nothing that will come."""
    server.create(pod_body("wants", spec={"nodeSelector": {TYPE_LABEL: "H100"}}))
    server.create(pod_body("cpu", gpus=0))
    with followed(server, PATIENT) as cluster:
        eventually(lambda: sizes(cluster) == (3, 6))

        def waiting() -> Waiting | None:
            return {one.name: one.waiting for one in cluster.state(NOW).pods}["default/wants"]

        assert Waiting.NO_SUCH_NODE is waiting()
        cluster.expect({"h100": {TYPE_LABEL: "H100"}})
        assert Waiting.FOR_ROOM is waiting()
        cluster.expect({"other": {TYPE_LABEL: "L40S"}})
        assert Waiting.NO_SUCH_NODE is waiting()
        cluster.expect({"unknown": {}})
        assert Waiting.FOR_ROOM is waiting()
        assert 1 == cluster.waiting_without_gpus
