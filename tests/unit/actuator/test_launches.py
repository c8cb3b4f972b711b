"""What was asked for is counted once, until it has come or failed."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actuator.launches import followed, ordered
from actuator.memory import Launch, LaunchOutcome, Lowered, Memory, NodePoolMemory
from actuator.plan import NodePoolTarget
from actuator.policy import Policy, PoolPolicy
from actuator.state import CapacityType, ClusterState, Node, NodePhase
from tests.fakes.situations import NODE_POOLS, NOW

POLICY = Policy(version=1, pools=(PoolPolicy("a100/whole-node", 8, NODE_POOLS),))
ASKED = NOW - 60
CAME, FAILED = LaunchOutcome(NOW, succeeded=True), LaunchOutcome(NOW, succeeded=False)


def node(name: str, phase: NodePhase = NodePhase.CAPACITY, created: int = NOW - 30) -> Node:
    """A node of the second node pool."""
    return Node(
        name,
        "demand-b",
        "zone-1",
        CapacityType.ON_DEMAND,
        created,
        gpus=0.0 if phase is NodePhase.ARRIVING else 8.0,
        ready=phase is not NodePhase.UNREADY,
        leaving=phase is NodePhase.LEAVING,
    )


def asked(nodes: int, at: int = ASKED, seen_nodes: Sequence[str] = ("old",)) -> Memory:
    """A memory of nodes that were asked for just after a look."""
    there = NodePoolMemory(seen_seconds=at, seen_nodes=tuple(seen_nodes))
    target = NodePoolTarget("demand-b", len(seen_nodes), len(seen_nodes) + nodes)
    memory = Memory(cycle_seconds=at, node_pools={"demand-b": there})
    return ordered(memory, "a100/whole-node", [target], at)


def look(
    memory: Memory,
    *nodes: Node,
    at: int = NOW,
    reported: Mapping[str, int] | None = None,
    synced: bool = True,
) -> Memory:
    """The memory after a look at these nodes, and an old one."""
    there = (node("old", created=0), *nodes)
    return followed(memory, ClusterState(at, there, (), synced), POLICY, at, reported or {})


def found(memory: Memory) -> NodePoolMemory:
    """What is remembered of the second node pool."""
    return memory.node_pools["demand-b"]


def test_what_was_asked_for_is_remembered() -> None:
    """By node pool, with the time at which nodes were last asked for."""
    memory = asked(3)
    assert (Launch(ASKED, 3),) == found(memory).launches
    assert ASKED == memory.pools["a100/whole-node"].scaled_up_seconds


def test_what_is_given_back_is_remembered_until_it_is_gone() -> None:
    """And a target that changes nothing leaves nothing."""
    less = ordered(Memory(), "pool", [NodePoolTarget("demand-b", 3, 1, ("a", "b"))], NOW)
    assert (NOW, None, {"demand-b": NodePoolMemory(lowered=Lowered(NOW, 1))}) == (
        less.pools["pool"].scaled_down_seconds,
        less.pools["pool"].scaled_up_seconds,
        less.node_pools,
    )
    assert Memory() == ordered(Memory(), "pool", [NodePoolTarget("demand-b", 3, 3)], NOW)


def test_a_node_is_ordered_then_arriving_then_capacity() -> None:
    """Each of three nodes is counted once at every look."""
    memory = look(asked(3), node("a", NodePhase.ARRIVING), node("b", NodePhase.UNREADY))
    assert (Launch(ASKED, 3, ("a", "b")),) == found(memory).launches
    assert 1 == found(memory).ordered_nodes
    memory = look(memory, node("a"), node("b", NodePhase.UNREADY), node("c"), at=NOW + 60)
    assert (Launch(ASKED, 1, ("b",)),) == found(memory).launches
    assert (0, 2) == (found(memory).ordered_nodes, len(found(memory).outcomes))
    memory = look(memory, node("a"), node("b"), node("c"), at=NOW + 120)
    assert ((), 3) == (found(memory).launches, len(found(memory).outcomes))


def test_nodes_that_were_there_before_are_nobody_s_launch() -> None:
    """Whatever their age says: the cluster's clock and ours may differ."""
    memory = asked(2, seen_nodes=("old", "known"))
    memory = look(memory, node("known", NodePhase.ARRIVING, created=NOW + 300))
    assert 2 == found(memory).ordered_nodes
    assert 1 == found(look(asked(2), node("new", created=ASKED - 300))).ordered_nodes


def test_more_nodes_than_asked_for_are_somebody_else_s() -> None:
    """Only as many as were asked for are followed."""
    memory = look(asked(1), node("a", created=NOW - 20), node("b", created=NOW - 40))
    assert ((), (CAME,)) == (found(memory).launches, found(memory).outcomes)


def test_the_oldest_launch_is_served_first() -> None:
    """The first node to be created belongs to the first that waits."""
    memory = look(asked(1, at=NOW - 120), at=NOW - 60)
    memory = ordered(memory, "a100/whole-node", [NodePoolTarget("demand-b", 2, 3)], NOW - 60)
    arriving = node("z", NodePhase.ARRIVING, NOW - 40), node("a", NodePhase.ARRIVING, NOW - 20)
    assert (Launch(NOW - 120, 1, ("z",)), Launch(NOW - 60, 1, ("a",))) == (
        found(look(memory, *arriving)).launches
    )


@pytest.mark.parametrize(("passed", "ordered_nodes", "failed"), [(899, 1, 0), (900, 0, 2)])
def test_what_is_not_capacity_in_time_has_failed(
    passed: int, ordered_nodes: int, failed: int
) -> None:
    """Whether it exists or not; what came in time has not."""
    memory = asked(3)
    for seconds in (300, 600, passed):
        came = node("a"), node("b", NodePhase.ARRIVING)
        memory = look(memory, *came, at=ASKED + seconds)
    assert ordered_nodes == found(memory).ordered_nodes
    assert failed == sum(not one.succeeded for one in found(memory).outcomes)
    assert (1 if failed else 0) == found(memory).failures


def test_a_node_that_comes_as_its_time_ends_has_come() -> None:
    """It is looked at before it is given up."""
    memory = asked(1)
    for seconds in (300, 600):
        memory = look(memory, node("a", NodePhase.ARRIVING), at=ASKED + seconds)
    memory = look(memory, node("a"), at=ASKED + 900)
    assert (0, ()) == (found(memory).failures, found(memory).launches)


@pytest.mark.parametrize("gone", [(), (node("a", NodePhase.LEAVING),)])
def test_a_node_that_goes_before_it_is_capacity_has_failed(gone: tuple[Node, ...]) -> None:
    """Spot taken back while it booted, or an autoscaler that gave it up."""
    memory = look(asked(2), node("a", NodePhase.ARRIVING))
    memory = look(memory, *gone, at=NOW + 60)
    assert (Launch(ASKED, 1),) == found(memory).launches
    assert (1, NOW + 360) == (found(memory).failures, found(memory).backoff_until_seconds)


def test_reported_failures_take_what_does_not_exist_yet() -> None:
    """The oldest first; a node that exists is not meant."""
    memory = look(asked(2, at=NOW - 120), node("a", NodePhase.ARRIVING), at=NOW - 60)
    memory = ordered(memory, "a100/whole-node", [NodePoolTarget("demand-b", 3, 5)], NOW - 60)
    memory = look(memory, node("a", NodePhase.ARRIVING), reported={"demand-b": 2})
    assert (Launch(NOW - 120, 1, ("a",)), Launch(NOW - 60, 1)) == found(memory).launches
    assert (FAILED, FAILED) == found(memory).outcomes
    assert (1, NOW + 300) == (found(memory).failures, found(memory).backoff_until_seconds)


def test_a_report_of_somebody_else_s_nodes_warns_as_well() -> None:
    """The node pool is left alone although we asked it for nothing."""
    memory = look(Memory(), reported={"demand-b": 1})
    assert NOW + 300 == found(memory).backoff_until_seconds


def test_a_cluster_out_of_view_changes_nothing() -> None:
    """Nothing has come or failed while nobody looks."""
    memory = asked(2)
    assert memory == look(memory, at=ASKED + 5000, synced=False)


def test_time_that_nobody_watched_makes_no_launch_fail() -> None:
    """Fifteen minutes without the Kubernetes API: what was due before is due after."""
    memory = look(asked(2))
    memory = look(memory, at=NOW + 900)
    assert (Launch(ASKED + 900, 2),) == found(memory).launches
    memory = look(memory, at=NOW + 960)
    assert () == found(memory).outcomes


def test_a_clock_that_went_back_is_followed() -> None:
    """Launches and backoff last as long as they would have, and no longer."""
    there = NodePoolMemory(
        seen_seconds=NOW + 3600,
        seen_nodes=("old",),
        launches=(Launch(NOW + 3540, 1),),
        outcomes=(replace(CAME, at_seconds=NOW + 3500),),
        failures=1,
        failed_seconds=NOW + 3400,
        backoff_until_seconds=NOW + 3700,
    )
    memory = found(look(Memory(node_pools={"demand-b": there})))
    assert (Launch(NOW - 60, 1),) == memory.launches
    assert (NOW - 200, NOW + 100) == (memory.failed_seconds, memory.backoff_until_seconds)
    assert (replace(CAME, at_seconds=NOW - 100),) == memory.outcomes


def test_what_was_asked_for_in_a_pause_does_not_lie_ahead() -> None:
    """An announced floor raises a pool while the cluster is out of view."""
    memory = asked(1, at=NOW - 1000)
    memory = ordered(memory, "a100/whole-node", [NodePoolTarget("demand-b", 2, 3)], NOW - 100)
    assert (Launch(NOW, 1), Launch(NOW, 1)) == found(look(memory)).launches


def test_node_pools_that_left_the_policy_are_forgotten() -> None:
    """Those of the policy are all remembered."""
    memory = look(Memory(node_pools={"gone": NodePoolMemory(failures=3)}))
    assert {"spot-a", "demand-b"} == set(memory.node_pools)


PHASES = st.sampled_from(list(NodePhase))


@given(
    looks=st.lists(
        st.tuples(
            st.integers(0, 3),
            st.dictionaries(st.sampled_from("abcdefgh"), PHASES, max_size=8),
            st.integers(0, 2),
            st.integers(30, 400),
        ),
        max_size=8,
    )
)
def test_no_node_that_was_asked_for_is_lost_or_counted_twice(
    looks: list[tuple[int, dict[str, NodePhase], int, int]],
) -> None:
    """Through any history: each is open, has come or has failed; open ones are on their way."""
    policy = replace(POLICY, launches=replace(POLICY.launches, spot_window_seconds=10**6))
    memory, now, asked_for, beyond = Memory(), NOW, 0, 0
    for more, phases, reported, seconds in looks:
        waiting = found(memory).ordered_nodes if memory.node_pools else 0
        now += seconds
        there = tuple(node(name, phase) for name, phase in phases.items())
        beyond += reported
        state = ClusterState(now, there, (), synced=True)
        memory = followed(memory, state, policy, now, {"demand-b": reported})
        after = found(memory)
        arriving = [name for launch in after.launches for name in launch.arriving]
        assert len(arriving) == len(set(arriving))
        on_their_way = {NodePhase.ARRIVING, NodePhase.UNREADY}
        assert on_their_way >= {phases[name] for name in arriving}
        assert 0 <= after.ordered_nodes <= waiting
        assert all(launch.nodes > 0 for launch in after.launches)
        still_open = sum(launch.nodes for launch in after.launches)
        assert asked_for <= still_open + len(after.outcomes) <= asked_for + beyond
        memory = ordered(memory, "pool", [NodePoolTarget("demand-b", 0, more)], now)
        asked_for += more
