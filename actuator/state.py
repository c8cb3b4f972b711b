"""What the cluster looks like at one moment: nodes, pods, and how far this can be trusted.

Whoever reads a cluster fills these values; whoever decides only reads them. Nothing here may stand
for what was not seen: a state that is not synced says so, and nobody may shrink a pool by it. No
model and no feature is imported, so that the reactive fallback stands on its own.
"""

from dataclasses import dataclass
from enum import StrEnum


class CapacityType(StrEnum):
    """How a node is paid for, which decides how likely it is to come and to stay."""

    ON_DEMAND = "on-demand"
    SPOT = "spot"
    UNKNOWN = "unknown"


class NodePhase(StrEnum):
    """What a node is good for now."""

    ARRIVING = "arriving"
    CAPACITY = "capacity"
    UNREADY = "unready"
    LEAVING = "leaving"


class Waiting(StrEnum):
    """Why a pod does not run; only the first is a reason to add nodes."""

    FOR_ROOM = "for room"
    HELD_BY_QUOTA = "held by a quota"
    IMAGE_MISSING = "its image cannot be pulled"
    NO_SUCH_NODE = "its selector fits no node pool"
    NO_GPU = "it asks for no GPU"


@dataclass(frozen=True, slots=True)
class Protection:
    """A mark that makes a node or a pod untouchable.

    Attributes:
        mark: the annotation that says so, such as `karpenter.sh/do-not-disrupt`.
        owner: who set it, empty where the mark cannot say.
        reason: why, empty where the mark cannot say.
        expires_seconds: Unix time from which it no longer holds; None for ever.
    """

    mark: str
    owner: str = ""
    reason: str = ""
    expires_seconds: int | None = None

    def holds(self, now_seconds: int) -> bool:
        """Whether it still counts."""
        return self.expires_seconds is None or now_seconds < self.expires_seconds


@dataclass(frozen=True, slots=True)
class Node:
    """One node of one node pool.

    Attributes:
        name: the node's name.
        node_pool: the node pool it belongs to.
        zone: where it stands, empty if unknown.
        capacity_type: spot or on-demand.
        created_seconds: Unix time at which it was created.
        gpus: GPUs it advertises as allocatable; 0 until it advertises any.
        ready: its Ready condition is true.
        schedulable: neither cordoned nor tainted against new pods.
        warmed: the start-up taint of the warm-up is gone, or there never was one.
        leaving: an autoscaler has marked it for deletion.
        protections: marks that make it untouchable.
        gpu_utilisation: mean of its GPUs, 0 to 1; None where it is not known.
        provider_id: the cloud's name of the machine, empty if unknown.
    """

    name: str
    node_pool: str
    zone: str
    capacity_type: CapacityType
    created_seconds: int
    gpus: float
    ready: bool
    schedulable: bool = True
    warmed: bool = True
    leaving: bool = False
    protections: tuple[Protection, ...] = ()
    gpu_utilisation: float | None = None
    provider_id: str = ""

    @property
    def phase(self) -> NodePhase:
        """A node counts as capacity once it is ready, advertises GPUs and is warmed up."""
        if self.leaving:
            return NodePhase.LEAVING
        if self.gpus <= 0 or not self.warmed:
            return NodePhase.ARRIVING
        return NodePhase.CAPACITY if self.ready else NodePhase.UNREADY


@dataclass(frozen=True, slots=True)
class Pod:
    """One pod that has not ended.

    Attributes:
        name: `namespace/name`.
        job: what it belongs to, as `namespace/owner`; its own name where it stands alone.
        job_pods: pods of that job that must run together; 1 where it stands alone.
        gpus: GPUs it requests, fractions allowed.
        gpu_type: the GPU type it asks for, empty where it does not say.
        node: the node it is bound to; None while it waits.
        created_seconds: Unix time at which it was asked for.
        waiting: why it does not run; None once it runs.
        placeholder: it only holds a node ready, and is no demand.
        protections: marks that make it untouchable.
        checkpoint_seconds: Unix time of the job's last checkpoint, where it reports any.
    """

    name: str
    job: str
    job_pods: int
    gpus: float
    gpu_type: str
    node: str | None
    created_seconds: int
    waiting: Waiting | None = None
    placeholder: bool = False
    protections: tuple[Protection, ...] = ()
    checkpoint_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class ClusterState:
    """The cluster at one moment.

    Attributes:
        taken_seconds: Unix time at which it was true.
        nodes: every node of the node pools in view.
        pods: every unfinished pod that requests GPUs, placeholders included.
        synced: everything was listed and is being watched.
        problems: what is missing or doubtful, a line each; empty where all is known.
    """

    taken_seconds: int
    nodes: tuple[Node, ...]
    pods: tuple[Pod, ...]
    synced: bool
    problems: tuple[str, ...] = ()
