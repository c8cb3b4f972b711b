"""A cluster is seen as it is, through a real control plane and through our fake alike."""

from collections.abc import Iterator

import pytest

from actuator.cluster.connection import KubernetesConnection
from actuator.cluster.following import FollowSettings
from actuator.cluster.kubernetes import KubernetesCluster
from actuator.state import Node, NodePhase, Pod, Waiting
from tests.contract.kubernetes_api import KINDS, NODES, PODS, Api, kubernetes_api
from tests.fakes.kubernetes_bodies import node_body, pod_body
from tests.fakes.waiting import eventually

NOW = 1_795_953_660
SETTINGS = FollowSettings(page_size=2, watch_seconds=2)
UNSCHEDULED = {"schedulerName": "nobody", "automountServiceAccountToken": False}


@pytest.fixture(params=KINDS)
def api(request: pytest.FixtureRequest) -> Iterator[Api]:
    with kubernetes_api(request.param) as made:
        yield made


@pytest.fixture
def cluster(api: Api) -> Iterator[KubernetesCluster]:
    with KubernetesCluster(KubernetesConnection(api.access), following=SETTINGS) as made:
        eventually(lambda: made.state(NOW).synced, seconds=30)
        yield made


def nodes(api: Api, cluster: KubernetesCluster) -> dict[str, Node]:
    """The nodes of this test, by the end of their names."""
    found = (one for one in cluster.state(NOW).nodes if one.name.startswith(api.prefix))
    return {one.name.removeprefix(f"{api.prefix}-"): one for one in found}


def pods(api: Api, cluster: KubernetesCluster) -> dict[str, Pod]:
    """The pods of this test, by the end of their names."""
    prefix = f"default/{api.prefix}-"
    found = (one for one in cluster.state(NOW).pods if one.name.startswith(prefix))
    return {one.name.removeprefix(prefix): one for one in found}


def test_a_node_goes_through_its_phases(api: Api, cluster: KubernetesCluster) -> None:
    """Arriving until it advertises GPUs, capacity, cordoned, gone."""
    name = f"{api.prefix}-a"
    body = node_body(name, gpus=0, labels={"topology.kubernetes.io/zone": "eu-1a"})
    api.create(NODES, body)
    eventually(lambda: "a" in nodes(api, cluster))
    first = nodes(api, cluster)["a"]
    assert ("a100-spot", "eu-1a", NodePhase.ARRIVING) == (
        first.node_pool, first.zone, first.phase
    )  # fmt: skip
    api.set_status(f"{NODES}/{name}", node_body(name)["status"])
    eventually(lambda: nodes(api, cluster)["a"].gpus == 8)
    api.connection.merge(f"{NODES}/{name}", {"spec": {"unschedulable": True}}, "test")
    eventually(lambda: not nodes(api, cluster)["a"].schedulable)
    api.delete(f"{NODES}/{name}")
    eventually(lambda: not nodes(api, cluster))


def test_a_pod_waits_runs_and_ends(api: Api, cluster: KubernetesCluster) -> None:
    """Bound it holds its node, ended it holds nothing."""
    held = {**UNSCHEDULED, "schedulingGates": [{"name": "example.com/quota"}]}
    api.create(PODS, pod_body(f"{api.prefix}-waits", gpus=2, spec=UNSCHEDULED))
    api.create(PODS, pod_body(f"{api.prefix}-held", spec=held))
    api.create(PODS, pod_body(f"{api.prefix}-cpu", gpus=0, spec=UNSCHEDULED))
    eventually(lambda: {"waits", "held"} == pods(api, cluster).keys())
    seen = pods(api, cluster)
    assert (2.0, Waiting.FOR_ROOM) == (seen["waits"].gpus, seen["waits"].waiting)
    assert Waiting.HELD_BY_QUOTA is seen["held"].waiting
    api.set_status(f"{PODS}/{api.prefix}-waits", {"phase": "Succeeded"})
    eventually(lambda: {"held"} == pods(api, cluster).keys())
    api.delete(f"{PODS}/{api.prefix}-held")
    eventually(lambda: not pods(api, cluster))


def test_a_bound_pod_names_its_node(api: Api, cluster: KubernetesCluster) -> None:
    """With the marks that protect it."""
    name = f"{api.prefix}-a"
    api.create(NODES, node_body(name))
    annotations = {"karpenter.sh/do-not-disrupt": "true"}
    spec = {**UNSCHEDULED, "tolerations": [{"operator": "Exists"}]}
    body = pod_body(f"{api.prefix}-runs", node=name, annotations=annotations, spec=spec)
    api.create(PODS, body)
    eventually(lambda: "runs" in pods(api, cluster))
    seen = pods(api, cluster)["runs"]
    assert (name, None) == (seen.node, seen.waiting)
    assert ["karpenter.sh/do-not-disrupt"] == [one.mark for one in seen.protections]


def test_what_was_there_before_is_listed_in_parts(api: Api) -> None:
    """All of it, before the state is synced."""
    for number in range(5):
        api.create(PODS, pod_body(f"{api.prefix}-{number}", spec=UNSCHEDULED))
    connection = KubernetesConnection(api.access)
    with KubernetesCluster(connection, following=SETTINGS) as cluster:
        eventually(lambda: cluster.state(NOW).synced, seconds=30)
        assert {str(number) for number in range(5)} == pods(api, cluster).keys()
