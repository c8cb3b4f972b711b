"""A node pool that does not deliver is left alone for a while."""

import pytest

from actuator.backoff import Ended, by_preference, judged, trusted_nodes
from actuator.memory import Launch, NodePoolMemory
from actuator.policy import LaunchPolicy, NodePoolPolicy
from tests.fakes.situations import NOW

ON_DEMAND = NodePoolPolicy("demand-b")
SPOT = NodePoolPolicy("spot-a", capacity_type="spot")
POLICY = LaunchPolicy()


def ended(memory: NodePoolMemory, came: int, *failed: int, at: int = NOW) -> NodePoolMemory:
    """An on-demand node pool's memory after nodes came, and others failed that were asked for."""
    return judged(memory, Ended(came, failed), ON_DEMAND, POLICY, at)


def test_a_backoff_doubles_up_to_the_longest() -> None:
    """Each time it was tried again in vain."""
    memory, backoffs = NodePoolMemory(), []
    for number in range(5):
        at = NOW + 2000 * number
        memory = ended(memory, 0, at - 900, at=at)
        backoffs.append((memory.backoff_until_seconds or 0) - at)
    assert [300, 600, 1200, 1800, 1800] == backoffs
    assert 5 == memory.failures


def test_many_nodes_at_once_are_one_failure() -> None:
    """Every one of them is an outcome."""
    memory = ended(NodePoolMemory(), 0, NOW - 60, NOW - 60, NOW - 60)
    assert (1, NOW + 300, 3) == (
        memory.failures,
        memory.backoff_until_seconds,
        len(memory.outcomes),
    )


def test_what_was_asked_for_before_a_failure_was_known_is_part_of_it() -> None:
    """Nobody had tried again: the backoff starts anew, and is no longer."""
    first = ended(NodePoolMemory(), 0, NOW - 900)
    second = ended(first, 0, NOW - 1, at=NOW + 60)
    assert (1, NOW + 360) == (second.failures, second.backoff_until_seconds)
    third = ended(second, 0, NOW + 60, at=NOW + 120)
    assert (2, NOW + 720) == (third.failures, third.backoff_until_seconds)


def test_a_success_ends_the_row() -> None:
    """The next failure is a first one again."""
    memory = ended(NodePoolMemory(failures=4, failed_seconds=NOW - 5000), 1)
    assert 0 == memory.failures
    again = ended(memory, 1, NOW - 900, at=NOW + 60)
    assert (1, NOW + 360) == (again.failures, again.backoff_until_seconds)
    late = ended(memory, 0, NOW - 5001, at=NOW + 60)
    assert (1, NOW + 360) == (late.failures, late.backoff_until_seconds)


def test_nothing_ended_changes_nothing() -> None:
    """Looking again is no evidence."""
    memory = ended(NodePoolMemory(), 0, NOW - 900)
    assert memory == ended(memory, 0, at=NOW + 60)


def test_a_longer_backoff_is_never_shortened() -> None:
    """Whoever is left alone for an hour stays so."""
    memory = ended(NodePoolMemory(backoff_until_seconds=NOW + 3600), 0, NOW - 900)
    assert NOW + 3600 == memory.backoff_until_seconds


@pytest.mark.parametrize(
    ("came", "failed", "left_alone_seconds"), [(3, 2, 300), (1, 1, 1800), (0, 1, 1800)]
)
def test_spot_that_delivers_too_little_is_left_for_longer(
    came: int, failed: int, left_alone_seconds: int
) -> None:
    """3 of 5 are 60 %, which is enough; half of them is not."""
    memory = judged(NodePoolMemory(), Ended(came, (NOW - 60,) * failed), SPOT, POLICY, NOW)
    assert NOW + left_alone_seconds == memory.backoff_until_seconds


def test_on_demand_is_left_alone_by_its_failures_only() -> None:
    """However little it delivers."""
    assert NOW + 300 == ended(NodePoolMemory(), 0, NOW - 60).backoff_until_seconds


@pytest.mark.parametrize(("later_seconds", "left_alone_seconds"), [(179, 300), (180, 1800)])
def test_spot_is_judged_over_its_window(later_seconds: int, left_alone_seconds: int) -> None:
    """Nine that came count for three minutes."""
    came = judged(NodePoolMemory(), Ended(9, ()), SPOT, POLICY, NOW)
    later = NOW + later_seconds
    memory = judged(came, Ended(0, (NOW,)), SPOT, POLICY, later)
    assert later + left_alone_seconds == memory.backoff_until_seconds
    assert (10 if left_alone_seconds == 300 else 1) == len(memory.outcomes)


def test_those_in_backoff_stand_last_and_the_first_to_return_leads_them() -> None:
    """A backoff that is over counts for nothing."""
    names = ("a", "b", "c", "d", "e")
    until = {"a": NOW + 300, "b": NOW, "c": NOW + 60, "e": NOW - 60}
    memory = {name: NodePoolMemory(backoff_until_seconds=at) for name, at in until.items()}
    ordered = by_preference([NodePoolPolicy(name) for name in names], memory, NOW)
    assert ["b", "d", "e", "c", "a"] == [one.name for one in ordered]


@pytest.mark.parametrize(
    ("memory", "nodes"),
    [
        (NodePoolMemory(), 4),
        (NodePoolMemory(backoff_until_seconds=NOW + 1), 0),
        (NodePoolMemory(backoff_until_seconds=NOW), 4),
        (NodePoolMemory(failures=1), 1),
        (NodePoolMemory(failures=3, launches=(Launch(NOW - 60, 1, ("a",)),)), 0),
        (NodePoolMemory(launches=(Launch(NOW - 60, 2),)), 4),
    ],
)
def test_after_a_failure_a_node_pool_is_tried_with_one_node(
    memory: NodePoolMemory, nodes: int
) -> None:
    """One at a time, until it delivers; in backoff with none."""
    assert nodes == trusted_nodes(4, memory, NOW)


def test_no_more_is_trusted_than_would_be_asked_for() -> None:
    """Not even one, where there is no room."""
    assert 0 == trusted_nodes(0, NodePoolMemory(failures=1), NOW)
