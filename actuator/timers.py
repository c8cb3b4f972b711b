"""How long a pool has been quiet and its nodes idle, moved on from cycle to cycle.

Only time that was watched counts: after a pause and after a step back of the clock every timer
starts anew, and while a pool is in doubt nothing is quiet or idle, so that an outage never makes a
node look unneeded. A queue keeps its timers through a doubt, or one that comes and goes would keep
it from ever asking; moving them on is `reactive`'s. Nothing is decided here. No model and no
feature is imported.
"""

from collections.abc import Mapping
from dataclasses import replace

from actuator.memory import Memory, PoolMemory, QueueTimers
from actuator.policy import GuardPolicy, Policy
from actuator.view import NodePoolView, PoolView


def advanced(
    memory: Memory, views: Mapping[str, PoolView], policy: Policy, now_seconds: int
) -> Memory:
    """The memory with the timers of the policy's pools moved on to now.

    Args:
        memory: what the cycle before left.
        views: by pool; one that is missing or doubtful is not known.
        policy: which pools there are, and how long a pause may be.
        now_seconds: Unix time.
    """
    watched = went_on(memory.cycle_seconds, now_seconds, policy.guards)
    pools = {}
    for pool in policy.pools:
        before = memory.pools.get(pool.pool, PoolMemory())
        since = before if watched else _anew(before, now_seconds)
        view = views.get(pool.pool)
        if view is None or view.doubtful:
            pools[pool.pool] = _in_doubt(since)
        else:
            pools[pool.pool] = _advanced(since, view, now_seconds)
    return Memory(cycle_seconds=now_seconds, pools=pools, node_pools=memory.node_pools)


def went_on(before_seconds: int | None, now_seconds: int, guards: GuardPolicy) -> bool:
    """Whether the time since then was watched: neither a long pause nor a step back of the clock.

    Args:
        before_seconds: Unix time of the last look; None if there was none.
        now_seconds: Unix time.
        guards: how long a pause may be.
    """
    return before_seconds is not None and 0 <= now_seconds - before_seconds <= guards.gap_seconds


def long_idle_nodes(
    node_pool: NodePoolView, memory: PoolMemory, guards: GuardPolicy, now_seconds: int
) -> tuple[str, ...]:
    """Names of the nodes that are idle now and have been for long enough to go, in its order.

    Args:
        node_pool: which of its nodes are idle now.
        memory: since when.
        guards: how long is long enough.
        now_seconds: Unix time.
    """
    latest = now_seconds - guards.idle_seconds
    since = memory.idle_since_seconds
    return tuple(name for name in node_pool.idle_nodes if name in since and since[name] <= latest)


def _in_doubt(memory: PoolMemory) -> PoolMemory:
    """Nothing is known to be quiet or idle; whatever else is remembered stays."""
    return replace(memory, quiet_since_seconds=None, idle_since_seconds={})


def _anew(memory: PoolMemory, now_seconds: int) -> PoolMemory:
    """No timer runs; what was done stays known, but never lies ahead of a clock that went back."""
    return replace(
        _in_doubt(memory),
        queue=QueueTimers(),
        scaled_up_seconds=_past(memory.scaled_up_seconds, now_seconds),
        scaled_down_seconds=_past(memory.scaled_down_seconds, now_seconds),
    )


def _past(at_seconds: int | None, now_seconds: int) -> int | None:
    return None if at_seconds is None else min(at_seconds, now_seconds)


def _advanced(memory: PoolMemory, view: PoolView, now_seconds: int) -> PoolMemory:
    quiet_since = memory.quiet_since_seconds
    newest = memory.newest_submission_seconds
    submitted = view.newest_submission_seconds
    if submitted is not None and (newest is None or submitted > newest):
        newest, quiet_since = submitted, now_seconds
    return replace(
        memory,
        quiet_since_seconds=now_seconds if quiet_since is None else quiet_since,
        idle_since_seconds={
            name: memory.idle_since_seconds.get(name, now_seconds)
            for node_pool in view.node_pools
            for name in (*node_pool.idle_nodes, *node_pool.going_nodes)
        },
        newest_submission_seconds=newest,
    )
