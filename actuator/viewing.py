"""From the state of the cluster to one view per pool: which nodes and jobs are whose.

Nodes and the pods on them belong to the pool whose node pool they are of; waiting pods belong by
GPU type and shape. What is not known never reads as idle or free: it makes a view doubtful, or
keeps a node out of the idle ones. Nothing is decided here. No model and no feature is imported.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from actuator.memory import Lowered, Memory, NodePoolMemory
from actuator.packing import TOLERANCE_GPUS, fill_share
from actuator.policy import Policy, PoolPolicy, Shape
from actuator.state import ClusterState, Node, NodePhase, Pod, Waiting
from actuator.view import NodePoolView, PoolView, WaitingJob


def pool_views(
    state: ClusterState, policy: Policy, memory: Memory, now_seconds: int
) -> dict[str, PoolView]:
    """Each of the policy's pools as deciding sees it, by the pool's name.

    Args:
        state: the cluster at one moment.
        policy: which node pools serve which pool, and when a node is idle or overdue.
        memory: what has been asked for, followed up to this state.
        now_seconds: Unix time of the cycle.
    """
    tallies = {pool.pool: _Tally(pool) for pool in policy.pools}
    by_node_pool = {one.name: tally for tally in tallies.values() for one in tally.pool.node_pools}
    on_nodes, queue = _placed_and_waiting(state.pods)
    for node in state.nodes:
        tally = by_node_pool.get(node.node_pool)
        if tally is not None:
            tally.add_node(node, on_nodes.get(node.name, ()), policy, now_seconds)
    _hand_out(queue, list(tallies.values()))
    doubtful = _doubts(state, policy, now_seconds)
    for tally in tallies.values():
        tally.leave_out_going(memory, policy, now_seconds)
    return {name: tally.view(memory, doubtful) for name, tally in tallies.items()}


@dataclass(slots=True)
class _NodePoolTally:
    """What has been seen of one node pool so far."""

    nodes: int = 0
    idle: list[Node] = field(default_factory=list)
    going: list[Node] = field(default_factory=list)
    busy_nodes: int = 0
    used_gpus: float = 0.0
    overdue_nodes: int = 0

    def take_going(self, lowered: Lowered) -> list[Node]:
        """Take out the idle nodes beyond what the node pool was left with: they are to go."""
        self.idle.sort(key=lambda node: (node.created_seconds, node.name), reverse=True)
        excess = min(max(0, self.nodes - lowered.nodes), len(self.idle))
        self.going, self.idle = self.idle[:excess], self.idle[excess:]
        self.nodes -= excess
        return self.going

    def view(self, name: str, memory: NodePoolMemory | None) -> NodePoolView:
        newest_first = sorted(
            self.idle, key=lambda node: (node.created_seconds, node.name), reverse=True
        )
        launches = () if memory is None else memory.launches
        return NodePoolView(
            name,
            nodes=self.nodes,
            ordered_nodes=sum(launch.ordered_nodes for launch in launches),
            idle_nodes=tuple(node.name for node in newest_first),
            busy_nodes=self.busy_nodes,
            used_gpus=self.used_gpus,
            overdue_nodes=self.overdue_nodes,
            provider_ids={node.name: node.provider_id for node in self.idle if node.provider_id},
            going_nodes=tuple(node.name for node in self.going),
        )


class _Tally:
    """What has been seen of one pool so far."""

    def __init__(self, pool: PoolPolicy) -> None:
        self.pool = pool
        self.node_pools = {one.name: _NodePoolTally() for one in pool.node_pools}
        self.phases: Counter[NodePhase] = Counter()
        self.capacity_gpus = 0.0
        self.free_gpus: list[float] = []
        self.requests_gpus: list[float] = []
        self.waiting: list[WaitingJob] = []
        self.not_servable: Counter[Waiting] = Counter()
        self.submitted_seconds: list[int] = []

    def add_node(self, node: Node, jobs: Sequence[Pod], policy: Policy, now_seconds: int) -> None:
        """Take in a node and the pods of jobs on it."""
        of_node_pool = self.node_pools[node.node_pool]
        requests_gpus = [pod.gpus for pod in jobs]
        used_gpus = sum(requests_gpus)
        if jobs:
            self._add_running(jobs, requests_gpus)
            of_node_pool.busy_nodes += 1
            of_node_pool.used_gpus += used_gpus
        phase = node.phase
        if phase is NodePhase.LEAVING:
            return
        if phase is NodePhase.ARRIVING:
            overdue = now_seconds - node.created_seconds >= policy.launches.timeout_seconds
            if overdue and not jobs:
                of_node_pool.overdue_nodes += 1
                return
            if overdue:  # it was capacity once: a node whose GPUs are gone
                phase = NodePhase.UNREADY
        of_node_pool.nodes += 1
        self.phases[phase] += 1
        if phase is not NodePhase.CAPACITY:
            return
        if node.schedulable:
            self.capacity_gpus += node.gpus
            self.free_gpus.append(max(0.0, node.gpus - used_gpus))
        if not jobs and _may_be_idle(node, policy, now_seconds):
            of_node_pool.idle.append(node)

    def _add_running(self, jobs: Iterable[Pod], requests_gpus: Iterable[float]) -> None:
        self.requests_gpus.extend(requests_gpus)
        for pod in jobs:
            self.submitted_seconds.append(pod.created_seconds)
            if pod.waiting is not None:
                self.not_servable[pod.waiting] += 1

    def add_waiting(self, job: str, pods: Sequence[Pod]) -> None:
        """Take in the waiting pods of a job; a gang is held by whatever holds one of its pods."""
        self.submitted_seconds.extend(pod.created_seconds for pod in pods)
        hindrances = [_hindrance(pod, self.pool.node_gpus) for pod in pods]
        if pods[0].job_pods > 1 and any(hindrances):
            whole = next(why for why in hindrances if why is not None)
            hindrances = [why or whole for why in hindrances]
        self.not_servable.update(why for why in hindrances if why is not None)
        servable = [pod for pod, why in zip(pods, hindrances, strict=True) if why is None]
        if servable:
            sizes = tuple(pod.gpus for pod in servable)
            self.requests_gpus.extend(sizes)
            self.waiting.append(
                WaitingJob(job, sizes, min(pod.created_seconds for pod in servable))
            )

    def leave_out_going(self, memory: Memory, policy: Policy, now_seconds: int) -> None:
        """Leave out the nodes that were asked to go lately, as if they were gone.

        Otherwise a node pool whose nodes go slowly would be asked to keep them. Nodes that are
        still there after a while have not been let go, and count again.
        """
        for name, of_node_pool in self.node_pools.items():
            remembered = memory.node_pools.get(name)
            lowered = None if remembered is None else remembered.lowered
            if (
                lowered is None
                or now_seconds - lowered.at_seconds >= policy.guards.cooldown_seconds
            ):
                continue
            for node in of_node_pool.take_going(lowered):
                self.phases[NodePhase.CAPACITY] -= 1
                if node.schedulable:
                    self.capacity_gpus -= node.gpus
                    self.free_gpus.remove(node.gpus)

    def view(self, memory: Memory, doubtful: tuple[str, ...]) -> PoolView:
        """The pool as it was seen."""
        pool = self.pool
        node_pools = tuple(
            of_node_pool.view(name, memory.node_pools.get(name))
            for name, of_node_pool in self.node_pools.items()
        )
        ordered_nodes = sum(one.ordered_nodes for one in node_pools)
        whole = pool.shape == "whole-node"
        return PoolView(
            pool=pool.pool,
            node_gpus=pool.node_gpus,
            node_pools=node_pools,
            capacity_nodes=self.phases[NodePhase.CAPACITY],
            arriving_nodes=self.phases[NodePhase.ARRIVING] + ordered_nodes,
            unready_nodes=self.phases[NodePhase.UNREADY],
            capacity_gpus=self.capacity_gpus,
            used_gpus=sum(one.used_gpus for one in node_pools),
            free_gpus=tuple(self.free_gpus),
            busy_nodes=sum(one.busy_nodes for one in node_pools),
            waiting=tuple(sorted(self.waiting, key=lambda job: (job.created_seconds, job.name))),
            not_servable=dict(self.not_servable),
            newest_submission_seconds=max(self.submitted_seconds, default=None),
            fill_share=1.0 if whole else fill_share(self.requests_gpus, pool.node_gpus),
            doubtful=doubtful,
        )


def _placed_and_waiting(
    pods: Iterable[Pod],
) -> tuple[Mapping[str, list[Pod]], Mapping[str, list[Pod]]]:
    """Pods of jobs by the node they are on, and those on none by their job."""
    on_nodes: defaultdict[str, list[Pod]] = defaultdict(list)
    queue: defaultdict[str, list[Pod]] = defaultdict(list)
    for pod in pods:
        if pod.placeholder:
            continue
        if pod.node is None:
            queue[pod.job].append(pod)
        else:
            on_nodes[pod.node].append(pod)
    return on_nodes, queue


def _hand_out(queue: Mapping[str, list[Pod]], tallies: Sequence[_Tally]) -> None:
    """Give each waiting job to the pool that serves its GPU type and shape; else to none.

    Jobs that name no GPU type go to the one with most nodes, as in the demand series.
    """
    by_kind = {(tally.pool.gpu_type, tally.pool.shape): tally for tally in tallies}
    nodes_by_type: Counter[str] = Counter()
    for (gpu_type, _), tally in by_kind.items():
        nodes_by_type[gpu_type] += tally.phases.total()
    commonest_type = max(nodes_by_type, key=nodes_by_type.__getitem__, default="")
    for job, pods in queue.items():
        gpu_type = next((pod.gpu_type for pod in pods if pod.gpu_type), commonest_type)
        serving = _serving(by_kind, gpu_type, max(pod.gpus for pod in pods))
        if serving is not None:
            serving.add_waiting(job, pods)


def _serving(
    by_kind: Mapping[tuple[str, Shape], _Tally], gpu_type: str, largest_gpus: float
) -> _Tally | None:
    """The pool of a GPU type that serves jobs with pods of this size."""
    whole = by_kind.get((gpu_type, "whole-node"))
    fragment = by_kind.get((gpu_type, "fragment"))
    mixed = by_kind.get((gpu_type, "mixed"))
    sized_by = whole or fragment or mixed
    if sized_by is None:
        return None
    takes_nodes = largest_gpus >= sized_by.pool.node_gpus - TOLERANCE_GPUS
    return (whole if takes_nodes else fragment) or mixed


def _hindrance(pod: Pod, node_gpus: int) -> Waiting | None:
    """What a new node would not change for a waiting pod; None if it would run there."""
    if pod.waiting is not None and pod.waiting is not Waiting.FOR_ROOM:
        return pod.waiting
    if pod.gpus <= 0:
        return Waiting.NO_GPU
    return Waiting.NO_SUCH_NODE if pod.gpus > node_gpus + TOLERANCE_GPUS else None


def _may_be_idle(node: Node, policy: Policy, now_seconds: int) -> bool:
    """Whether a node without any job is seen to do nothing, and nobody protects it.

    A node without a job carries no part of an unfinished one either.
    """
    return _is_little_used(node, policy.guards.idle_utilisation) and not any(
        mark.holds(now_seconds) for mark in node.protections
    )


def _is_little_used(node: Node, limit: float | None) -> bool:
    """Whether its GPUs are known to be used less than the limit, where there is one."""
    if limit is None:
        return True
    return node.gpu_utilisation is not None and node.gpu_utilisation < limit


def _doubts(state: ClusterState, policy: Policy, now_seconds: int) -> tuple[str, ...]:
    """Why the state cannot be trusted, a line each."""
    doubts = list(state.problems)
    if not state.synced:
        doubts.insert(0, "the cluster is not wholly in view")
    age_seconds = now_seconds - state.taken_seconds
    if age_seconds > policy.guards.gap_seconds:
        doubts.append(f"the cluster was last seen {age_seconds} s ago")
    return tuple(doubts)
