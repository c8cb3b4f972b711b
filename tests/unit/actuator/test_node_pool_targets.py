"""A pool's nodes are shared out to its node pools, in order, as absolute numbers."""

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actuator.launches import node_pool_targets, ordered
from actuator.memory import Memory, NodePoolMemory, PoolMemory
from actuator.plan import NodePoolTarget
from actuator.policy import NodePoolPolicy, Policy, PoolPolicy
from actuator.view import NodePoolView, PoolView
from tests.fakes.situations import NOW, calm

LONG_AGO = NOW - 9000


@dataclass(frozen=True)
class Part:
    """A node pool: its limit, what it has, and how it fared."""

    nodes: int = 0
    ordered: int = 0
    most: int | None = None
    left_alone_seconds: int = 0
    long_idle: int = 0
    just_idle: int = 0
    overdue: int = 0
    failures: int = 0

    def named(self, kind: str, count: int, at: int) -> tuple[str, ...]:
        """Names of some of its nodes."""
        return tuple(f"{kind}-{at}-{number}" for number in range(count))


@dataclass(frozen=True)
class Shared:
    """A pool of such parts, to share its nodes out to."""

    pool: PoolPolicy
    view: PoolView
    memory: Memory

    def targets(self, desired: int) -> tuple[NodePoolTarget, ...]:
        """What its node pools are to have."""
        policy = Policy(version=1, pools=(self.pool,))
        return node_pool_targets(
            desired, self.pool, self.view, self.memory, policy, now_seconds=NOW
        )

    def desired(self, nodes: int) -> list[int]:
        """The same, as numbers."""
        return [one.desired_nodes for one in self.targets(nodes)]


def pool_of(*parts: Part) -> Shared:
    """A pool served by these node pools, in this order."""
    node_pools = tuple(
        NodePoolPolicy(f"node-pool-{at}", most_nodes=part.most) for at, part in enumerate(parts)
    )
    idle_since = {
        name: since
        for at, part in enumerate(parts)
        for kind, count, since in (
            ("long", part.long_idle, LONG_AGO),
            ("just", part.just_idle, NOW),
        )
        for name in part.named(kind, count, at)
    }
    views = tuple(
        NodePoolView(
            policy.name,
            part.nodes,
            part.ordered,
            part.named("just", part.just_idle, at) + part.named("long", part.long_idle, at),
            overdue_nodes=part.overdue,
        )
        for at, (policy, part) in enumerate(zip(node_pools, parts, strict=True))
    )
    view = replace(
        calm(sum(part.nodes for part in parts)).view,
        node_pools=views,
        arriving_nodes=sum(part.ordered for part in parts),
    )
    memory = Memory(
        pools={view.pool: PoolMemory(idle_since_seconds=idle_since)},
        node_pools={
            policy.name: NodePoolMemory(
                failures=part.failures, backoff_until_seconds=NOW + part.left_alone_seconds
            )
            for policy, part in zip(node_pools, parts, strict=True)
        },
    )
    return Shared(PoolPolicy(view.pool, 8, node_pools), view, memory)


def test_additions_go_to_the_first_that_has_room_and_the_rest_to_the_next() -> None:
    """What is there stays where it is, on its way or not."""
    shared = pool_of(Part(nodes=2, ordered=1, most=5), Part(nodes=4), Part())
    assert [4, 4, 0] == shared.desired(8)
    assert [5, 7, 0] == shared.desired(12)


def test_a_node_pool_in_backoff_is_passed_over() -> None:
    """The next one takes over."""
    assert [2, 3, 0] == pool_of(Part(nodes=2, left_alone_seconds=60), Part(), Part()).desired(5)


def test_a_node_pool_that_failed_last_is_tried_with_one_node() -> None:
    """The next serves the others; where it has no room the first has to."""
    assert [3, 4] == pool_of(Part(nodes=2, failures=1), Part()).desired(7)
    assert [6, 1] == pool_of(Part(nodes=2, failures=1), Part(most=1)).desired(7)


def test_where_all_are_in_backoff_the_first_to_return_is_asked() -> None:
    """Somebody has to be."""
    waits = (Part(left_alone_seconds=60), Part(left_alone_seconds=30), Part(left_alone_seconds=90))
    assert [0, 3, 0] == pool_of(*waits).desired(3)


def test_what_finds_no_room_elsewhere_goes_to_those_in_backoff() -> None:
    """A small chance is better than none."""
    assert [4, 1] == pool_of(Part(left_alone_seconds=60), Part(most=1)).desired(5)


def test_what_finds_no_room_anywhere_is_left_out() -> None:
    """A node pool that has more than it may keeps that."""
    assert [4, 3] == pool_of(Part(nodes=4, most=2), Part(most=3)).desired(20)


def test_a_node_that_is_overdue_takes_room() -> None:
    """It exists, although nobody counts on it."""
    assert [4, 1] == pool_of(Part(nodes=2, overdue=1, most=5), Part()).desired(5)


def test_removals_come_from_the_last_and_name_long_idle_nodes() -> None:
    """In the view's order; no more names than nodes that go."""
    shared = pool_of(Part(nodes=5, long_idle=2), Part(nodes=5, long_idle=2, just_idle=3))
    assert (
        NodePoolTarget("node-pool-0", 5, 4, ("long-0-0",)),
        NodePoolTarget("node-pool-1", 5, 3, ("long-1-0", "long-1-1")),
    ) == shared.targets(7)


def test_no_node_goes_that_cannot_be_named() -> None:
    """Whatever is desired."""
    assert [4] == pool_of(Part(nodes=5, long_idle=1, just_idle=2)).desired(0)


def test_what_is_held_is_held_even_where_counts_differ() -> None:
    """A node pool's count and the pool's may differ by a node that nobody can place."""
    shared = pool_of(Part(nodes=5, long_idle=5))
    odd = replace(shared, view=replace(shared.view, unready_nodes=1))
    assert [5] == odd.desired(6)


@st.composite
def parts(draw: st.DrawFn) -> Part:
    """Any node pool."""
    nodes = draw(st.integers(0, 6))
    idle = draw(st.integers(0, nodes))
    long_idle = draw(st.integers(0, idle))
    return Part(
        nodes=nodes,
        ordered=draw(st.integers(0, 3)),
        failures=draw(st.integers(0, 1)),
        most=draw(st.none() | st.integers(0, 9)),
        left_alone_seconds=draw(st.sampled_from([0, 0, 60, 900])),
        long_idle=long_idle,
        just_idle=idle - long_idle,
    )


@given(mixture=st.lists(parts(), min_size=1, max_size=3), desired=st.integers(0, 30))
def test_targets_sum_to_what_is_desired_as_far_as_there_is_room(
    mixture: list[Part], desired: int
) -> None:
    """And as far as there are nodes that may go."""
    shared = pool_of(*mixture)
    current = shared.view.current_nodes
    here = [part.nodes + part.ordered for part in mixture]
    room = sum(
        desired if part.most is None else max(0, part.most - nodes)
        for part, nodes in zip(mixture, here, strict=True)
    )
    most, least = current + room, current - sum(part.long_idle for part in mixture)
    assert min(max(desired, least), most) == sum(shared.desired(desired))


@given(mixture=st.lists(parts(), min_size=1, max_size=3), desired=st.integers(0, 30))
def test_no_more_nodes_go_than_are_named_and_every_named_one_may(
    mixture: list[Part], desired: int
) -> None:
    """Names are of long idle nodes of that node pool; nobody shrinks where the pool grows."""
    shared = pool_of(*mixture)
    for at, target in enumerate(shared.targets(desired)):
        removed = target.current_nodes - target.desired_nodes
        assert max(0, removed) == len(set(target.removable_nodes))
        assert set(target.removable_nodes) <= set(mixture[at].named("long", 6, at))
        assert removed <= 0 or desired < shared.view.current_nodes


@given(mixture=st.lists(parts(), min_size=1, max_size=3), desired=st.integers(0, 30))
def test_once_ordered_nothing_more_is_ordered(mixture: list[Part], desired: int) -> None:
    """The same desired nodes give the same targets, now counted as there."""
    shared = pool_of(*mixture)
    first = shared.targets(desired)
    assert first == shared.targets(desired)
    memory = ordered(shared.memory, shared.pool.pool, first, NOW)
    seen = tuple(
        replace(one, ordered_nodes=one.ordered_nodes + memory.node_pools[one.name].ordered_nodes)
        for one in shared.view.node_pools
    )
    more = sum(one.ordered_nodes for one in seen)
    again = replace(
        shared, memory=memory, view=replace(shared.view, node_pools=seen, arriving_nodes=more)
    )
    if desired >= shared.view.current_nodes:
        assert [one.desired_nodes for one in first] == again.desired(desired)
        after = ordered(memory, shared.pool.pool, again.targets(desired), NOW)
        assert memory.node_pools == after.node_pools


@pytest.mark.parametrize("desired", [0, 5, 9])
def test_a_node_pool_that_is_not_in_view_has_nothing(desired: int) -> None:
    """It may be asked, and nothing is taken from it."""
    shared = pool_of(Part(), Part(nodes=5))
    blind = replace(shared, view=replace(shared.view, node_pools=shared.view.node_pools[1:]))
    assert [max(0, desired - 5), 5] == blind.desired(desired)
