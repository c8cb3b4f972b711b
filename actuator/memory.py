"""What one cycle hands to the next: timers, orders and failures, and nothing else.

It is a value: a cycle reads one and returns another, and the store keeps it. After a pause, or
while the cluster was not in view, timers start anew: the time of an outage never counts as quiet
or idle. No model and no feature is imported.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class QueueTimers:
    """How far a queue has come towards asking for nodes.

    Attributes:
        above_since_seconds: since when it has been above the threshold; None while it is not.
        armed_since_seconds: since when it has been armed; None while it is not.
    """

    above_since_seconds: int | None = None
    armed_since_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class Launch:
    """Nodes asked of a node pool at one time, as far as it is open how they end.

    Attributes:
        at_seconds: Unix time at which they were asked for.
        nodes: how many of them are neither capacity nor failed.
        arriving: names of those among them that exist already.
    """

    at_seconds: int
    nodes: int
    arriving: tuple[str, ...] = ()

    @property
    def ordered_nodes(self) -> int:
        """Nodes of it that do not exist yet."""
        return self.nodes - len(self.arriving)


@dataclass(frozen=True, slots=True)
class LaunchOutcome:
    """How one launch of one node ended.

    Attributes:
        at_seconds: Unix time at which it was known.
        succeeded: the node became capacity in time.
    """

    at_seconds: int
    succeeded: bool


@dataclass(frozen=True, slots=True)
class Lowered:
    """Fewer nodes that a node pool was asked to have.

    Attributes:
        at_seconds: Unix time at which it was asked.
        nodes: how many it was left with.
    """

    at_seconds: int
    nodes: int


@dataclass(frozen=True, slots=True)
class NodePoolMemory:
    """What is remembered of a node pool.

    Attributes:
        seen_seconds: Unix time at which its nodes were last seen; None before the first time.
        seen_nodes: names of its nodes at that time.
        launches: what has been asked for and has neither come nor failed, oldest first.
        outcomes: how the latest launches ended, oldest first.
        failures: failures in a row; nodes that were asked for before a failure was known and fail
            as well are part of that failure.
        failed_seconds: Unix time at which the latest failure in the row was known.
        backoff_until_seconds: left alone until then; None if it is not.
        lowered: fewer nodes that it was last asked to have; None if it never was.
    """

    seen_seconds: int | None = None
    seen_nodes: tuple[str, ...] = ()
    launches: tuple[Launch, ...] = ()
    outcomes: tuple[LaunchOutcome, ...] = ()
    failures: int = 0
    failed_seconds: int | None = None
    backoff_until_seconds: int | None = None
    lowered: Lowered | None = None

    @property
    def ordered_nodes(self) -> int:
        """Nodes asked for that do not exist yet."""
        return sum(launch.ordered_nodes for launch in self.launches)


@dataclass(frozen=True, slots=True)
class PoolMemory:
    """What is remembered of a pool.

    Attributes:
        queue: how far its queue has come.
        quiet_since_seconds: since when nothing was submitted; None where that is not known.
        idle_since_seconds: by node name, since when it has been idle.
        scaled_up_seconds: when nodes were last asked for.
        scaled_down_seconds: when nodes were last given back.
        newest_submission_seconds: creation time of the newest pod seen.
    """

    queue: QueueTimers = QueueTimers()
    quiet_since_seconds: int | None = None
    idle_since_seconds: Mapping[str, int] = field(default_factory=dict)
    scaled_up_seconds: int | None = None
    scaled_down_seconds: int | None = None
    newest_submission_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """What one cycle hands to the next.

    Attributes:
        cycle_seconds: Unix time of the cycle that wrote it; None before the first.
        pools: by pool name.
        node_pools: by node pool name.
    """

    cycle_seconds: int | None = None
    pools: Mapping[str, PoolMemory] = field(default_factory=dict)
    node_pools: Mapping[str, NodePoolMemory] = field(default_factory=dict)
