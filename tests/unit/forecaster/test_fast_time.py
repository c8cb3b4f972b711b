"""Hours of trouble in fast time: cycles while metrics, the API or the clock are not to trust."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import pi, sin
from random import Random

import pytest

from actuator.deciding import Surroundings
from actuator.floors import AnnouncedDemand, AnnouncedKind
from actuator.outlook import Foreseen
from actuator.policy import GuardPolicy, Policy
from actuator.state import ClusterState
from forecaster.cycle import Effect, run_cycle
from tests.fakes.clusters import HOUR, MINUTE, NOW, WHOLE, busy_cluster, cluster, flat, node, pod
from tests.fakes.clusters import policy as one_pool
from tests.fakes.cycles import Stage, ToldCluster

NAN = float("nan")
NODE_POOL = "np-whole"


@dataclass(frozen=True)
class Look:
    """A cycle and what its node pool was asked to have afterwards."""

    now_seconds: int
    nodes: int


def looks(stage: Stage, moments: Sequence[int]) -> list[Look]:
    """A cycle at each of these moments."""
    found = []
    for now in moments:
        run_cycle(stage.parts(), Effect.ACT, now)
        found.append(Look(now, stage.back_end.nodes[NODE_POOL]))
    return found


def minutes(begin: int, end: int, from_seconds: int = NOW) -> list[int]:
    """A moment every minute."""
    return [from_seconds + minute * MINUTE for minute in range(begin, end)]


def obedient(stage: Stage, busy: int, nodes: int) -> Callable[[int], ClusterState]:
    """A cluster that has at once what it is asked to have."""
    return lambda now: busy_cluster(busy, stage.back_end.nodes.get(NODE_POOL, nodes) - busy, now)


TROUBLES: dict[str, Callable[[int], Foreseen]] = {
    "empty": lambda _: Foreseen(None, "the answer was empty"),
    "NaN": lambda now: flat(NAN, origin_seconds=now),
    "NaN in part": lambda now: flat(16, peak_gpus=NAN, origin_seconds=now),
    "stale": lambda _: flat(16, origin_seconds=NOW - 16 * MINUTE),
    "partial": lambda _: Foreseen(None, "Prometheus answered only in part"),
}


@pytest.mark.parametrize("trouble", TROUBLES.values(), ids=TROUBLES)
def test_six_hours_without_metrics_cost_no_node_and_no_promise(
    trouble: Callable[[int], Foreseen],
) -> None:
    """Floors are held, an announcement is served, and what is spare goes once metrics are back."""
    stage = Stage(policies=[one_pool(floor_nodes=3)])
    stage.cluster = ToldCluster(obedient(stage, busy=2, nodes=12))
    flood = AnnouncedDemand(
        NOW + 3 * HOUR, NOW + 4 * HOUR, AnnouncedKind.ABSOLUTE, 120, "sweep", "a1"
    )
    stage.foreseen = lambda now: (
        trouble(now) if now < NOW + 6 * HOUR else flat(16, origin_seconds=now)
    )
    parts = replace(
        stage.parts(),
        surroundings=lambda _, now: Surroundings({WHOLE: stage.foreseen(now)}, {WHOLE: (flood,)}),
    )
    asked = {}
    for now in minutes(0, 6 * 60 + 31):
        run_cycle(parts, Effect.ACT, now)
        asked[now] = stage.back_end.nodes[NODE_POOL]
    ready_by = flood.start_seconds - parts.policies()[0].pools[0].lead_seconds
    during = [nodes for now, nodes in asked.items() if now < NOW + 6 * HOUR]
    assert during == sorted(during)
    assert (12, 15) == (asked[ready_by - MINUTE], asked[ready_by])
    assert 4 == asked[NOW + 6 * HOUR + 30 * MINUTE]


@pytest.mark.parametrize("cycles_go_on", [True, False], ids=["blind", "no cycles"])
def test_fifteen_minutes_without_the_api_are_followed_by_no_burst(cycles_go_on: bool) -> None:
    """What came meanwhile is asked for step by step, within a minute, and no further."""
    gone = set(minutes(20, 35))
    before = busy_cluster(10, 2)
    stage = Stage(
        foreseen=lambda now: flat(72 if now < min(gone) else 104, origin_seconds=now),
    )

    def told(now: int) -> ClusterState:
        if now in gone:
            return replace(before, taken_seconds=now, synced=False, problems=("no answer",))
        nodes = max(12, stage.back_end.nodes.get(NODE_POOL, 12))
        busy = 10 if now < min(gone) else min(nodes, 13)
        return busy_cluster(busy, nodes - busy, now)

    stage.cluster = ToldCluster(told)
    (*_, last) = looks(stage, minutes(0, 20))
    during = looks(stage, sorted(gone) if cycles_go_on else [])
    after = looks(stage, minutes(35, 50))
    assert {last.nodes} == {one.nodes for one in (last, *during)}
    assert (15, 16) == (after[0].nodes, after[1].nodes)
    assert {16} == {one.nodes for one in after[1:]}


def test_after_the_api_is_back_a_node_is_idle_anew() -> None:
    """Half an hour of quiet is watched before anything goes, whatever was known before."""
    gone = range(NOW + 25 * MINUTE, NOW + 40 * MINUTE)
    stage = Stage(foreseen=lambda now: flat(16, origin_seconds=now))
    stage.cluster = ToldCluster(
        lambda now: replace(busy_cluster(2, 6, now), synced=now not in gone)
    )
    found = looks(stage, minutes(0, 71))
    assert [NOW + 70 * MINUTE] == [one.now_seconds for one in found if one.nodes < 8]


@pytest.mark.parametrize("jump_seconds", [HOUR, -HOUR])
def test_a_clock_that_jumps_makes_no_node_idle(jump_seconds: int) -> None:
    """Quiet begins anew with the first look by the new time."""
    stage = Stage(foreseen=lambda now: flat(16, origin_seconds=now))
    stage.cluster = ToldCluster(lambda now: busy_cluster(2, 6, now))
    looks(stage, minutes(0, 25))
    found = looks(stage, minutes(25, 56, NOW + jump_seconds))
    assert {8} == {one.nodes for one in found[:30]}
    assert 4 == found[30].nodes


@pytest.mark.parametrize("jump_seconds", [HOUR, -HOUR])
def test_a_clock_that_jumps_orders_nothing_twice(jump_seconds: int) -> None:
    """What is on its way has not failed, however late it seems."""
    stage = Stage(foreseen=lambda now: flat(80, origin_seconds=now))
    looks(stage, minutes(0, 2))
    found = looks(stage, minutes(2, 15, NOW + jump_seconds))
    assert {12} == {one.nodes for one in found}
    assert 1 == sum(one.desired_nodes > one.current_nodes for one in stage.back_end.asked)
    assert 2 == stage.kept.kept.memory.node_pools[NODE_POOL].ordered_nodes


UNGUARDED = GuardPolicy(
    quiet_seconds=0, idle_seconds=0, cooldown_seconds=0, scale_down_below_share=1.0
)


@dataclass(frozen=True)
class Change:
    """The number asked for went up or down.

    Attributes:
        at_seconds: Unix time.
        up: whether it went up.
    """

    at_seconds: int
    up: bool


def under_noise(rules: Policy, seed: int, hours: int) -> list[Change]:
    """A tide with noise of 20 % on jobs and forecasts, anew each minute; what was changed."""
    random = Random(seed)
    stage = Stage(policies=[rules])

    def demand_gpus(now: int) -> float:
        tide = 100 + 60 * sin(2 * pi * (now - NOW) / (24 * HOUR))
        return max(0.0, tide * random.gauss(1.0, 0.2))

    def told(now: int) -> ClusterState:
        """Old jobs that come and go, so that no submission keeps the pool from being quiet."""
        nodes, jobs = stage.back_end.nodes.get(NODE_POOL, 16), round(demand_gpus(now) / 8)
        return cluster(
            [node(f"node-{number}") for number in range(nodes)],
            [pod(f"job-{n}", f"node-{n}" if n < nodes else None) for n in range(jobs)],
            now,
        )

    stage.cluster = ToldCluster(told)
    stage.foreseen = lambda now: flat(demand_gpus(now), origin_seconds=now)
    found = looks(stage, minutes(0, hours * 60))
    return [
        Change(one.now_seconds, one.nodes > before.nodes)
        for before, one in pairwise(found)
        if one.nodes != before.nodes
    ]


def most_reversals(changes: Sequence[Change], within_seconds: int) -> int:
    """The highest number of reversals among the changes of any such span."""
    spans = (
        [one for one in changes if 0 <= one.at_seconds - first.at_seconds < within_seconds]
        for first in changes
    )
    return max(sum(one.up != after.up for one, after in pairwise(span)) for span in spans)


@pytest.mark.parametrize("seed", [1, 2])
def test_noise_turns_a_pool_at_most_once_in_ten_minutes(seed: int) -> None:
    """kubernetes/autoscaler#581, flip-flop: without guards the same day swings all the time."""
    changes = under_noise(one_pool(), seed, hours=24)
    assert {True, False} == {one.up for one in changes}
    assert most_reversals(changes, 10 * MINUTE) <= 1
    unguarded = under_noise(replace(one_pool(), guards=UNGUARDED), seed, hours=1)
    assert most_reversals(unguarded, 10 * MINUTE) > 3
