"""Capacity buffers: what is asked for stays unverified until nodes are seen."""

from dataclasses import replace
from typing import Any

import pytest

from actuator.backends.back_end import Request, Standing
from actuator.backends.capacity_buffer import CapacityBuffer, check_options
from actuator.backends.headroom_pods import object_name
from actuator.cluster.connection import KubernetesConnection
from features.errors import BadInput
from tests.fakes.kubernetes_server import FakeKubernetes
from tests.fakes.requests import request

ONE = request("capacity_buffer", {"node_selector": "pool=gpu-a"}, desired_nodes=2)
NAME = object_name(ONE)


@pytest.fixture
def back_end(connection: KubernetesConnection) -> CapacityBuffer:
    return CapacityBuffer(connection)


def buffer(cluster: FakeKubernetes) -> dict[str, Any]:
    """The CapacityBuffer as it is."""
    return cluster.get("CapacityBuffer", NAME, "tidecast")


def add_node(
    cluster: FakeKubernetes, name: str, *, ready: str = "True", gpus: str = "8", pool: str = "gpu-a"
) -> None:
    """A node of a node pool."""
    cluster.create(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {"pool": pool}},
            "status": {
                "conditions": [{"type": "Ready", "status": ready}],
                "allocatable": {"nvidia.com/gpu": gpus},
            },
        }
    )


def wanting(nodes: int) -> Request:
    """A request with so much headroom."""
    return replace(ONE, headroom_nodes=nodes)


def test_it_makes_a_buffer_and_its_template(
    cluster: FakeKubernetes, back_end: CapacityBuffer
) -> None:
    """Both with a fixed name."""
    outcome = back_end.apply(ONE)
    assert (Standing.UNVERIFIED, 1) == (outcome.standing, outcome.asked_for)
    assert {
        "provisioningStrategy": "buffer.x-k8s.io/active-capacity",
        "podTemplateRef": {"name": NAME},
        "replicas": 1,
    } == buffer(cluster)["spec"]
    template = cluster.get("PodTemplate", NAME, "tidecast")["template"]
    assert {"pool": "gpu-a"} == template["spec"]["nodeSelector"]


def test_a_condition_is_no_proof_of_nodes(
    cluster: FakeKubernetes, back_end: CapacityBuffer
) -> None:
    """It is told, and the standing stays."""
    back_end.apply(ONE)
    conditions = [
        {"type": "Provisioning", "status": "True", "reason": "Injected"},
        {"type": "LimitedByQuotas", "status": "False"},
    ]
    cluster.patch("CapacityBuffer", NAME, {"status": {"conditions": conditions}}, "tidecast")
    outcome = back_end.apply(ONE)
    assert (Standing.UNVERIFIED, None) == (outcome.standing, outcome.asked_for)
    assert (
        f"{NAME}: room for 1 is asked for, 0 of 2 nodes seen; Provisioning True (Injected); "
        "LimitedByQuotas False (no reason)"
    ) == outcome.detail


def test_nodes_that_are_seen_are_proof(cluster: FakeKubernetes, back_end: CapacityBuffer) -> None:
    """Ready ones of the node pool that advertise GPUs, and no others."""
    add_node(cluster, "gpu-1")
    add_node(cluster, "gpu-2", ready="False")
    add_node(cluster, "gpu-3", gpus="0")
    add_node(cluster, "gpu-4", pool="gpu-b")
    assert Standing.UNVERIFIED is back_end.apply(ONE).standing
    add_node(cluster, "gpu-5")
    assert Standing.UNCHANGED is back_end.apply(ONE).standing
    assert Standing.DONE is back_end.apply(wanting(0)).standing


def test_the_same_twice_is_once(cluster: FakeKubernetes, back_end: CapacityBuffer) -> None:
    """And the size is absolute."""
    back_end.apply(wanting(3))
    version = cluster.store.version
    back_end.apply(wanting(3))
    assert version == cluster.store.version
    back_end.apply(wanting(1))
    assert 1 == buffer(cluster)["spec"]["replicas"]


def test_a_buffer_of_somebody_else_is_left_alone(
    cluster: FakeKubernetes, back_end: CapacityBuffer
) -> None:
    """Even one that has our name; nor is a template made."""
    cluster.create(
        {
            "apiVersion": "autoscaling.x-k8s.io/v1beta1",
            "kind": "CapacityBuffer",
            "metadata": {"name": NAME, "namespace": "tidecast"},
            "spec": {"replicas": 5},
        }
    )
    outcome = back_end.apply(ONE)
    assert Standing.REFUSED is outcome.standing
    assert f"there is a CapacityBuffer {NAME} that is not Tidecast's" == outcome.detail
    assert {"replicas": 5} == buffer(cluster)["spec"]
    assert [] == cluster.all("PodTemplate")


def test_a_cluster_without_buffers_says_where_to_look(
    cluster: FakeKubernetes, back_end: CapacityBuffer
) -> None:
    """It needs an autoscaler's flags."""
    cluster.store.resources = [one for one in cluster.store.resources if one.kind[:8] != "Capacity"]
    outcome = back_end.apply(ONE)
    assert Standing.FAILED is outcome.standing
    assert "the cluster has no CapacityBuffer of autoscaling.x-k8s.io/v1beta1" in outcome.detail


def test_options_are_checked_before_a_policy_is_live() -> None:
    """The node pool's nodes must be told."""
    check_options(ONE.node_pool)
    with pytest.raises(BadInput, match="option 'node_selector' is missing"):
        check_options(request("capacity_buffer", {}).node_pool)
    with pytest.raises(BadInput, match="no option 'priority'"):
        check_options(request("capacity_buffer", {"priority": "-1"}).node_pool)
