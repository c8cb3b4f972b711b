"""Holds nodes ready with pods that do nothing and give way to any job.

One Deployment per node pool, of pause pods with a negative priority: the cluster's autoscaler makes
nodes for them, and real pods push them aside. There are only as many as there is headroom, so they
shrink as demand lands; otherwise pods pushed aside would ask for yet more nodes. It must never
remove a node.
"""

from dataclasses import dataclass
from typing import Any

from actuator.backends.back_end import Outcome, Request, Standing
from actuator.backends.headroom_pods import POD_OPTIONS, HeadroomPods, labels, object_name
from actuator.backends.kubernetes_writes import (
    MANAGED_BY,
    agrees,
    apply_as_read,
    found,
    is_ours,
    path_of,
    settled,
)
from actuator.backends.options import Options
from actuator.cluster.connection import Json, KubernetesConnection
from actuator.policy import NodePoolPolicy

NAME = "placeholder"
OPTIONS = (*POD_OPTIONS, "priority_class", "priority")
LEAST_PRIORITY = -10  # Cluster Autoscaler makes no node for a pod below it
ASKED_FOR = "tidecast.io/asked-for"
DECISION = "tidecast.io/decision"


@dataclass(frozen=True)
class PlaceholderOptions:
    """What a node pool's options say.

    Attributes:
        pods: what the placeholders look like.
        priority_class: name of their PriorityClass.
        priority: its value, negative.
    """

    pods: HeadroomPods
    priority_class: str
    priority: int

    @classmethod
    def of(cls, node_pool: NodePoolPolicy) -> "PlaceholderOptions":
        """The options of a node pool.

        Raises:
            BadInput: one is missing, not known or cannot be used.
        """
        options = Options.of(node_pool, NAME, OPTIONS)
        return cls(
            pods=HeadroomPods.of(options),
            priority_class=options.text("priority_class", "tidecast-placeholder"),
            priority=options.whole("priority", LEAST_PRIORITY, LEAST_PRIORITY, -1),
        )


def check_options(node_pool: NodePoolPolicy) -> None:
    """Refuse options that this back end cannot use.

    Raises:
        BadInput: one is missing, not known or cannot be used.
    """
    PlaceholderOptions.of(node_pool)


class Placeholder:
    """Implements `actuator.backends.back_end.BackEnd` with Deployments of pause pods."""

    def __init__(self, connection: KubernetesConnection) -> None:
        """A back end that asks this API server."""
        self._connection = connection

    @property
    def name(self) -> str:
        """See `BackEnd.name`."""
        return NAME

    def apply(self, request: Request) -> Outcome:
        """See `BackEnd.apply`."""
        return settled(lambda: self._attempt(request))

    def _attempt(self, request: Request) -> Outcome:
        options = PlaceholderOptions.of(request.node_pool)
        count = options.pods.count(request)
        wanted = _deployment(request, options, count)
        name = wanted["metadata"]["name"]
        path = path_of("apps/v1", "deployments", options.pods.namespace, name)
        there = found(self._connection, path)
        if there is not None and not is_ours(there):
            return Outcome(Standing.REFUSED, f"there is a Deployment {name} that is not Tidecast's")
        if there is not None and agrees(there, wanted):
            ready = there.get("status", {}).get("readyReplicas", 0)
            detail = f"{name}: {count} placeholders, {ready} of them on a node"
            return Outcome(Standing.UNCHANGED, detail)
        refusal = self._ensure_priority_class(options)
        if refusal is not None:
            return Outcome(Standing.REFUSED, refusal)
        marked = wanted["metadata"] | {
            "annotations": {ASKED_FOR: str(count), DECISION: request.decision}
        }
        apply_as_read(self._connection, path, wanted | {"metadata": marked}, there)
        detail = f"{name}: asked for {count} placeholders{_meddled(there)}"
        return Outcome(Standing.DONE, detail, count)

    def _ensure_priority_class(self, options: PlaceholderOptions) -> str | None:
        """Create the PriorityClass; why it cannot be used if there is another of its name."""
        path = path_of("scheduling.k8s.io/v1", "priorityclasses", "", options.priority_class)
        there = found(self._connection, path)
        if there is None:
            apply_as_read(self._connection, path, _priority_class(options), None)
            return None
        value = there.get("value", 0)
        if value == options.priority:
            return None
        return (
            f"PriorityClass {options.priority_class} has the value {value} for ever, not "
            f"{options.priority}; set 'priority' to it, or delete it"
        )


def _meddled(there: Json | None) -> str:
    """What somebody else has made of the number since we wrote it."""
    if there is None:
        return ""
    asked_for = there["metadata"].get("annotations", {}).get(ASKED_FOR)
    now = there["spec"].get("replicas")
    if asked_for in {None, str(now)}:
        return ""
    return f"; somebody had set {now} where Tidecast had asked for {asked_for}"


def _deployment(request: Request, options: PlaceholderOptions, count: int) -> dict[str, Any]:
    ours = labels(request)
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": object_name(request),
            "namespace": options.pods.namespace,
            "labels": ours,
        },
        "spec": {
            "replicas": count,
            "selector": {"matchLabels": ours},
            # a surge would ask for nodes on top
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1},
            },
            "template": options.pods.template(request, options.priority_class),
        },
    }


def _priority_class(options: PlaceholderOptions) -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": options.priority_class, "labels": dict(MANAGED_BY)},
        "value": options.priority,
        "globalDefault": False,
        "preemptionPolicy": "Never",
        "description": "Placeholders of Tidecast: they give way to any job.",
    }
