"""Only watched time makes a pool quiet and a node idle."""

from dataclasses import replace

import pytest

from actuator.memory import Memory, NodePoolMemory, PoolMemory, QueueTimers
from actuator.policy import GuardPolicy, Policy, PoolPolicy
from actuator.timers import advanced, long_idle_nodes
from actuator.view import NodePoolView, PoolView
from tests.fakes.situations import NODE_POOLS, NOW, calm, seen

POOL = "a100/whole-node"
POLICY = Policy(version=1, pools=(PoolPolicy(POOL, 8, NODE_POOLS),))
BEFORE = NOW - 60
RUNNING = PoolMemory(
    queue=QueueTimers(NOW - 500, NOW - 300),
    quiet_since_seconds=NOW - 4000,
    idle_since_seconds={"node-0": NOW - 3000, "node-1": NOW - 2000},
    scaled_up_seconds=NOW - 5000,
    scaled_down_seconds=NOW - 6000,
    newest_submission_seconds=NOW - 4010,
)
STOPPED = replace(RUNNING, queue=QueueTimers(), quiet_since_seconds=None, idle_since_seconds={})


def view(idle: int = 2, **changes: object) -> PoolView:
    """A pool with `node-0` and so on idle, whose newest job is the one remembered."""
    changes = {"newest_submission_seconds": NOW - 4010, **changes}
    return seen(calm(10, idle=idle), **changes).view


def after(
    views: dict[str, PoolView], memory: PoolMemory = RUNNING, before: int | None = BEFORE
) -> PoolMemory:
    """What is remembered of the pool a cycle later."""
    return advanced(Memory(before, {POOL: memory}), views, POLICY, NOW).pools[POOL]


def test_timers_run_on_while_nothing_happens() -> None:
    """The memory of the pool stays as it is."""
    assert RUNNING == after({POOL: view()})


def test_the_cycle_is_remembered_and_node_pools_are_left_alone() -> None:
    """Launches are followed elsewhere."""
    node_pools = {"spot-a": NodePoolMemory(failures=3)}
    memory = advanced(Memory(BEFORE, {}, node_pools), {POOL: view()}, POLICY, NOW)
    assert (NOW, node_pools) == (memory.cycle_seconds, memory.node_pools)


def test_a_submission_ends_the_quiet() -> None:
    """It is quiet from the moment it was seen, whatever the cluster's clock says."""
    memory = after({POOL: view(newest_submission_seconds=NOW - 4000)})
    assert (NOW, NOW - 4000) == (memory.quiet_since_seconds, memory.newest_submission_seconds)


@pytest.mark.parametrize("newest", [None, NOW - 9000])
def test_the_end_of_the_newest_job_is_no_submission(newest: int | None) -> None:
    """An older one is then the newest, or there is none; it stays quiet."""
    memory = after({POOL: view(newest_submission_seconds=newest)})
    assert RUNNING.quiet_since_seconds == memory.quiet_since_seconds
    assert RUNNING.newest_submission_seconds == memory.newest_submission_seconds


def test_a_node_is_idle_from_when_it_is_first_seen_so() -> None:
    """One that has a job again is forgotten, one that is new starts now."""
    there = (NodePoolView("spot-a", 10, idle_nodes=("node-1", "node-7")),)
    memory = after({POOL: view(node_pools=there)})
    assert {"node-1": NOW - 2000, "node-7": NOW} == memory.idle_since_seconds


def test_a_job_between_makes_a_node_idle_anew() -> None:
    """Idle, busy, idle: the timer starts at the end of the job."""
    busy = after({POOL: view(idle=0)})
    assert {"node-0": NOW, "node-1": NOW} == after({POOL: view()}, busy).idle_since_seconds


def test_a_node_that_was_asked_to_go_stays_idle() -> None:
    """If nobody lets it go, it has been idle all along."""
    there = (NodePoolView("spot-a", 9, idle_nodes=("node-1",), going_nodes=("node-0",)),)
    memory = after({POOL: view(node_pools=there)})
    assert RUNNING.idle_since_seconds == memory.idle_since_seconds


@pytest.mark.parametrize("views", [{}, {POOL: view(doubtful=("not synced",))}])
def test_in_doubt_nothing_is_quiet_or_idle(views: dict[str, PoolView]) -> None:
    """The queue's timers stay, since holding them back would hold nodes back."""
    assert replace(STOPPED, queue=RUNNING.queue) == after(views)


@pytest.mark.parametrize("before", [None, NOW - 301, NOW + 1])
def test_after_a_pause_or_a_step_back_timers_start_anew(before: int | None) -> None:
    """kubernetes-retired/contrib#2488: the time of an outage counted as unneeded."""
    started = {"node-0": NOW, "node-1": NOW}
    expected = replace(STOPPED, quiet_since_seconds=NOW, idle_since_seconds=started)
    assert expected == after({POOL: view()}, before=before)


def test_a_pause_of_just_the_gap_is_none() -> None:
    """Some cycles may be missed."""
    assert RUNNING == after({POOL: view()}, before=NOW - 300)


def test_a_change_does_not_lie_ahead_of_a_clock_that_went_back() -> None:
    """Or the cooldown would last as long as the jump."""
    memory = replace(RUNNING, scaled_up_seconds=NOW + 3600, scaled_down_seconds=NOW + 1)
    changed = after({POOL: view()}, memory, before=NOW + 3660)
    assert (NOW, NOW) == (changed.scaled_up_seconds, changed.scaled_down_seconds)


def test_an_outage_ends_with_everything_started_anew() -> None:
    """Doubtful for 15 minutes, watched all along: idle and quiet begin at its end."""
    memory = Memory(BEFORE, {POOL: RUNNING})
    for minute in range(15):
        doubtful = {POOL: view(doubtful=("not synced",))}
        memory = advanced(memory, doubtful, POLICY, NOW + 60 * minute)
    back = NOW + 900
    pool = advanced(memory, {POOL: view()}, POLICY, back).pools[POOL]
    assert back == pool.quiet_since_seconds
    assert {"node-0": back, "node-1": back} == pool.idle_since_seconds


def test_a_pool_that_left_the_policy_is_forgotten() -> None:
    """Its timers would not be watched."""
    memory = Memory(BEFORE, {"t4/fragment": RUNNING})
    assert [POOL] == list(advanced(memory, {}, POLICY, NOW).pools)


def test_only_nodes_idle_now_and_for_long_may_go() -> None:
    """In the view's order; a node that is not remembered has not been idle for long."""
    idle = NodePoolView("spot-a", 10, idle_nodes=("node-3", "node-2", "node-1", "node-0"))
    memory = PoolMemory(
        idle_since_seconds={"node-0": NOW - 900, "node-1": NOW - 899, "node-3": 0, "node-9": 0}
    )
    assert ("node-3", "node-0") == long_idle_nodes(idle, memory, GuardPolicy(), NOW)
