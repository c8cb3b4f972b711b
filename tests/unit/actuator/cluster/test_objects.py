"""Nodes and pods of the API become ours, with everything that decides about them."""

from typing import Any

import pytest

from actuator.cluster.objects import ObjectReader
from actuator.cluster.read_settings import ReadSettings
from actuator.state import CapacityType, Node, NodePhase, Pod, Waiting
from features.sources.pod_settings import SharedResource
from tests.fakes.kubernetes_bodies import (
    CREATED_SECONDS,
    POOL_LABEL,
    TYPE_LABEL,
    node_body,
    pod_body,
)

READER = ObjectReader(ReadSettings())


def node(body: dict[str, Any]) -> Node:
    """The node alone."""
    return READER.node(body).node


def pod(body: dict[str, Any]) -> Pod:
    """A pod that is kept."""
    read = READER.pod(body)
    assert read is not None
    return read.pod


def container(amount: str = "1", resource: str = "nvidia.com/gpu", **more: str) -> dict[str, Any]:
    """A container that requests some of a resource."""
    return {"name": "c", "resources": {"limits": {resource: amount}}, **more}


def test_a_node_is_read_in_full() -> None:
    """Everything that decides about a node comes from its object."""
    body = node_body(
        "node-1",
        labels={
            "topology.kubernetes.io/zone": "eu-1a",
            "karpenter.sh/capacity-type": "spot",
        },
        annotations={"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"},
    )
    body["spec"]["providerID"] = "aws:///eu-1a/i-1"
    read = node(body)
    assert (
        Node(
            name="node-1",
            node_pool="a100-spot",
            zone="eu-1a",
            capacity_type=CapacityType.SPOT,
            created_seconds=CREATED_SECONDS,
            gpus=8.0,
            ready=True,
            protections=read.protections,
            provider_id="aws:///eu-1a/i-1",
        )
        == read
    )
    assert ["cluster-autoscaler.kubernetes.io/scale-down-disabled"] == [
        one.mark for one in read.protections
    ]


@pytest.mark.parametrize(
    ("body", "phase", "schedulable"),
    [
        (node_body(), NodePhase.CAPACITY, True),
        (node_body(ready=False), NodePhase.UNREADY, True),
        (node_body(gpus=0), NodePhase.ARRIVING, True),
        (node_body(taints=("tidecast.io/warming",)), NodePhase.ARRIVING, True),
        (node_body(taints=("ToBeDeletedByClusterAutoscaler",)), NodePhase.LEAVING, True),
        (node_body(taints=("DeletionCandidateOfClusterAutoscaler",)), NodePhase.CAPACITY, True),
        (node_body(taints=("karpenter.sh/disrupted",)), NodePhase.LEAVING, False),
        (node_body(taints=("node.kubernetes.io/unschedulable",)), NodePhase.CAPACITY, False),
        (node_body(taints=("nvidia.com/gpu", "team-a")), NodePhase.CAPACITY, True),
    ],
)
def test_taints_and_conditions_tell_what_a_node_is_good_for(
    body: dict[str, Any], phase: NodePhase, schedulable: bool
) -> None:
    """Taints of GPU types and teams keep no job of theirs away; those of the system do."""
    assert (phase, schedulable) == (node(body).phase, node(body).schedulable)


def test_a_cordoned_or_deleted_node_is_seen_as_such() -> None:
    """Cordon stands in the spec, deletion in the metadata."""
    cordoned, deleted = node_body(), node_body()
    cordoned["spec"]["unschedulable"] = True
    deleted["metadata"]["deletionTimestamp"] = "2026-11-29T12:00:00Z"
    assert not node(cordoned).schedulable
    assert node(deleted).leaving


def test_a_node_without_conditions_is_not_ready() -> None:
    """What is not said is not taken for good."""
    body = node_body()
    body["status"] = {}
    assert (False, 0.0) == (node(body).ready, node(body).gpus)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({"karpenter.sh/nodepool": "k", "node.kubernetes.io/instance-type": "p4d"}, "k"),
        ({"eks.amazonaws.com/nodegroup": "e"}, "e"),
        ({"cloud.google.com/gke-nodepool": "g"}, "g"),
        ({"kubernetes.azure.com/agentpool": "z"}, "z"),
        ({"cluster.x-k8s.io/deployment-name": "c"}, "c"),
        ({"node.kubernetes.io/instance-type": "p4d"}, "p4d"),
        ({}, ""),
    ],
)
def test_a_node_pool_is_the_first_label_that_is_there(
    labels: dict[str, str], expected: str
) -> None:
    """The more particular label stands before the more general one."""
    body = node_body()
    body["metadata"]["labels"] = labels
    assert expected == node(body).node_pool


@pytest.mark.parametrize(
    ("label", "value", "expected"),
    [
        ("karpenter.sh/capacity-type", "on-demand", CapacityType.ON_DEMAND),
        ("karpenter.sh/capacity-type", "reserved", CapacityType.ON_DEMAND),
        ("eks.amazonaws.com/capacityType", "SPOT", CapacityType.SPOT),
        ("cloud.google.com/gke-spot", "true", CapacityType.SPOT),
        ("kubernetes.azure.com/scalesetpriority", "regular", CapacityType.ON_DEMAND),
        ("karpenter.sh/capacity-type", "new-kind", CapacityType.UNKNOWN),
    ],
)
def test_capacity_types_are_read_from_each_clouds_label(
    label: str, value: str, expected: CapacityType
) -> None:
    """What no label says is unknown, and not on-demand."""
    assert expected == node(node_body(labels={label: value})).capacity_type


def test_slices_count_as_their_part_of_a_gpu() -> None:
    """A node of two whole GPUs and seven slices of one more has three."""
    body = node_body(gpus=2)
    body["status"]["allocatable"]["nvidia.com/mig-1g.10gb"] = "7"
    assert 3.0 == pytest.approx(node(body).gpus)


@pytest.mark.parametrize("name", ["example.com/fpga-gpu", "example_com_fpga_gpu"])
def test_resources_may_be_named_as_kubernetes_or_prometheus_do(name: str) -> None:
    """One setting serves both sources."""
    shared = (SharedResource("nvidia_com_gpu_shared", 0.25),)
    reader = ObjectReader(ReadSettings(gpu_resources=(name,), shared_resources=shared))
    body = node_body(gpus=5)
    body["status"]["allocatable"] |= {"example.com/fpga-gpu": "2", "nvidia.com/gpu.shared": "8"}
    assert 4.0 == reader.node(body).node.gpus


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"containers": [container("2"), container("1")]}, 3.0),
        ({"containers": [container("2")], "initContainers": [container("4")]}, 4.0),
        ({"containers": [container("2")], "initContainers": [container("1")]}, 2.0),
        (
            {
                "containers": [container("2")],
                "initContainers": [container("1", restartPolicy="Always"), container("2")],
            },
            3.0,
        ),
        (
            {
                "containers": [container("1")],
                "initContainers": [container("2", restartPolicy="Always")],
            },
            3.0,
        ),
        ({"containers": [{"resources": {"requests": {"nvidia.com/gpu": "3"}}}]}, 3.0),
        ({"containers": [container("2", "nvidia.com/mig-3g.20gb")]}, 6 / 7),
    ],
)
def test_a_pods_gpus_are_what_the_scheduler_reserves(spec: dict[str, Any], expected: float) -> None:
    """Init containers count beside none but the largest, unless they run on."""
    assert expected == pytest.approx(pod(pod_body(spec=spec)).gpus)


@pytest.mark.parametrize(
    "body",
    [
        pod_body(gpus=0),
        pod_body(node="n", phase="Succeeded"),
        pod_body(node="n", phase="Failed"),
    ],
)
def test_pods_without_gpus_and_ended_pods_are_left_out(body: dict[str, Any]) -> None:
    """They hold nothing and want nothing."""
    assert READER.pod(body) is None


def with_reason(reason: str, **more: Any) -> dict[str, Any]:
    """A pod whose container waits for this reason."""
    waiting = {"containerStatuses": [{"state": {"waiting": {"reason": reason}}}]}
    return pod_body(status=waiting, **more)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (pod_body(), Waiting.FOR_ROOM),
        (pod_body(node="n"), None),
        (
            pod_body(spec={"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]}),
            Waiting.HELD_BY_QUOTA,
        ),
        (with_reason("ImagePullBackOff", node="n", phase="Pending"), Waiting.IMAGE_MISSING),
        (with_reason("ErrImagePull", node="n", phase="Pending"), Waiting.IMAGE_MISSING),
        (with_reason("ContainerCreating", node="n", phase="Pending"), None),
        (with_reason("CrashLoopBackOff", node="n"), None),
    ],
)
def test_why_a_pod_waits(body: dict[str, Any], expected: Waiting | None) -> None:
    """Gates are a quota's, images are nobody's node, and the rest waits for room."""
    assert expected == pod(body).waiting


def test_a_pod_whose_image_is_missing_still_holds_its_gpus() -> None:
    """It is bound, so its node is not empty."""
    assert "n" == pod(with_reason("ErrImagePull", node="n")).node


@pytest.mark.parametrize(
    ("body", "job", "pods", "is_counted"),
    [
        (pod_body("solo"), "default/solo", 1, False),
        (pod_body(owner=("Job", "train")), "default/train", 1, True),
        (pod_body(owner=("ReplicaSet", "serve")), "default/serve", 1, False),
        (
            pod_body(
                labels={"kueue.x-k8s.io/pod-group-name": "group"},
                annotations={"kueue.x-k8s.io/pod-group-total-count": "6"},
                owner=("Job", "train"),
            ),
            "default/group",
            6,
            False,
        ),
        (
            pod_body(labels={"jobset.sigs.k8s.io/jobset-name": "set"}, owner=("Job", "set-0")),
            "default/set",
            1,
            True,
        ),
        (pod_body(labels={"training.kubeflow.org/job-name": "torch"}), "default/torch", 1, True),
        (pod_body(annotations={"scheduling.k8s.io/group-name": "vol"}), "default/vol", 1, True),
        (pod_body(labels={"scheduling.x-k8s.io/pod-group": "co"}), "default/co", 1, True),
    ],
)
def test_the_job_of_a_pod_and_how_many_run_together(
    body: dict[str, Any], job: str, pods: int, is_counted: bool
) -> None:
    """A group's own mark counts before the owner, and a stated size before counting."""
    read = READER.pod(body)
    assert read is not None
    assert (job, pods, is_counted) == (read.pod.job, read.pod.job_pods, read.is_counted)


def affinity(operator: str, *values: str) -> dict[str, Any]:
    """A required node affinity on the GPU type."""
    terms = [{"matchExpressions": [{"key": TYPE_LABEL, "operator": operator, "values": values}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return {"affinity": {"nodeAffinity": required}}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (pod_body(), ""),
        (pod_body(spec={"nodeSelector": {TYPE_LABEL: "A100"}}), "A100"),
        (pod_body(spec=affinity("In", "H100")), "H100"),
        (pod_body(spec=affinity("In", "H100", "A100")), ""),
        (pod_body(spec=affinity("NotIn", "H100")), ""),
        (pod_body(labels={TYPE_LABEL: "L40S"}), "L40S"),
        (pod_body(labels={TYPE_LABEL: "L40S"}, spec={"nodeSelector": {TYPE_LABEL: "T4"}}), "T4"),
    ],
)
def test_the_gpu_type_that_a_pod_asks_for(body: dict[str, Any], expected: str) -> None:
    """What it requires counts before what it is labelled with; a choice is no type."""
    assert expected == pod(body).gpu_type


def test_our_placeholders_and_checkpoints_are_known() -> None:
    """By the label that they carry, and by the annotation that a job writes."""
    own = pod(pod_body(labels={"app.kubernetes.io/managed-by": "tidecast"}))
    saved = pod(pod_body(annotations={"tidecast.io/checkpointed-at": "2026-11-29T12:00:00Z"}))
    assert (True, None) == (own.placeholder, own.checkpoint_seconds)
    assert (False, CREATED_SECONDS) == (saved.placeholder, saved.checkpoint_seconds)


@pytest.mark.parametrize(
    "body",
    [
        {"metadata": {"name": "x"}},
        {**node_body(), "spec": {"taints": [{}]}},
        {**node_body(), "status": {"allocatable": {"nvidia.com/gpu": "many"}}},
    ],
)
def test_a_node_that_cannot_be_read_is_named(body: dict[str, Any]) -> None:
    """It must not be left out in silence."""
    with pytest.raises(ValueError, match=r"node '(x|node-1)' cannot be read"):
        READER.node(body)


def test_a_pod_that_cannot_be_read_is_named() -> None:
    """It must not be left out in silence."""
    body = pod_body()
    body["metadata"]["creationTimestamp"] = "yesterday"
    with pytest.raises(ValueError, match="pod 'pod-1' cannot be read"):
        READER.pod(body)


def test_the_pool_label_of_the_bodies_is_one_we_read() -> None:
    """The other tests are about something."""
    assert POOL_LABEL in ReadSettings().node_pool_labels
