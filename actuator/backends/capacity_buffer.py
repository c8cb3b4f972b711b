"""Holds nodes ready through a CapacityBuffer, which the cluster's autoscaler keeps free.

A PodTemplate says what the spare room must fit, the CapacityBuffer how often. Its conditions are
what the autoscaler means to do; they prove no node. So a request stays unverified until the nodes
themselves are seen. It must never remove a node.
"""

from typing import Any

from actuator.backends.back_end import Outcome, Request, Standing
from actuator.backends.headroom_pods import POD_OPTIONS, HeadroomPods, labels, object_name
from actuator.backends.kubernetes_writes import (
    agrees,
    apply_as_read,
    found,
    is_ours,
    listed,
    path_of,
    settled,
)
from actuator.backends.options import Options
from actuator.cluster.api_errors import NotThere
from actuator.cluster.connection import Json, KubernetesConnection
from actuator.policy import NodePoolPolicy
from features.errors import SourceUnavailable

NAME = "capacity_buffer"
API_VERSION = "autoscaling.x-k8s.io/v1beta1"
ACTIVE_CAPACITY = "buffer.x-k8s.io/active-capacity"
CONDITIONS = ("ReadyForProvisioning", "Provisioning", "LimitedByQuotas")


def check_options(node_pool: NodePoolPolicy) -> None:
    """Refuse options that this back end cannot use.

    Raises:
        BadInput: one is missing, not known or cannot be used.
    """
    HeadroomPods.of(Options.of(node_pool, NAME, POD_OPTIONS))


class CapacityBuffer:
    """Implements `actuator.backends.back_end.BackEnd` with CapacityBuffers."""

    def __init__(self, connection: KubernetesConnection) -> None:
        """A back end that asks this API server."""
        self._connection = connection

    @property
    def name(self) -> str:
        """See `BackEnd.name`."""
        return NAME

    def apply(self, request: Request) -> Outcome:
        """See `BackEnd.apply`; `unverified` until as many nodes as are desired are seen."""
        return settled(lambda: self._attempt(request))

    def _attempt(self, request: Request) -> Outcome:
        pods = HeadroomPods.of(Options.of(request.node_pool, NAME, POD_OPTIONS))
        name, count = object_name(request), pods.count(request)
        buffers = path_of(API_VERSION, "capacitybuffers", pods.namespace, name)
        templates = path_of("v1", "podtemplates", pods.namespace, name)
        there = {path: found(self._connection, path) for path in (templates, buffers)}
        strangers = [one for one in there.values() if one is not None and not is_ours(one)]
        if strangers:
            kind = strangers[0]["kind"]
            return Outcome(Standing.REFUSED, f"there is a {kind} {name} that is not Tidecast's")
        wanted = {
            templates: _pod_template(request, pods),
            buffers: _buffer(request, pods, count),
        }
        writes = [path for path in wanted if not agrees(there[path], wanted[path])]
        try:
            for path in writes:
                apply_as_read(self._connection, path, wanted[path], there[path])
        except NotThere as error:
            raise SourceUnavailable(
                f"the cluster has no CapacityBuffer of {API_VERSION}, or no namespace "
                f"'{pods.namespace}'; see the autoscaler's flags in this back end's page"
            ) from error
        seen = self._nodes_seen(pods)
        asked_for = count if writes else None
        detail = (
            f"{name}: room for {count} {'asked for' if writes else 'is asked for'}, "
            f"{seen} of {request.desired_nodes} nodes seen{_conditions(there[buffers])}"
        )
        if seen < request.desired_nodes:
            return Outcome(Standing.UNVERIFIED, detail, asked_for)
        return Outcome(Standing.DONE if writes else Standing.UNCHANGED, detail, asked_for)

    def _nodes_seen(self, pods: HeadroomPods) -> int:
        """Nodes of the node pool that are ready and advertise what is asked for."""
        selector = ",".join(f"{name}={value}" for name, value in pods.node_selector.items())
        nodes = listed(self._connection, path_of("v1", "nodes"), labelSelector=selector)
        return sum(_is_useful(node, pods.gpu_resource) for node in nodes)


def _is_useful(node: Json, gpu_resource: str) -> bool:
    status = node.get("status", {})
    is_ready = any(
        one.get("type") == "Ready" and one.get("status") == "True"
        for one in status.get("conditions", ())
    )
    return is_ready and status.get("allocatable", {}).get(gpu_resource, "0") != "0"


def _conditions(buffer: Json | None) -> str:
    """What the autoscaler says of it, in its own words."""
    said = {one.get("type"): one for one in (buffer or {}).get("status", {}).get("conditions", ())}
    return "".join(
        f"; {name} {said[name].get('status')} ({said[name].get('reason', 'no reason')})"
        for name in CONDITIONS
        if name in said
    )


def _metadata(request: Request, pods: HeadroomPods) -> dict[str, Any]:
    return {
        "name": object_name(request),
        "namespace": pods.namespace,
        "labels": labels(request),
    }


def _pod_template(request: Request, pods: HeadroomPods) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PodTemplate",
        "metadata": _metadata(request, pods),
        "template": pods.template(request),
    }


def _buffer(request: Request, pods: HeadroomPods, count: int) -> dict[str, Any]:
    return {
        "apiVersion": API_VERSION,
        "kind": "CapacityBuffer",
        "metadata": _metadata(request, pods),
        "spec": {
            "provisioningStrategy": ACTIVE_CAPACITY,
            "podTemplateRef": {"name": object_name(request)},
            "replicas": count,
        },
    }
