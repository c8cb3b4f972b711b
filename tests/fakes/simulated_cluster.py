"""A small cluster in fast time: nodes take minutes to come, jobs come and go, spare nodes leave.

It is the world that cycles look at and ask: it gives what is asked for as the real back ends do,
and takes away whatever it is told may go, so that a test can see whom that would have hit.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random

from actuator.backends.back_end import Outcome, Request, Standing
from actuator.backends.lowering import left_to_somebody_else, lowering
from actuator.state import ClusterState, Node, Pod
from tests.fakes.clusters import cluster, node, pod

COMES_WITHIN_SECONDS = (180, 600)
GOES_WITHIN_SECONDS = (0, 300)
NODE_GPUS = 8.0


@dataclass
class Job:
    """Pods of one size that begin and end together.

    Attributes:
        name: what it is called.
        node_pools: where its pods may run.
        pod_gpus: GPUs of each pod.
        pods: how many.
        created_seconds: Unix time at which it was submitted.
        runs_seconds: how long it runs.
        nodes: where its pods run, one each; empty while it waits.
        ends_seconds: Unix time at which it ends, once it runs.
    """

    name: str
    node_pools: Sequence[str]
    pod_gpus: float
    pods: int
    created_seconds: int
    runs_seconds: int
    nodes: tuple[str, ...] = ()
    ends_seconds: int | None = None


@dataclass
class Machine:
    """One node and its way.

    Attributes:
        node: as it is once it is capacity.
        capacity_seconds: Unix time from which it advertises its GPUs.
        leaves_seconds: Unix time at which it leaves if it is empty then; None if it stays.
    """

    node: Node
    capacity_seconds: int
    leaves_seconds: int | None = None


@dataclass
class SimulatedCluster:
    """The cluster, its scheduler, its autoscaler, and the back end that asks it for nodes.

    Attributes:
        random: its seeded chance.
        now_seconds: Unix time up to which it has lived.
        name: what a policy calls it as a back end.
        machines: by the node's name.
        jobs: those that have not ended.
        came: how many nodes were made.
        went: how many nodes left.
        done: how many jobs have ended.
    """

    random: Random
    now_seconds: int
    name: str = "simulated"
    machines: dict[str, Machine] = field(default_factory=dict)
    jobs: list[Job] = field(default_factory=list)
    came: int = 0
    went: int = 0
    done: int = 0

    def advance(self, now_seconds: int, submitted: Sequence[Job] = ()) -> None:
        """Live until then: jobs end, empty nodes that were to go leave, jobs that wait begin."""
        self.now_seconds = now_seconds
        self.jobs += submitted
        left = [
            one for one in self.jobs if one.ends_seconds is None or one.ends_seconds > now_seconds
        ]
        self.done += len(self.jobs) - len(left)
        self.jobs = left
        for name, machine in list(self.machines.items()):
            if machine.leaves_seconds is not None and machine.leaves_seconds <= now_seconds:
                machine.leaves_seconds = None
                if not self._used_gpus(name):
                    del self.machines[name]
                    self.went += 1
        for job in self.jobs:
            if not job.nodes:
                self._place(job)

    def busy_nodes(self, node_pool: str) -> frozenset[str]:
        """Names of a node pool's nodes that carry a part of an unfinished job."""
        carrying = {name for job in self.jobs for name in job.nodes}
        return frozenset(
            name for name in carrying if self.machines[name].node.node_pool == node_pool
        )

    def state(self, now_seconds: int) -> ClusterState:
        """All that there is, as an API would tell it."""
        return cluster(
            [self._seen(one) for one in self.machines.values()],
            [one for job in self.jobs for one in self._pods(job)],
            now_seconds,
        )

    def apply(self, request: Request) -> Outcome:
        """Make what is missing; let go of what may go, which leaves when it is found empty."""
        here = {
            name: one
            for name, one in self.machines.items()
            if one.node.node_pool == request.node_pool.name
        }
        staying = [name for name, one in here.items() if one.leaves_seconds is None]
        if left_to_somebody_else(request, len(staying)):
            return Outcome(Standing.UNCHANGED, "left", len(staying))
        if request.desired_nodes < len(staying):
            for name in lowering(request.desired_nodes, staying, request.removable_nodes).going:
                soon = self.random.randint(*GOES_WITHIN_SECONDS)
                here[name].leaves_seconds = self.now_seconds + soon
            return Outcome(Standing.DONE, "lowered", request.desired_nodes)
        missing = request.desired_nodes - len(staying)
        kept = [one for one in here.values() if one.leaves_seconds is not None][:missing]
        for one in kept:
            one.leaves_seconds = None
        for _ in range(missing - len(kept)):
            self._make(request.node_pool.name)
        return Outcome(Standing.DONE, "asked", request.desired_nodes)

    def _make(self, node_pool: str) -> None:
        self.came += 1
        made = node(f"{node_pool}-{self.came}", node_pool, created_seconds=self.now_seconds)
        takes_seconds = self.random.randint(*COMES_WITHIN_SECONDS)
        self.machines[made.name] = Machine(made, self.now_seconds + takes_seconds)

    def _place(self, job: Job) -> None:
        """Begin a job if there is room for all of its pods."""
        rooms = {
            name: NODE_GPUS - self._used_gpus(name)
            for name, one in self.machines.items()
            if one.node.node_pool in job.node_pools and one.capacity_seconds <= self.now_seconds
        }
        places = []
        for _ in range(job.pods):
            name = next((name for name, room in rooms.items() if room >= job.pod_gpus), None)
            if name is None:
                return
            rooms[name] -= job.pod_gpus
            places.append(name)
        job.nodes, job.ends_seconds = tuple(places), self.now_seconds + job.runs_seconds

    def _used_gpus(self, name: str) -> float:
        return sum(job.pod_gpus * job.nodes.count(name) for job in self.jobs)

    def _seen(self, machine: Machine) -> Node:
        """The node now; whoever runs on it uses its GPUs little."""
        arrived = machine.capacity_seconds <= self.now_seconds
        return replace(machine.node, gpus=NODE_GPUS if arrived else 0.0)

    def _pods(self, job: Job) -> list[Pod]:
        return [
            pod(
                f"{job.name}-{number}",
                job.nodes[number] if job.nodes else None,
                job.pod_gpus,
                job=f"ml/{job.name}",
                job_pods=job.pods,
                created_seconds=job.created_seconds,
            )
            for number in range(job.pods)
        ]
