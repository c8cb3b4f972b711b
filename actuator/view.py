"""One pool as deciding sees it: its nodes, its queue, and what it does not know.

A view is taken from a `ClusterState` once per cycle; sizing and guards read it and nothing else of
the cluster. A figure that is not known makes the view `doubtful`; it never becomes a zero. No model
and no feature is imported.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from actuator.state import Waiting


@dataclass(frozen=True, slots=True)
class WaitingJob:
    """A job of the pool that waits for room, all of it or a part.

    Attributes:
        name: the job.
        pod_gpus: GPUs of each of its pods that waits.
        created_seconds: Unix time at which it was asked for.
    """

    name: str
    pod_gpus: tuple[float, ...]
    created_seconds: int

    @property
    def gpus(self) -> float:
        """GPUs that it waits for."""
        return sum(self.pod_gpus)


@dataclass(frozen=True, slots=True)
class NodePoolView:
    """One node pool's nodes.

    Attributes:
        name: the node pool.
        nodes: nodes that exist and are neither leaving nor overdue.
        ordered_nodes: nodes asked for that do not exist yet.
        idle_nodes: names of the nodes that carry no job and are not protected, newest first.
        busy_nodes: nodes that carry a job.
        used_gpus: GPUs of the jobs on its nodes.
        overdue_nodes: nodes that exist and have not become capacity in time. Nobody counts on
            them, but an absolute number asked of a node pool has to hold them as well.
        provider_ids: by name of an idle node, the cloud's name of its machine, where known.
        going_nodes: names of the nodes that were asked to go, are idle and still there; they count
            as nothing else.
    """

    name: str
    nodes: int
    ordered_nodes: int = 0
    idle_nodes: tuple[str, ...] = ()
    busy_nodes: int = 0
    used_gpus: float = 0.0
    overdue_nodes: int = 0
    provider_ids: Mapping[str, str] = field(default_factory=dict)
    going_nodes: tuple[str, ...] = ()

    @property
    def current_nodes(self) -> int:
        """Nodes there are or that are on their way, each counted once."""
        return self.nodes + self.ordered_nodes


@dataclass(frozen=True, slots=True)
class PoolView:
    """One pool at one moment.

    Attributes:
        pool: its name.
        node_gpus: GPUs of one of its nodes.
        node_pools: who serves it, in the policy's order.
        capacity_nodes: nodes that are ready, schedulable or not, and warmed up.
        arriving_nodes: nodes that exist or are asked for, and are not capacity yet.
        unready_nodes: nodes that were capacity and are not ready now.
        capacity_gpus: allocatable GPUs of ready, schedulable nodes.
        used_gpus: GPUs of its running jobs.
        free_gpus: GPUs left on each ready, schedulable node, shape (nodes,).
        busy_nodes: nodes that carry a job.
        waiting: jobs that a new node would serve, oldest first.
        not_servable: how many pods wait for something that no new node gives, by what.
        newest_submission_seconds: creation time of its newest job; None where it has none.
        fill_share: share of its nodes that its jobs fill when packed well, 0 to 1; 1 for
            whole-node pools.
        doubtful: why it cannot be trusted, a line each; empty where all is known.
    """

    pool: str
    node_gpus: int
    node_pools: tuple[NodePoolView, ...]
    capacity_nodes: int
    arriving_nodes: int
    unready_nodes: int
    capacity_gpus: float
    used_gpus: float
    free_gpus: tuple[float, ...] = ()
    busy_nodes: int = 0
    waiting: tuple[WaitingJob, ...] = ()
    not_servable: Mapping[Waiting, int] = field(default_factory=dict)
    newest_submission_seconds: int | None = None
    fill_share: float = 1.0
    doubtful: tuple[str, ...] = ()

    @property
    def current_nodes(self) -> int:
        """Nodes there are or that are on their way, each counted once."""
        return self.capacity_nodes + self.unready_nodes + self.arriving_nodes

    @property
    def coming_gpus(self) -> float:
        """Capacity once every node on its way has come."""
        return self.capacity_gpus + self.arriving_nodes * self.node_gpus

    @property
    def waiting_gpus(self) -> float:
        """GPUs of the jobs that wait for room."""
        return sum(job.gpus for job in self.waiting)

    @property
    def demand_gpus(self) -> float:
        """GPUs requested by running and waiting jobs."""
        return self.used_gpus + self.waiting_gpus
