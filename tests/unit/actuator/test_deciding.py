"""The decision as a whole: what it must do, and what it must never do, whatever it sees."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actuator.deciding import Surroundings, decide, observed
from actuator.floors import AnnouncedDemand, AnnouncedKind
from actuator.memory import Memory
from actuator.outlook import Foreseen, Trust
from actuator.plan import Mode, PoolPlan
from actuator.policy import Policy
from actuator.state import ClusterState, Protection, Waiting
from tests.fakes.clusters import (
    HOUR,
    MINUTE,
    NOW,
    WHOLE,
    busy_cluster,
    cluster,
    flat,
    node,
    pod,
    policy,
)


def watched(
    state: ClusterState,
    foreseen: Foreseen,
    rules: Policy,
    minutes: int = 0,
    announcements: tuple[AnnouncedDemand, ...] = (),
) -> PoolPlan:
    """The plan for the one pool after the same state was watched for so many minutes."""
    memory = Memory()
    around = Surroundings({WHOLE: foreseen}, {WHOLE: announcements})
    for minute in range(-minutes, 1):
        now_seconds = NOW + minute * MINUTE
        at = replace(state, taken_seconds=now_seconds)
        seen = observed(at, rules, memory, {}, now_seconds)
        memory = seen.memory
    return decide(seen, around, rules).pools[0]


def codes(plan: PoolPlan) -> list[str]:
    """What decided, in order."""
    return [reason.code for reason in plan.reasons]


def test_nodes_are_asked_for_before_the_need() -> None:
    """Ten busy nodes, and a peak of twelve with the buffer."""
    plan = watched(busy_cluster(10, 0), flat(80, peak_gpus=80), policy())
    assert (Mode.PREDICTIVE, 10, 12) == (plan.mode, plan.current_nodes, plan.desired_nodes)
    assert plan.needed_by_seconds is not None
    assert [("np-whole", 12)] == [(one.node_pool, one.desired_nodes) for one in plan.targets]


def test_what_comes_later_is_scheduled() -> None:
    """A need in 50 minutes is asked for in 30."""
    foreseen = flat(40)
    assert foreseen.outlook is not None
    path = (*((40.0,) * 10), 90.0, 90.0)
    later = replace(foreseen, outlook=replace(foreseen.outlook, path_gpus=path))
    plan = watched(busy_cluster(5, 5), later, policy())
    assert plan.scheduled is not None
    assert (10, NOW + 30 * MINUTE) == (plan.desired_nodes, plan.scheduled.at_seconds)
    assert 14 == plan.scheduled.desired_nodes


def test_idle_nodes_go_once_it_has_long_been_quiet() -> None:
    """Not before: the same cluster after a quarter of an hour keeps them."""
    state = busy_cluster(2, 6)
    early = watched(state, flat(16), policy(), minutes=15)
    late = watched(state, flat(16), policy(), minutes=31)
    assert (8, 4) == (early.desired_nodes, late.desired_nodes)
    assert (Mode.HELD, "quiet") == (early.mode, early.bound_by)
    assert 4 == len(late.targets[0].removable_nodes)
    assert not {"node-0", "node-1"} & set(late.targets[0].removable_nodes)


def test_a_node_whose_use_is_not_known_stays_unless_nobody_looks() -> None:
    """Unknown is not zero; a policy can leave the criterion out."""
    state = cluster([node(f"node-{number}", gpu_utilisation=None) for number in range(4)])
    rules = policy()
    careless = replace(rules, guards=replace(rules.guards, idle_utilisation=None))
    assert 4 == watched(state, flat(0), rules, minutes=31).desired_nodes
    assert 0 == watched(state, flat(0), careless, minutes=31).desired_nodes


def test_a_protected_node_stays() -> None:
    """Though nothing runs on it."""
    mark = (Protection("tidecast.io/protected", "ada", "debugging"),)
    nodes = [node("node-0"), node("node-1", protections=mark), node("node-2")]
    plan = watched(cluster(nodes), flat(0), policy(), minutes=31)
    assert {"node-0", "node-2"} == set(plan.targets[0].removable_nodes)
    assert 1 == plan.desired_nodes


def test_without_a_forecast_the_queue_decides_alone() -> None:
    """Two minutes arm it, five more confirm, and all that waits is one request."""
    nodes = [node("node-0")]
    waiting = [pod(f"w{n}", None, created_seconds=NOW - 9 * MINUTE) for n in range(3)]
    state = cluster(nodes, [pod("job", "node-0"), *waiting])
    nothing = Foreseen(None, "no history")
    early = watched(state, nothing, policy(), minutes=6)
    late = watched(state, nothing, policy(), minutes=7)
    assert (1, 2) == (early.desired_nodes, late.desired_nodes)  # one: the step limit
    assert ["forecast-unavailable", "queue", "step-limit"] == codes(late)
    assert Mode.REACTIVE is late.mode


@pytest.mark.parametrize(
    ("foreseen", "code"),
    [
        (Foreseen(None, "no history"), "forecast-unavailable"),
        (flat(80, origin_seconds=NOW - 16 * MINUTE), "forecast-stale"),
        (flat(80, trust=Trust.DEMOTE), "forecast-demoted"),
    ],
)
def test_a_forecast_that_cannot_be_used_is_named(foreseen: Foreseen, code: str) -> None:
    """And asks for nothing."""
    plan = watched(busy_cluster(10, 0), foreseen, policy())
    assert (10, code) == (plan.desired_nodes, codes(plan)[0])


def test_beside_a_demoted_forecast_idle_nodes_still_go() -> None:
    """What runs and waits is seen; a forecast in caution gives nothing back."""
    state = busy_cluster(2, 6)
    demoted = watched(state, flat(16, trust=Trust.DEMOTE), policy(), minutes=31)
    cautious = watched(state, flat(16, trust=Trust.CAUTION), policy(), minutes=31)
    assert (4, 8) == (demoted.desired_nodes, cautious.desired_nodes)
    assert "forecast-caution" == cautious.bound_by


def test_an_announcement_binds_and_is_named() -> None:
    """Within its lead time; the ceiling still holds."""
    flood = AnnouncedDemand(
        NOW + 15 * MINUTE, NOW + HOUR, AnnouncedKind.ABSOLUTE, 104, "sweep", "a1"
    )
    state = busy_cluster(10, 0)
    plan = watched(state, flat(40), policy(), announcements=(flood,))
    assert (Mode.ANNOUNCED, 13) == (plan.mode, plan.desired_nodes)
    capped = watched(state, flat(40), policy(ceiling_nodes=11), announcements=(flood,))
    assert (11, "ceiling") == (capped.desired_nodes, capped.bound_by)


def test_an_announcement_is_honoured_while_the_cluster_is_not_in_view() -> None:
    """The floor rises, and nothing falls."""
    flood = AnnouncedDemand(NOW, NOW + HOUR, AnnouncedKind.ABSOLUTE, 104, "sweep", "a1")
    state = replace(busy_cluster(10, 0), synced=False, problems=("the watch is dead",))
    assert 10 == watched(state, flat(400), policy(), 31).desired_nodes
    plan = watched(state, Foreseen(None, "no history"), policy(), 31, announcements=(flood,))
    assert 13 == plan.desired_nodes
    assert "the watch is dead" in " ".join(plan.advice)


def test_pods_that_no_node_would_serve_are_named() -> None:
    """And ask for none."""
    held = pod("held", None, waiting=Waiting.HELD_BY_QUOTA)
    plan = watched(cluster([node("node-0")], [held]), flat(0), policy())
    assert 1 == plan.desired_nodes
    assert any("held by a quota" in line for line in plan.advice)


def test_scheduled_nodes_stay_below_the_ceiling() -> None:
    """A plan promises nothing that it may not do."""
    foreseen = flat(40)
    assert foreseen.outlook is not None
    path = (*((40.0,) * 10), 400.0, 400.0)
    later = replace(foreseen, outlook=replace(foreseen.outlook, path_gpus=path))
    plan = watched(busy_cluster(5, 5), later, policy(ceiling_nodes=12))
    assert plan.scheduled is not None
    assert 12 == plan.scheduled.desired_nodes


counts = st.integers(0, 12)
demands = st.floats(0, 400, allow_nan=False)
unknowns = st.sampled_from(
    [
        (Foreseen(None, "no history"), ()),
        (flat(float("nan")), ()),
        (flat(0, peak_gpus=float("nan")), ()),
        (flat(0, origin_seconds=NOW - HOUR), ()),
        (flat(0), ("pods are not listed yet",)),
        (flat(float("nan")), ("half of the nodes are missing",)),
    ]
)


@settings(max_examples=60, deadline=None)
@given(counts, counts, demands, demands, st.floats(0, 200))
def test_more_demand_never_means_fewer_nodes(
    busy: int, idle: int, path: float, peak: float, more: float
) -> None:
    """Whether the path or the peak grows."""
    state = busy_cluster(busy, idle)
    less = watched(state, flat(path, peak), policy(), minutes=31).desired_nodes
    assert less <= watched(state, flat(path + more, peak), policy(), minutes=31).desired_nodes
    assert less <= watched(state, flat(path, peak + more), policy(), minutes=31).desired_nodes


@settings(max_examples=60, deadline=None)
@given(counts, counts, demands, st.integers(0, 5), st.integers(5, 14))
def test_never_below_the_floor_or_above_the_ceiling(
    busy: int, idle: int, demand: float, floor: int, ceiling: int
) -> None:
    """Nodes that are there already are another matter: they go only when they are idle."""
    rules = policy(floor_nodes=floor, ceiling_nodes=ceiling)
    plan = watched(busy_cluster(busy, idle), flat(demand), rules, minutes=31)
    assert floor <= plan.desired_nodes <= max(ceiling, plan.current_nodes)
    assert plan.desired_nodes >= min(busy, plan.current_nodes)


@settings(max_examples=60, deadline=None)
@given(counts, counts, unknowns, st.integers(0, 45))
def test_what_is_not_known_never_gives_nodes_back(
    busy: int, idle: int, unknown: tuple[Foreseen, tuple[str, ...]], minutes: int
) -> None:
    """NaN, missing, stale, unsynced, and any two of them together."""
    foreseen, problems = unknown
    state = replace(busy_cluster(busy, idle), synced=not problems, problems=problems)
    plan = watched(state, foreseen, policy(), minutes=minutes)
    assert plan.desired_nodes >= plan.current_nodes


@settings(max_examples=30, deadline=None)
@given(counts, counts, demands)
def test_deciding_twice_is_deciding_once(busy: int, idle: int, demand: float) -> None:
    """The same state, forecast and timers give the same plan to the last word."""
    state = busy_cluster(busy, idle)
    assert watched(state, flat(demand), policy(), 31) == watched(state, flat(demand), policy(), 31)
