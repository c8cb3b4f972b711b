"""From the API's nodes and pods to ours: what they are, whose they are, why they wait.

Pure, and each object on its own: what only its neighbours can tell is added by `inventory`. What
cannot be read raises `ValueError`, and whoever reads must say so rather than leave it out.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from sys import intern
from typing import Any

from actuator.cluster.belonging import belonging
from actuator.cluster.marks import (
    checkpoint_seconds,
    instant_seconds,
    node_protections,
    pod_protections,
)
from actuator.cluster.read_settings import ReadSettings
from actuator.cluster.requirements import Requirement, requirement
from actuator.state import CapacityType, Node, Pod, Waiting
from actuator.warm_up import WARMING_TAINT

Json = Mapping[str, Any]
ENDED_PHASES = frozenset({"Succeeded", "Failed"})
PLACEHOLDER_LABEL, PLACEHOLDER_VALUE = "app.kubernetes.io/managed-by", "tidecast"
ZONE_LABELS = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
LEAVING_TAINTS = frozenset(
    {"ToBeDeletedByClusterAutoscaler", "karpenter.sh/disrupted", "karpenter.sh/disruption"}
)
"""Taints that are not taken back. `DeletionCandidateOfClusterAutoscaler` is: it marks every node
that is not needed now, and to count such a node as gone would undo a guard that holds it."""

CLOSING_TAINTS = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "karpenter.sh/")
"""Taints that keep every new pod out; those of GPU types and of teams let their own pods in."""

CLOSING_EFFECTS = frozenset({"NoSchedule", "NoExecute"})
CAPACITY_TYPES = {
    ("karpenter.sh/capacity-type", "spot"): CapacityType.SPOT,
    ("karpenter.sh/capacity-type", "on-demand"): CapacityType.ON_DEMAND,
    ("karpenter.sh/capacity-type", "reserved"): CapacityType.ON_DEMAND,
    ("eks.amazonaws.com/capacityType", "SPOT"): CapacityType.SPOT,
    ("eks.amazonaws.com/capacityType", "ON_DEMAND"): CapacityType.ON_DEMAND,
    ("eks.amazonaws.com/capacityType", "CAPACITY_BLOCK"): CapacityType.ON_DEMAND,
    ("cloud.google.com/gke-spot", "true"): CapacityType.SPOT,
    ("cloud.google.com/gke-preemptible", "true"): CapacityType.SPOT,
    ("cloud.google.com/gke-provisioning", "spot"): CapacityType.SPOT,
    ("cloud.google.com/gke-provisioning", "preemptible"): CapacityType.SPOT,
    ("cloud.google.com/gke-provisioning", "standard"): CapacityType.ON_DEMAND,
    ("kubernetes.azure.com/scalesetpriority", "spot"): CapacityType.SPOT,
    ("kubernetes.azure.com/scalesetpriority", "regular"): CapacityType.ON_DEMAND,
}
"""How clouds and autoscalers label what a node is paid as."""

IMAGE_REASONS = frozenset(
    {"ImagePullBackOff", "ErrImagePull", "ErrImageNeverPull", "InvalidImageName"}
)
UNREADABLE = (LookupError, TypeError, AttributeError, ValueError)


@dataclass(frozen=True, slots=True)
class ReadNode:
    """A node with its labels, by which its node pool is known."""

    node: Node
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ReadPod:
    """A pod as far as it can be told alone.

    Attributes:
        pod: with `job_pods` 1 where its neighbours have to be counted.
        is_counted: whether they have to.
        requirement: what it requires of nodes; empty once it is bound.
    """

    pod: Pod
    is_counted: bool
    requirement: Requirement


class ObjectReader:
    """Reads objects as one cluster names things."""

    def __init__(self, settings: ReadSettings) -> None:
        self.settings = settings
        self._gpus_of: dict[str, float] = {}
        self._is_type_label: dict[str, bool] = {}

    def node(self, body: Json) -> ReadNode:
        """A node.

        Raises:
            ValueError: it cannot be read.
        """
        try:
            return self._node(body)
        except UNREADABLE as error:
            raise ValueError(_unreadable("node", body, error)) from error

    def pod(self, body: Json) -> ReadPod | None:
        """A pod that has not ended and requests GPUs; None for every other.

        Raises:
            ValueError: it cannot be read.
        """
        try:
            return self._pod(body)
        except UNREADABLE as error:
            raise ValueError(_unreadable("pod", body, error)) from error

    def _node(self, body: Json) -> ReadNode:
        metadata, spec, status = body["metadata"], body.get("spec") or {}, body.get("status") or {}
        labels = metadata.get("labels") or {}
        taints = spec.get("taints") or ()
        keys = {taint["key"] for taint in taints}
        conditions = {one["type"]: one["status"] for one in status.get("conditions") or ()}
        node = Node(
            name=intern(metadata["name"]),
            node_pool=intern(_first(labels, self.settings.node_pool_labels)),
            zone=intern(_first(labels, ZONE_LABELS)),
            capacity_type=_capacity_type(labels),
            created_seconds=instant_seconds(metadata["creationTimestamp"]),
            gpus=self._gpus(status.get("allocatable") or {}),
            ready=conditions.get("Ready") == "True",
            schedulable=not spec.get("unschedulable") and not _is_closed(taints),
            warmed=WARMING_TAINT not in keys,
            leaving="deletionTimestamp" in metadata or not LEAVING_TAINTS.isdisjoint(keys),
            protections=node_protections(metadata.get("annotations") or {}),
            provider_id=spec.get("providerID", ""),
        )
        return ReadNode(node, labels)

    def _pod(self, body: Json) -> ReadPod | None:
        metadata, spec, status = body["metadata"], body["spec"], body.get("status") or {}
        gpus = self._pod_gpus(spec)
        if gpus <= 0 or status.get("phase") in ENDED_PHASES:
            return None
        labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
        started = status.get("startTime")
        part_of = belonging(metadata)
        node = spec.get("nodeName")
        needs = requirement(spec)
        pod = Pod(
            name=f"{metadata['namespace']}/{metadata['name']}",
            job=intern(part_of.job),
            job_pods=part_of.pods or 1,
            gpus=gpus,
            gpu_type=intern(self._gpu_type(labels, needs)),
            node=intern(node) if node else None,
            created_seconds=instant_seconds(metadata["creationTimestamp"]),
            waiting=_waiting(spec, status),
            placeholder=labels.get(PLACEHOLDER_LABEL) == PLACEHOLDER_VALUE,
            protections=pod_protections(annotations, instant_seconds(started) if started else None),
            checkpoint_seconds=checkpoint_seconds(annotations),
        )
        return ReadPod(pod, part_of.pods is None, () if node else needs)

    def _gpus(self, resources: Mapping[str, str]) -> float:
        """GPUs in a list of resources, parts of one included."""
        return sum(
            float(amount) * share
            for name, amount in resources.items()
            if (share := self._share(name))
        )

    def _pod_gpus(self, spec: Json) -> float:
        """What the scheduler reserves: all containers at once, or the largest init container.

        Init containers that restart always run on beside all that start after them (Kubernetes'
        KEP-753, 'Sidecar containers').
        """
        running = sum(self._container_gpus(one) for one in spec.get("containers") or ())
        beside = largest = 0.0
        for one in spec.get("initContainers") or ():
            gpus = self._container_gpus(one)
            if one.get("restartPolicy") == "Always":
                beside += gpus
                gpus = 0.0
            largest = max(largest, beside + gpus)
        return max(running + beside, largest)

    def _container_gpus(self, container: Json) -> float:
        resources = container.get("resources") or {}
        return self._gpus({**(resources.get("limits") or {}), **(resources.get("requests") or {})})

    def _share(self, resource: str) -> float:
        """The part of a GPU that one unit of a resource is; 0 if it is none."""
        if resource not in self._gpus_of:
            self._gpus_of[resource] = self._look_up(_spelled(resource))
        return self._gpus_of[resource]

    def _look_up(self, resource: str) -> float:
        if resource in {_spelled(one) for one in self.settings.gpu_resources}:
            return 1.0
        patterns = self.settings.shared_resources
        return next((p.gpus for p in patterns if re.fullmatch(p.name_pattern, resource)), 0.0)

    def _gpu_type(self, labels: Mapping[str, str], needs: Requirement) -> str:
        """The type that a pod requires, or says that it wants; empty where it does neither."""
        required = (
            (one.label, next(iter(one.values)))
            for alternative in needs
            for one in alternative
            if one.operator == "In" and len(one.values) == 1
        )
        return next(
            (value for label, value in (*required, *labels.items()) if self._names_type(label)), ""
        )

    def _names_type(self, label: str) -> bool:
        if label not in self._is_type_label:
            wanted = {_spelled(one) for one in self.settings.type_labels}
            self._is_type_label[label] = _spelled(label) in wanted
        return self._is_type_label[label]


def waits_without_gpus(body: Json) -> bool:
    """Whether a pod that requests no GPUs waits for a node; it is counted and not kept."""
    spec, status = body.get("spec") or {}, body.get("status") or {}
    return status.get("phase") == "Pending" and not spec.get("nodeName")


def _waiting(spec: Json, status: Json) -> Waiting | None:
    """Why a pod does not run; whether any node pool fits it is asked later."""
    containers = [
        *(status.get("initContainerStatuses") or ()),
        *(status.get("containerStatuses") or ()),
    ]
    reasons = {((one.get("state") or {}).get("waiting") or {}).get("reason") for one in containers}
    if not IMAGE_REASONS.isdisjoint(reasons):
        return Waiting.IMAGE_MISSING
    if spec.get("nodeName"):
        return None
    return Waiting.HELD_BY_QUOTA if spec.get("schedulingGates") else Waiting.FOR_ROOM


def _capacity_type(labels: Mapping[str, str]) -> CapacityType:
    return next(
        (CAPACITY_TYPES[one] for one in labels.items() if one in CAPACITY_TYPES),
        CapacityType.UNKNOWN,
    )


def _is_closed(taints: Iterable[Json]) -> bool:
    return any(
        taint["key"].startswith(CLOSING_TAINTS) and taint.get("effect") in CLOSING_EFFECTS
        for taint in taints
    )


def _first(labels: Mapping[str, str], names: Iterable[str]) -> str:
    """The value of the first of these labels that is there, empty if none is."""
    return next((labels[name] for name in names if labels.get(name)), "")


def _spelled(name: str) -> str:
    """A name as kube-state-metrics writes it."""
    return re.sub(r"[^a-zA-Z0-9_]", "_", name)


def _unreadable(kind: str, body: Json, error: Exception) -> str:
    metadata = body.get("metadata") if isinstance(body, Mapping) else None
    name = metadata.get("name", "") if isinstance(metadata, Mapping) else ""
    why = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return f"{kind} '{name}' cannot be read ({why}); report it with the object's YAML"
