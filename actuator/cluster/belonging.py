"""Tells which job a pod belongs to, and how many pods of it must run together.

Schedulers and operators mark this in their own ways; each is a row. Where no mark says how many,
the pods of the job that are there count.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class GroupMark:
    """One way to say that pods belong together; labels and annotations are looked through alike.

    Attributes:
        name: the mark whose value names the group.
        size: the mark whose value is how many pods run together; empty if there is none.
    """

    name: str
    size: str = ""


GROUP_MARKS = (
    GroupMark("kueue.x-k8s.io/pod-group-name", "kueue.x-k8s.io/pod-group-total-count"),
    GroupMark("leaderworkerset.sigs.k8s.io/group-key", "leaderworkerset.sigs.k8s.io/size"),
    GroupMark("jobset.sigs.k8s.io/jobset-name"),
    GroupMark("training.kubeflow.org/job-name"),
    GroupMark("trainer.kubeflow.org/trainjob-name"),
    GroupMark("scheduling.x-k8s.io/pod-group"),
    GroupMark(
        "pod-group.scheduling.sigs.k8s.io/name", "pod-group.scheduling.sigs.k8s.io/min-available"
    ),
    GroupMark("volcano.sh/job-name"),
    GroupMark("scheduling.volcano.sh/group-name", "scheduling.volcano.sh/group-min-member"),
    GroupMark("scheduling.k8s.io/group-name"),
    GroupMark("ray.io/cluster"),
)
"""In this order: who admits a group knows its size, who only owns its pods comes later."""

SERVING_KINDS = frozenset({"ReplicaSet", "StatefulSet", "DaemonSet", "ReplicationController"})
"""Owners whose pods stand alone: each is useful without the others."""


@dataclass(frozen=True, slots=True)
class Belonging:
    """What a pod is part of.

    Attributes:
        job: `namespace/owner`.
        pods: how many run together; None where those that are there have to be counted.
    """

    job: str
    pods: int | None


def belonging(metadata: Mapping[str, Any]) -> Belonging:
    """What a pod is part of, from its metadata."""
    namespace = metadata.get("namespace", "")
    marks = {**(metadata.get("annotations") or {}), **(metadata.get("labels") or {})}
    for mark in GROUP_MARKS:
        if name := marks.get(mark.name):
            size = marks.get(mark.size, "")
            return Belonging(f"{namespace}/{name}", max(int(size), 1) if size.isdecimal() else None)
    for owner in metadata.get("ownerReferences") or ():
        if owner.get("controller"):
            alone = owner.get("kind") in SERVING_KINDS
            return Belonging(f"{namespace}/{owner['name']}", 1 if alone else None)
    return Belonging(f"{namespace}/{metadata['name']}", 1)
