"""Placeholders: a Deployment with a fixed name, as large as the headroom, behind every real pod."""

from dataclasses import replace
from typing import Any

import pytest

from actuator.backends.back_end import Outcome, Request, Standing
from actuator.backends.headroom_pods import object_name
from actuator.backends.placeholder import ASKED_FOR, Placeholder, check_options
from actuator.cluster.connection import KubernetesConnection
from features.errors import BadInput
from tests.fakes.back_end_stages import Meddled
from tests.fakes.kubernetes_server import FakeKubernetes
from tests.fakes.requests import request

OPTIONS = {"node_selector": "pool=gpu-a"}
ONE = request("placeholder", OPTIONS)
NAME = object_name(ONE)


@pytest.fixture
def back_end(connection: KubernetesConnection) -> Placeholder:
    return Placeholder(connection)


def deployment(cluster: FakeKubernetes) -> dict[str, Any]:
    """The Deployment as it is."""
    return cluster.get("Deployment", NAME, "tidecast")


def wanting(nodes: int) -> Request:
    """A request with so much headroom."""
    return replace(ONE, headroom_nodes=nodes)


def test_it_makes_a_deployment_and_its_priority_class(
    cluster: FakeKubernetes, back_end: Placeholder
) -> None:
    """With the lowest priority for which Cluster Autoscaler still makes nodes."""
    assert Outcome(Standing.DONE, f"{NAME}: asked for 1 placeholders", 1) == back_end.apply(ONE)
    spec = deployment(cluster)["spec"]
    assert 1 == spec["replicas"]
    assert 0 == spec["strategy"]["rollingUpdate"]["maxSurge"]
    labels = spec["template"]["metadata"]["labels"]
    assert spec["selector"]["matchLabels"] == labels
    found = cluster.get("PriorityClass", "tidecast-placeholder")
    assert (-10, "Never", False) == (
        found["value"],
        found["preemptionPolicy"],
        found["globalDefault"],
    )


def test_the_same_twice_is_once(cluster: FakeKubernetes, back_end: Placeholder) -> None:
    """Also for another decision with the same numbers, and with what a server adds."""
    back_end.apply(ONE)
    cluster.patch(
        "Deployment",
        NAME,
        {"spec": {"progressDeadlineSeconds": 600}, "status": {"readyReplicas": 1}},
        "tidecast",
    )
    version = deployment(cluster)["metadata"]["resourceVersion"]
    outcome = back_end.apply(replace(ONE, decision="another"))
    assert Outcome(Standing.UNCHANGED, f"{NAME}: 1 placeholders, 1 of them on a node") == outcome
    assert version == deployment(cluster)["metadata"]["resourceVersion"]


def test_placeholders_shrink_as_demand_lands(
    cluster: FakeKubernetes, back_end: Placeholder
) -> None:
    """Down to none, in the same Deployment."""
    for nodes in (3, 1, 0):
        assert nodes == back_end.apply(wanting(nodes)).asked_for
        assert nodes == deployment(cluster)["spec"]["replicas"]
    assert 1 == len(cluster.all("Deployment"))


def test_what_a_person_has_set_is_set_back_and_reported(
    cluster: FakeKubernetes, back_end: Placeholder
) -> None:
    """The absolute number wins."""
    back_end.apply(wanting(2))
    cluster.patch("Deployment", NAME, {"spec": {"replicas": 7}}, "tidecast")
    outcome = back_end.apply(wanting(2))
    assert Standing.DONE is outcome.standing
    assert "somebody had set 7 where Tidecast had asked for 2" in outcome.detail
    assert 2 == deployment(cluster)["spec"]["replicas"]
    assert "2" == deployment(cluster)["metadata"]["annotations"][ASKED_FOR]


def test_what_a_person_sets_just_before_the_write_is_noticed(
    cluster: FakeKubernetes, connection: KubernetesConnection, back_end: Placeholder
) -> None:
    """The write carries the version that was read."""
    back_end.apply(wanting(2))
    seven = {"spec": {"replicas": 7}}
    meddled = Meddled(
        connection.access, lambda: cluster.patch("Deployment", NAME, seven, "tidecast")
    )
    outcome = Placeholder(meddled).apply(wanting(3))
    assert "somebody had set 7 where Tidecast had asked for 2" in outcome.detail
    assert 3 == deployment(cluster)["spec"]["replicas"]


def test_a_deployment_of_somebody_else_is_left_alone(
    cluster: FakeKubernetes, back_end: Placeholder
) -> None:
    """Even one that has our name."""
    cluster.create(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": NAME, "namespace": "tidecast"},
            "spec": {"replicas": 5},
        }
    )
    outcome = back_end.apply(ONE)
    assert (Standing.REFUSED, None) == (outcome.standing, outcome.asked_for)
    assert 5 == deployment(cluster)["spec"]["replicas"]


def test_a_priority_class_of_another_value_is_refused(
    cluster: FakeKubernetes, back_end: Placeholder
) -> None:
    """At 0 placeholders would push real pods aside."""
    cluster.create(
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": "tidecast-placeholder"},
            "value": 0,
        }
    )
    outcome = back_end.apply(ONE)
    assert Standing.REFUSED is outcome.standing
    assert "has the value 0 for ever, not -10" in outcome.detail
    assert [] == cluster.all("Deployment")


def test_a_node_pool_of_two_pools_has_two_deployments(
    cluster: FakeKubernetes, back_end: Placeholder
) -> None:
    """Else each would undo what the other asked for."""
    back_end.apply(ONE)
    back_end.apply(replace(ONE, pool="a100/fragment", shape="fragment"))
    assert 2 == len(cluster.all("Deployment"))


def test_bad_options_are_outcomes_of_a_cycle(back_end: Placeholder) -> None:
    """A policy is checked before; a cycle goes on all the same."""
    outcome = back_end.apply(request("placeholder", {}))
    assert Standing.FAILED is outcome.standing
    assert "option 'node_selector' is missing" in outcome.detail


@pytest.mark.parametrize("priority", ["0", "-11", "high"])
def test_a_priority_must_be_one_that_makes_nodes_and_gives_way(priority: str) -> None:
    """From -10 to -1."""
    check_options(request("placeholder", OPTIONS | {"priority": "-1"}).node_pool)
    with pytest.raises(BadInput, match="a whole number from -10 to -1"):
        check_options(request("placeholder", OPTIONS | {"priority": priority}).node_pool)
