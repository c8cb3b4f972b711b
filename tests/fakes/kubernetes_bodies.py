"""Nodes and pods as the Kubernetes API has them, valid for a real server too."""

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]
CREATED = "2026-11-29T12:00:00Z"
CREATED_SECONDS = 1_795_953_600
POOL_LABEL = "karpenter.sh/nodepool"
TYPE_LABEL = "nvidia.com/gpu.product"


def node_body(
    name: str = "node-1",
    *,
    node_pool: str = "a100-spot",
    gpus: int = 8,
    ready: bool = True,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    taints: tuple[str, ...] = (),
) -> Json:
    """A node; its taints are keys, all of effect NoSchedule."""
    allocatable = {"cpu": "96", "pods": "110"} | ({"nvidia.com/gpu": str(gpus)} if gpus else {})
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "creationTimestamp": CREATED,
            "labels": {POOL_LABEL: node_pool, **(labels or {})},
            "annotations": dict(annotations or {}),
        },
        "spec": {"taints": [{"key": key, "effect": "NoSchedule"} for key in taints]},
        "status": {
            "allocatable": allocatable,
            "conditions": [{"type": "Ready", "status": "True" if ready else "False"}],
        },
    }


def pod_body(
    name: str = "pod-1",
    *,
    gpus: int = 1,
    node: str | None = None,
    namespace: str = "default",
    phase: str = "",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    owner: tuple[str, str] | None = None,
    spec: Mapping[str, Any] | None = None,
    status: Mapping[str, Any] | None = None,
) -> Json:
    """A pod; its owner is a kind and a name."""
    limits = {"nvidia.com/gpu": str(gpus)} if gpus else {}
    container = {"name": "main", "image": "train", "resources": {"limits": limits}}
    owners = [{"kind": owner[0], "name": owner[1], "controller": True}] if owner else []
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "creationTimestamp": CREATED,
            "labels": dict(labels or {}),
            "annotations": dict(annotations or {}),
            "ownerReferences": owners,
        },
        "spec": {
            "containers": [container],
            **({"nodeName": node} if node else {}),
            **(spec or {}),
        },
        "status": {"phase": phase or ("Running" if node else "Pending"), **(status or {})},
    }
