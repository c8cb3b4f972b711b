"""What became of the nodes that were asked for, and which node pool is asked next.

A node pool that does not deliver is left alone for a while, and the next in order takes over. A
node is counted once: ordered until it exists, arriving until it is capacity or has failed. Time in
which the cluster was not seen counts for nobody's failure. Only nodes that have long been idle are
ever named as removable. No model and no feature is imported.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from actuator.backoff import NOTHING_ENDED, Ended, by_preference, judged, trusted_nodes
from actuator.memory import Launch, Lowered, Memory, NodePoolMemory, PoolMemory
from actuator.plan import NodePoolTarget
from actuator.policy import LaunchPolicy, NodePoolPolicy, Policy, PoolPolicy
from actuator.state import ClusterState, Node, NodePhase
from actuator.timers import long_idle_nodes, went_on
from actuator.view import NodePoolView, PoolView

NOTHING_REPORTED: Mapping[str, int] = {}

_ON_THEIR_WAY = frozenset({NodePhase.ARRIVING, NodePhase.UNREADY})


def followed(
    memory: Memory,
    state: ClusterState,
    policy: Policy,
    now_seconds: int,
    reported_failures: Mapping[str, int] = NOTHING_REPORTED,
) -> Memory:
    """The memory with every launch followed up to now.

    A node that is new since the last look belongs to the oldest launch that waits for one. It comes
    when it is capacity; it fails when it goes before that, or when the launch's time is over.

    Args:
        memory: what the cycle before left.
        state: the cluster now; one that is not synced changes nothing.
        policy: which node pools there are, and how long a launch may take.
        now_seconds: Unix time.
        reported_failures: nodes that the cluster newly says it cannot give, by node pool.
    """
    if not state.synced:
        return memory
    nodes: defaultdict[str, dict[str, Node]] = defaultdict(dict)
    for node in state.nodes:
        nodes[node.node_pool][node.name] = node
    node_pools = {}
    for node_pool in (one for pool in policy.pools for one in pool.node_pools):
        before = memory.node_pools.get(node_pool.name, NodePoolMemory())
        if not went_on(before.seen_seconds, now_seconds, policy.guards):
            before = _moved_on(before, now_seconds)
        there = nodes[node_pool.name]
        launches, ended = before.launches, NOTHING_ENDED
        reported_nodes = reported_failures.get(node_pool.name, 0)
        if launches or reported_nodes:
            joined = _joined(before, there)
            launches, ended = _settled(joined, there, policy.launches, now_seconds)
            launches, lost = _without_reported(launches, reported_nodes, now_seconds)
            ended = Ended(ended.came, (*ended.failed, *lost))
        node_pools[node_pool.name] = replace(
            judged(before, ended, node_pool, policy.launches, now_seconds),
            seen_seconds=now_seconds,
            seen_nodes=tuple(sorted(there)),
            launches=launches,
        )
    return replace(memory, node_pools=node_pools)


def node_pool_targets(
    desired_nodes: int,
    pool: PoolPolicy,
    view: PoolView,
    memory: Memory,
    policy: Policy,
    *,
    now_seconds: int,
) -> tuple[NodePoolTarget, ...]:
    """What each of a pool's node pools is to have, in the policy's order.

    What is there stays. Additions go to the first node pool that is not in backoff and has room,
    the rest to the next; one that failed last is tried with a single node until it delivers.
    Removals come from the last first, and only from nodes that have long been idle. What finds no
    room, or no such node, is left out.

    Args:
        desired_nodes: nodes that the pool is to have.
        pool: its node pools, in order of preference.
        view: the pool now.
        memory: backoffs, and since when nodes have been idle.
        policy: how long a node must have been idle.
        now_seconds: Unix time.
    """
    views = {one.name: one for one in view.node_pools}
    there = {one.name: views.get(one.name) or NodePoolView(one.name, 0) for one in pool.node_pools}
    more_nodes = desired_nodes - view.current_nodes
    added: Mapping[str, int] = {}
    removed: Mapping[str, tuple[str, ...]] = {}
    if more_nodes > 0:
        added = _added(more_nodes, pool.node_pools, there, memory.node_pools, now_seconds)
    elif more_nodes < 0:
        pool_memory = memory.pools.get(pool.pool, PoolMemory())
        idle = {
            name: long_idle_nodes(one, pool_memory, policy.guards, now_seconds)
            for name, one in there.items()
        }
        removed = _removed(-more_nodes, pool.node_pools, idle)
    return tuple(
        NodePoolTarget(
            name,
            current_nodes=one.current_nodes,
            desired_nodes=one.current_nodes + added.get(name, 0) - len(removed.get(name, ())),
            removable_nodes=removed.get(name, ()),
        )
        for name, one in there.items()
    )


def ordered(
    memory: Memory, pool: str, targets: Iterable[NodePoolTarget], now_seconds: int
) -> Memory:
    """The memory once a pool's node pools were asked for their targets.

    Args:
        memory: what is remembered so far.
        pool: the pool's name.
        targets: what its node pools were asked to have.
        now_seconds: Unix time.
    """
    changed = [one for one in targets if one.desired_nodes != one.current_nodes]
    if not changed:
        return memory
    pool_memory = memory.pools.get(pool, PoolMemory())
    node_pools = dict(memory.node_pools)
    for target in changed:
        before = node_pools.get(target.node_pool, NodePoolMemory())
        if target.desired_nodes > target.current_nodes:
            node_pools[target.node_pool] = _raised(before, target, now_seconds)
            pool_memory = replace(pool_memory, scaled_up_seconds=now_seconds)
        else:
            lowered = Lowered(now_seconds, target.desired_nodes)
            node_pools[target.node_pool] = replace(before, lowered=lowered)
            pool_memory = replace(pool_memory, scaled_down_seconds=now_seconds)
    return replace(memory, pools={**memory.pools, pool: pool_memory}, node_pools=node_pools)


def _raised(before: NodePoolMemory, target: NodePoolTarget, now_seconds: int) -> NodePoolMemory:
    """The memory of a node pool that was asked for more nodes.

    Nodes that were to go and are still there are kept; only what is beyond them has to come.
    """
    coming_nodes, lowered = target.desired_nodes - target.current_nodes, before.lowered
    if lowered is not None:
        lowered = replace(lowered, nodes=target.desired_nodes)
        coming_nodes = min(coming_nodes, target.desired_nodes - len(before.seen_nodes))
    if coming_nodes <= 0:
        return replace(before, lowered=lowered)
    launches = (*before.launches, Launch(now_seconds, coming_nodes))
    return replace(before, launches=launches, lowered=lowered)


def _added(
    more_nodes: int,
    node_pools: Sequence[NodePoolPolicy],
    there: Mapping[str, NodePoolView],
    memory: Mapping[str, NodePoolMemory],
    now_seconds: int,
) -> dict[str, int]:
    """How many nodes each node pool gets, one filled after another.

    First none is asked for more than it is trusted with; what is left then goes wherever there is
    room at all.
    """
    preferred = by_preference(node_pools, memory, now_seconds)
    room = {
        one.name: more_nodes
        if one.most_nodes is None
        else one.most_nodes - there[one.name].current_nodes - there[one.name].overdue_nodes
        for one in preferred
    }
    trusted = {
        name: trusted_nodes(nodes, memory.get(name, NodePoolMemory()), now_seconds)
        for name, nodes in room.items()
    }
    added = dict.fromkeys(room, 0)
    for name, most_nodes in (*trusted.items(), *room.items()):
        nodes = min(more_nodes, max(0, most_nodes - added[name]))
        added[name] += nodes
        more_nodes -= nodes
    return added


def _removed(
    fewer_nodes: int, node_pools: Sequence[NodePoolPolicy], idle: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Which nodes each node pool gives back, the last preference first."""
    removed = {}
    for one in reversed(node_pools):
        removed[one.name] = idle[one.name][:fewer_nodes]
        fewer_nodes -= len(removed[one.name])
    return removed


def _moved_on(memory: NodePoolMemory, now_seconds: int) -> NodePoolMemory:
    """As if the time that nobody watched had not been; a clock that went back is followed."""
    if memory.seen_seconds is None:
        return memory
    by_seconds = now_seconds - memory.seen_seconds

    def moved(at_seconds: int | None) -> int | None:
        return None if at_seconds is None else at_seconds + by_seconds

    return replace(
        memory,
        launches=tuple(
            replace(one, at_seconds=min(one.at_seconds + by_seconds, now_seconds))
            for one in memory.launches
        ),
        outcomes=tuple(
            replace(one, at_seconds=one.at_seconds + by_seconds) for one in memory.outcomes
        ),
        failed_seconds=moved(memory.failed_seconds),
        backoff_until_seconds=moved(memory.backoff_until_seconds),
    )


def _joined(memory: NodePoolMemory, nodes: Mapping[str, Node]) -> tuple[Launch, ...]:
    """The launches, with the nodes that are new since the last look among those arriving."""
    if not memory.launches:
        return ()
    names = sorted(
        nodes.keys() - set(memory.seen_nodes),
        key=lambda name: (nodes[name].created_seconds, name),
    )
    launches = []
    for launch in memory.launches:
        here, names = names[: launch.ordered_nodes], names[launch.ordered_nodes :]
        launches.append(replace(launch, arriving=(*launch.arriving, *here)))
    return tuple(launches)


def _settled(
    launches: Iterable[Launch], nodes: Mapping[str, Node], policy: LaunchPolicy, now_seconds: int
) -> tuple[tuple[Launch, ...], Ended]:
    """What is still open, and how many came, are gone or are too late."""
    still_open: list[Launch] = []
    came, failed = 0, list[int]()
    for launch in launches:
        phases = {name: nodes[name].phase for name in launch.arriving if name in nodes}
        come = sum(phase is NodePhase.CAPACITY for phase in phases.values())
        arriving = tuple(name for name, phase in phases.items() if phase in _ON_THEIR_WAY)
        left = launch.ordered_nodes + len(arriving)
        if now_seconds - launch.at_seconds >= policy.timeout_seconds:
            left = 0
        if left:
            still_open.append(replace(launch, nodes=left, arriving=arriving))
        came += come
        failed += [launch.at_seconds] * (launch.nodes - come - left)
    return tuple(still_open), Ended(came, tuple(failed))


def _without_reported(
    launches: Iterable[Launch], reported_nodes: int, now_seconds: int
) -> tuple[tuple[Launch, ...], tuple[int, ...]]:
    """The launches without the oldest nodes reported as failed, and when those were asked for.

    Only nodes that do not exist yet can be meant. A report beyond them is of nodes that somebody
    else asked for, and says as much of now.
    """
    still_open: list[Launch] = []
    failed: list[int] = []
    for launch in launches:
        lost = min(reported_nodes - len(failed), launch.ordered_nodes)
        failed += [launch.at_seconds] * lost
        if launch.nodes > lost:
            still_open.append(replace(launch, nodes=launch.nodes - lost))
    failed += [now_seconds] * (reported_nodes - len(failed))
    return tuple(still_open), tuple(failed)
