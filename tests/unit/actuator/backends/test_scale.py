"""Scale subresources: absolute replicas, and fewer only where it is known who goes."""

from typing import Any

import pytest

from actuator.backends.back_end import Outcome, Request, Standing
from actuator.backends.scale import DELETE_MACHINE, Scale, check_options
from actuator.cluster.connection import KubernetesConnection
from features.errors import BadInput
from tests.fakes.back_end_stages import Meddled
from tests.fakes.kubernetes_server import FakeKubernetes
from tests.fakes.requests import request

CLUSTER_API = {
    "api_version": "cluster.x-k8s.io/v1beta1",
    "resource": "machinedeployments",
    "namespace": "machines",
    "name": "gpu",
}
CHOOSING = CLUSTER_API | {"victims": "cluster-api"}
KARPENTER = {"api_version": "karpenter.sh/v1", "resource": "nodepools", "name": "gpu"}
WHERE = "machinedeployments/gpu"


@pytest.fixture
def back_end(connection: KubernetesConnection) -> Scale:
    return Scale(connection)


def wanted(
    nodes: int, removable: tuple[str, ...] = (), options: dict[str, str] = CHOOSING
) -> Request:
    """A request about a group of 3."""
    return request(
        "scale", options, current_nodes=3, desired_nodes=nodes, removable_nodes=removable
    )


def add_group(cluster: FakeKubernetes, machines: int = 3) -> None:
    """A MachineDeployment of 3, with Machines whose nodes are `node-1` and so on."""
    cluster.create(
        {
            "apiVersion": "cluster.x-k8s.io/v1beta1",
            "kind": "MachineDeployment",
            "metadata": {"name": "gpu", "namespace": "machines"},
            "spec": {"replicas": 3},
        }
    )
    for number in range(1, machines + 1):
        add_machine(cluster, number)


def add_machine(cluster: FakeKubernetes, number: int, **metadata: Any) -> None:
    """One Machine of the group."""
    cluster.create(
        {
            "apiVersion": "cluster.x-k8s.io/v1beta1",
            "kind": "Machine",
            "metadata": {
                "name": f"machine-{number}",
                "namespace": "machines",
                "labels": {"cluster.x-k8s.io/deployment-name": "gpu"},
                **metadata,
            },
            "status": {"nodeRef": {"name": f"node-{number}"}},
        }
    )


def replicas(cluster: FakeKubernetes) -> int:
    """The group's size."""
    found: int = cluster.get("MachineDeployment", "gpu", "machines")["spec"]["replicas"]
    return found


def marked(cluster: FakeKubernetes) -> dict[str, str]:
    """Machines that are marked for deletion, and how."""
    return {
        one["metadata"]["name"]: one["metadata"]["annotations"][DELETE_MACHINE]
        for one in cluster.all("Machine")
        if DELETE_MACHINE in (one["metadata"].get("annotations") or {})
    }


def test_it_asks_for_absolute_replicas(cluster: FakeKubernetes, back_end: Scale) -> None:
    """Twice is once."""
    add_group(cluster)
    first = back_end.apply(wanted(5, options=CLUSTER_API))
    assert Outcome(Standing.DONE, f"{WHERE}: asked for 5 replicas", 5) == first
    assert 5 == replicas(cluster)
    again = back_end.apply(wanted(5, options=CLUSTER_API))
    assert Outcome(Standing.UNCHANGED, f"{WHERE}: has 5 replicas") == again


def test_what_has_no_namespace_is_scaled_as_well(cluster: FakeKubernetes, back_end: Scale) -> None:
    """A static NodePool of Karpenter grows, and does not shrink."""
    cluster.create(
        {
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodePool",
            "metadata": {"name": "gpu"},
            "spec": {"replicas": 3},
        }
    )
    assert 4 == back_end.apply(wanted(4, options=KARPENTER)).asked_for
    outcome = back_end.apply(wanted(2, ("node-1", "node-2"), options=KARPENTER))
    assert (Standing.REFUSED, None) == (outcome.standing, outcome.asked_for)
    assert "it would choose by itself which nodes go" in outcome.detail
    assert 4 == cluster.get("NodePool", "gpu")["spec"]["replicas"]


def test_machines_that_go_are_marked_before_the_group_shrinks(
    cluster: FakeKubernetes, back_end: Scale
) -> None:
    """Those named first go first, and no more are marked than go."""
    add_group(cluster)
    assert 2 == back_end.apply(wanted(2, ("node-3", "node-1"))).asked_for
    assert {"machine-3": "tidecast"} == marked(cluster)
    writes = [one.path.rpartition("/")[2] for one in cluster.asked("PATCH")]
    assert ["machine-3", "scale"] == writes


@pytest.mark.parametrize("removable", [(), ("stranger",)])
def test_without_a_removable_machine_nothing_is_lowered(
    cluster: FakeKubernetes, back_end: Scale, removable: tuple[str, ...]
) -> None:
    """And nothing is written."""
    add_group(cluster)
    outcome = back_end.apply(wanted(1, removable))
    assert Standing.REFUSED is outcome.standing
    assert "not named as removable" in outcome.detail
    assert [] == cluster.asked("PATCH")


def test_it_lowers_as_far_as_it_may(cluster: FakeKubernetes, back_end: Scale) -> None:
    """Once more, before the Machine has gone, removes nobody else."""
    add_group(cluster)
    down = wanted(1, ("node-2",))
    first = back_end.apply(down)
    assert (Standing.REFUSED, 2) == (first.standing, first.asked_for)
    assert back_end.apply(down).asked_for is None
    assert (2, {"machine-2": "tidecast"}) == (replicas(cluster), marked(cluster))


def test_a_mark_of_an_earlier_cycle_is_taken_away(cluster: FakeKubernetes, back_end: Scale) -> None:
    """The node has a job by now, and another goes."""
    add_group(cluster, machines=0)
    add_machine(cluster, 1, annotations={DELETE_MACHINE: "tidecast"})
    for number in (2, 3):
        add_machine(cluster, number)
    assert 2 == back_end.apply(wanted(2, ("node-2",))).asked_for
    assert {"machine-2": "tidecast"} == marked(cluster)


@pytest.mark.parametrize("mark", ["yes", ""])
def test_a_mark_of_somebody_else_holds_everything(
    cluster: FakeKubernetes, back_end: Scale, mark: str
) -> None:
    """Its Machine would go first, and may carry a job."""
    add_group(cluster, machines=0)
    add_machine(cluster, 1, annotations={DELETE_MACHINE: mark})
    for number in (2, 3):
        add_machine(cluster, number)
    outcome = back_end.apply(wanted(2, ("node-2",)))
    assert Standing.REFUSED is outcome.standing
    assert "somebody else has marked Machine machine-1" in outcome.detail
    assert (3, {"machine-1": mark}) == (replicas(cluster), marked(cluster))


def test_machines_on_their_way_out_or_of_other_groups_do_not_count(
    cluster: FakeKubernetes, back_end: Scale
) -> None:
    """A Machine that goes already cannot go in place of another."""
    add_group(cluster, machines=2)
    add_machine(cluster, 3, deletionTimestamp="2026-11-29T12:00:00Z")
    add_machine(cluster, 4, labels={"cluster.x-k8s.io/deployment-name": "other"})
    assert Standing.DONE is back_end.apply(wanted(2, ("node-3", "node-4"))).standing
    assert {} == marked(cluster)
    outcome = back_end.apply(wanted(1, ("node-3", "node-4")))
    assert Standing.REFUSED is outcome.standing
    assert 2 == replicas(cluster)


def test_a_size_that_somebody_raised_is_not_lowered_by_the_way(
    cluster: FakeKubernetes, back_end: Scale
) -> None:
    """A request for more never removes, and says what it found."""
    add_group(cluster)
    cluster.patch("MachineDeployment", "gpu", {"spec": {"replicas": 6}}, "machines")
    outcome = back_end.apply(wanted(4, ("node-1", "node-2", "node-3")))
    assert (Standing.REFUSED, None) == (outcome.standing, outcome.asked_for)
    assert f"{WHERE}: left at 6, more than the 4 wanted; somebody else asked for them" == (
        outcome.detail
    )
    assert (6, {}) == (replicas(cluster), marked(cluster))


def test_a_size_that_somebody_raises_just_before_the_write_is_noticed(
    cluster: FakeKubernetes, connection: KubernetesConnection
) -> None:
    """The write carries the version that was read."""
    add_group(cluster)
    raised = {"spec": {"replicas": 6}}
    meddled = Meddled(
        connection.access,
        lambda: cluster.patch("MachineDeployment", "gpu", raised, "machines"),
    )
    assert Standing.REFUSED is Scale(meddled).apply(wanted(4)).standing
    assert 6 == replicas(cluster)


def test_options_are_checked_before_a_policy_is_live() -> None:
    """Each mistake is one line."""
    check_options(wanted(1).node_pool)
    check_options(wanted(1, options=KARPENTER).node_pool)
    for name in ("api_version", "resource", "name"):
        with pytest.raises(BadInput, match=f"option '{name}' is missing"):
            check_options(wanted(1, options=CLUSTER_API | {name: ""}).node_pool)
    with pytest.raises(BadInput, match="Machines of nodepools cannot be chosen"):
        check_options(wanted(1, options=KARPENTER | {"victims": "cluster-api"}).node_pool)
    with pytest.raises(BadInput, match="not one of none, cluster-api"):
        check_options(wanted(1, options=CLUSTER_API | {"victims": "any"}).node_pool)
