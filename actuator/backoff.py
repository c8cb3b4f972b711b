"""Which node pools deliver: one that does not is left alone for a while, and the next takes over.

It judges by what became of nodes that were asked for, and by nothing else. No model and no feature
is imported.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from actuator.memory import LaunchOutcome, NodePoolMemory
from actuator.policy import LaunchPolicy, NodePoolPolicy


@dataclass(frozen=True, slots=True)
class Ended:
    """How nodes that were asked for of one node pool have ended since the last look.

    Attributes:
        came: how many became capacity.
        failed: by node that failed, the Unix time at which it had been asked for.
    """

    came: int
    failed: tuple[int, ...]


NOTHING_ENDED = Ended(came=0, failed=())


def judged(
    memory: NodePoolMemory,
    ended: Ended,
    node_pool: NodePoolPolicy,
    policy: LaunchPolicy,
    now_seconds: int,
) -> NodePoolMemory:
    """A node pool's memory with its newest outcomes, failures in a row, and backoff.

    However many nodes fail at once is one failure in the row, and so is what was asked for before
    that failure was known: it lengthens the backoff, which doubles only when the node pool was
    tried again in vain.

    Args:
        memory: what is remembered of it.
        ended: how nodes that were asked for of it have ended since.
        node_pool: what it is.
        policy: how long a backoff is, and how much spot must deliver.
        now_seconds: Unix time.
    """
    if ended == NOTHING_ENDED:
        return memory
    window_from = now_seconds - policy.spot_window_seconds
    outcomes = (
        *(one for one in memory.outcomes if one.at_seconds > window_from),
        *[LaunchOutcome(now_seconds, succeeded=True)] * ended.came,
        *[LaunchOutcome(now_seconds, succeeded=False)] * len(ended.failed),
    )
    failures = 0 if ended.came else memory.failures
    after = replace(memory, outcomes=outcomes, failures=failures)
    if not ended.failed:
        return after
    known = memory.failed_seconds
    if not failures or known is None or max(ended.failed) >= known:
        failures, known = failures + 1, now_seconds
    after = replace(after, failures=failures, failed_seconds=known)
    backoff = min(policy.backoff_seconds * 2 ** (failures - 1), policy.longest_backoff_seconds)
    after = _left_alone(after, now_seconds + backoff)
    delivered = sum(one.succeeded for one in outcomes) / len(outcomes)
    if node_pool.capacity_type == "spot" and delivered < policy.spot_success_share:
        after = _left_alone(after, now_seconds + policy.spot_return_seconds)
    return after


def by_preference(
    node_pools: Sequence[NodePoolPolicy], memory: Mapping[str, NodePoolMemory], now_seconds: int
) -> list[NodePoolPolicy]:
    """Those not in backoff in their order, then the others, the one that returns first leading.

    Args:
        node_pools: in the policy's order.
        memory: by node pool name.
        now_seconds: Unix time.
    """

    def left_alone_seconds(node_pool: NodePoolPolicy) -> int:
        until = memory.get(node_pool.name, NodePoolMemory()).backoff_until_seconds
        return 0 if until is None else max(0, until - now_seconds)

    return sorted(node_pools, key=left_alone_seconds)


def trusted_nodes(nodes: int, memory: NodePoolMemory, now_seconds: int) -> int:
    """How many of so many nodes a node pool is trusted with.

    All, but none while it is in backoff, and a single one at a time after a failure until it
    delivers: a node pool out of stock then delays one node and not all (the half-open state of a
    circuit breaker; Nygard, 2007, 'Release It!').

    Args:
        nodes: how many it would be asked for.
        memory: what is remembered of it.
        now_seconds: Unix time.
    """
    until = memory.backoff_until_seconds
    if until is not None and now_seconds < until:
        return 0
    if memory.failures:
        return min(nodes, max(0, 1 - sum(launch.nodes for launch in memory.launches)))
    return nodes


def _left_alone(memory: NodePoolMemory, until_seconds: int) -> NodePoolMemory:
    """In backoff until then, or for longer where it already is."""
    before = memory.backoff_until_seconds
    longest = until_seconds if before is None else max(before, until_seconds)
    return replace(memory, backoff_until_seconds=longest)
