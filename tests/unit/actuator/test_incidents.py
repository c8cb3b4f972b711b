"""What went wrong elsewhere, decided here: each test names the incident it would have stopped."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest

from actuator.deciding import Surroundings, decide, observed
from actuator.memory import Memory
from actuator.outlook import Foreseen
from actuator.plan import PoolPlan
from actuator.policy import Budget, NodePoolPolicy, Policy, ScheduledFloor
from actuator.schedule import scheduled_floor
from actuator.state import ClusterState
from tests.fakes.clusters import (
    FRAGMENT,
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

NOTHING = Foreseen(None, "the answer was empty")
NOT_LISTED = ("pods have not been listed yet",)


def plans(
    state: Callable[[int], ClusterState],
    foreseen: Callable[[int], Foreseen],
    minutes: int,
    rules: Policy | None = None,
) -> list[PoolPlan]:
    """The plan of each minute for the one pool; nobody acts on any."""
    rules, memory, made = rules or policy(), Memory(), []
    for minute in range(minutes):
        now = NOW + minute * MINUTE
        at = replace(state(now), taken_seconds=now)
        seen = observed(at, rules, memory, {}, now)
        memory = seen.memory
        made += decide(seen, Surroundings({WHOLE: foreseen(now)}), rules).pools
    return made


def nobody_needs_any(now: int) -> Foreseen:
    """A forecast of nothing, in full trust."""
    return flat(0, origin_seconds=now)


def test_nodes_whose_pods_are_not_listed_yet_are_not_empty() -> None:
    """kubernetes/autoscaler#446: before the pods were listed every node was deleted in bulk."""
    unlisted = cluster([node(f"node-{number}") for number in range(8)], problems=NOT_LISTED)
    made = plans(
        lambda now: unlisted if now < NOW + HOUR else busy_cluster(8, 0), nobody_needs_any, 100
    )
    assert {8} == {plan.desired_nodes for plan in made}
    assert {()} == {plan.targets[0].removable_nodes for plan in made}


def test_the_time_of_an_outage_makes_no_node_unneeded() -> None:
    """kubernetes-retired/contrib#2488: it counted, and nodes went as soon as the API was back."""
    away = range(NOW + 20 * MINUTE, NOW + 60 * MINUTE)
    made = plans(
        lambda now: replace(busy_cluster(2, 6), synced=now not in away),
        lambda now: flat(16, origin_seconds=now),
        91,
    )
    assert {8} == {plan.desired_nodes for plan in made[:90]}
    assert 4 == made[90].desired_nodes


@pytest.mark.parametrize(
    "foreseen",
    [
        lambda _: NOTHING,
        lambda now: flat(float("nan"), origin_seconds=now),
        lambda now: flat(0, peak_gpus=float("nan"), origin_seconds=now),
    ],
    ids=["empty", "NaN", "NaN in part"],
)
def test_an_empty_answer_is_no_demand_of_zero(foreseen: Callable[[int], Foreseen]) -> None:
    """kedacore/keda#3065: read as 0, it brought a service to its minimum at the peak."""
    made = plans(lambda _: busy_cluster(6, 4), foreseen, 60)
    assert {10} == {plan.desired_nodes for plan in made}


def test_the_fallback_is_never_lower_than_what_runs() -> None:
    """kedacore/keda#6659: the number to fall back to was lower than the replicas there were."""
    made = plans(lambda _: busy_cluster(1, 9), lambda _: NOTHING, 90, policy(floor_nodes=2))
    assert {10} == {plan.desired_nodes for plan in made}


def test_scale_down_stops_while_the_use_of_nodes_is_not_known() -> None:
    """kubernetes/kubernetes#99394, #104387: scaled down by the metrics that were left."""
    nodes = [node(f"node-{number}", gpu_utilisation=None) for number in range(8)]
    made = plans(lambda _: cluster(nodes), nobody_needs_any, 60)
    assert {8} == {plan.desired_nodes for plan in made}


def test_a_plan_lets_go_of_no_more_than_need_leaves_and_spends_no_more_than_it_may() -> None:
    """oracle/karpenter-provider-oci#9: a budget was ignored, and every node was tainted."""
    (*_, last) = plans(lambda _: busy_cluster(0, 20), lambda now: flat(64, origin_seconds=now), 40)
    assert (14, 6) == (last.desired_nodes, len(last.targets[0].removable_nodes))
    both = replace(policy(), budget=Budget(most_gpus=88))
    shared = replace(both.pools[0], pool=FRAGMENT, node_pools=(NodePoolPolicy("np-shared"),))
    both = replace(both, pools=(*both.pools, shared))
    state = cluster([*busy_cluster(5, 0).nodes, *(node(f"s-{n}", "np-shared") for n in range(5))])
    seen = observed(state, both, Memory(), {}, NOW)
    plan = decide(seen, Surroundings({WHOLE: flat(400), FRAGMENT: flat(400)}), both)
    assert [6, 5] == [pool.desired_nodes for pool in plan.pools]


@pytest.mark.parametrize("foreseen", [flat(0), flat(800), NOTHING], ids=["down", "up", "by queue"])
def test_with_too_many_nodes_unready_nothing_is_scaled(foreseen: Foreseen) -> None:
    """Over 45 %: neither down, nor up for forecast, queue or floor; at 45 % a floor is served."""
    nodes = [node(f"node-{number}", ready=number >= 9) for number in range(20)]
    waiting = [pod(f"job-{number}", None) for number in range(9)]
    rules = policy(floor_nodes=25)
    made = plans(lambda _: cluster(nodes[:19], waiting), lambda _: foreseen, 14, rules)
    assert {(19, "unready")} == {(plan.desired_nodes, plan.bound_by) for plan in made}
    (plan,) = plans(lambda _: cluster(nodes), lambda _: foreseen, 1, rules)
    assert 25 <= plan.desired_nodes


BERLIN = ZoneInfo("Europe/Berlin")
HOLIDAY = date(2026, 1, 12)  # a Monday
OVERNIGHT = ScheduledFloor("0 22 * * 1-5", 8 * HOUR, least_nodes=5, on_holidays=False)


@pytest.mark.parametrize(
    ("at", "nodes"),
    [
        ("2026-01-09T21:59", 0),
        ("2026-01-09T22:00", 5),
        ("2026-01-10T05:59", 5),
        ("2026-01-10T06:00", 0),
        ("2026-01-11T23:00", 0),
        ("2026-01-12T23:00", 0),
        ("2026-01-13T05:00", 0),
        ("2026-01-13T23:00", 5),
    ],
)
def test_a_night_that_begins_on_friday_ends_on_saturday(at: str, nodes: int) -> None:
    """kedacore/keda#4677: pods stayed all weekend; #6846: no holiday could be left out."""
    pool = replace(policy().pools[0], schedule=(OVERNIGHT,))
    seconds = int(datetime.fromisoformat(at).replace(tzinfo=BERLIN).timestamp())
    floor = scheduled_floor(pool, BERLIN, lambda day: day == HOLIDAY, 0, seconds)
    assert nodes == floor.nodes
