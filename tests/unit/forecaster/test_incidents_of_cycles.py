"""What went wrong elsewhere over many cycles: each test names the incident it would have stopped.

Rows of single decisions stand in `tests/unit/actuator/test_incidents.py`.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from actuator.deciding import Surroundings
from actuator.floors import AnnouncedDemand, AnnouncedKind
from actuator.outlook import Foreseen
from actuator.state import ClusterState
from features.sources.prometheus import PrometheusSource
from features.sources.prometheus_connection import PrometheusConnection
from features.sources.queries import RecordingRuleQueries
from forecaster.cycle import Effect, Parts, run_cycle
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
from tests.fakes.cycles import Stage, ToldCluster
from tests.fakes.prometheus_server import FakePrometheus
from tests.fakes.recorded_rules import recorded


def asked_over(
    parts: Parts, stage: Stage, minutes: int, every_seconds: int = MINUTE, begin: int = NOW
) -> list[int]:
    """What the one node pool is asked to have after each cycle."""
    asked = []
    for now in range(begin, begin + minutes * MINUTE, every_seconds):
        run_cycle(parts, Effect.ACT, now)
        asked.append(stage.back_end.nodes["np-whole"])
    return asked


def obedient(stage: Stage, busy: int, nodes: int) -> Callable[[int], ClusterState]:
    """A cluster that has at once what it is asked to have."""
    return lambda now: busy_cluster(busy, stage.back_end.nodes.get("np-whole", nodes) - busy, now)


def test_fewer_nodes_are_asked_for_once_and_not_again_each_cycle() -> None:
    """kubernetes/autoscaler#4095: a decrement every 10 s went down to the minimum, jobs or not."""
    stage = Stage(
        cluster=ToldCluster(lambda now: busy_cluster(2, 6, now)),
        foreseen=lambda now: flat(16, origin_seconds=now),
    )
    asked = asked_over(stage.parts(), stage, 90, every_seconds=10)
    assert {8, 4} == set(asked)


def test_a_node_without_its_gpus_yet_is_not_ordered_again() -> None:
    """kubernetes/autoscaler#6707: more GPU nodes came before the first had advertised its GPUs."""
    stage = Stage(foreseen=lambda _: Foreseen(None, "no history"))
    waiting = pod("job-1", None, created_seconds=NOW)

    def told(now: int) -> ClusterState:
        there = [node("node-0")]
        if stage.back_end.nodes.get("np-whole", 1) > 1:
            there.append(node("node-1", gpus=0.0, created_seconds=now - MINUTE))
        return cluster(there, [pod("job-0", "node-0"), waiting], now)

    stage.cluster = ToldCluster(told)
    asked = asked_over(stage.parts(), stage, 20)
    assert {1, 2} == set(asked)


def test_what_was_raised_is_given_back() -> None:
    """AWS's IncreaseMaxCapacity, ray-project/ray#19785: what a peak had raised stayed for good."""
    stage = Stage(foreseen=lambda now: flat(16, origin_seconds=now))
    stage.cluster = ToldCluster(obedient(stage, busy=2, nodes=4))
    flood = AnnouncedDemand(NOW, NOW + HOUR, AnnouncedKind.ABSOLUTE, 96, "sweep", "a1")
    parts = replace(
        stage.parts(),
        surroundings=lambda _, now: Surroundings({WHOLE: stage.foreseen(now)}, {WHOLE: (flood,)}),
    )
    asked = asked_over(parts, stage, 120)
    assert (12, 4) == (max(asked), asked[-1])


def test_a_fallback_does_not_swing() -> None:
    """kedacore/keda#4249: replicas went up and down as the metric came and went."""
    stage = Stage(
        foreseen=lambda now: (
            Foreseen(None, "no answer") if now // MINUTE % 2 else flat(48, origin_seconds=now)
        )
    )
    stage.cluster = ToldCluster(obedient(stage, busy=6, nodes=14))
    asked = asked_over(stage.parts(), stage, 180)
    assert asked == sorted(asked, reverse=True)
    assert (14, 11) == (asked[0], asked[-1])


def test_a_start_in_an_outage_asks_for_no_less() -> None:
    """kubernetes/autoscaler#446 again: nothing is listed, and a floor lies below what was asked."""
    stage = Stage(policies=[policy(floor_nodes=3)])
    (before,) = asked_over(stage.parts(), stage, 1)
    nothing_listed = cluster([], problems=("nodes have not been listed yet",))
    stage.cluster = ToldCluster(lambda now: replace(nothing_listed, taken_seconds=now))
    during = asked_over(stage.parts(), stage, 10, begin=NOW + MINUTE)
    assert {before} == set(during)


def test_a_floor_above_what_was_asked_is_asked_for_in_an_outage() -> None:
    """An announcement is honoured on what was last seen."""
    stage = Stage()
    (before,) = asked_over(stage.parts(), stage, 1)
    last_seen = replace(busy_cluster(10, 2), synced=False)
    stage.cluster = ToldCluster(lambda now: replace(last_seen, taken_seconds=now))
    stage.policies = [policy(floor_nodes=15)]
    during = asked_over(stage.parts(), stage, 1, begin=NOW + MINUTE)
    assert (12, [15]) == (before, during)


def test_a_pair_of_prometheus_counts_once() -> None:
    """kubernetes-mixin#680, thanos#981: duplicate series of an HA pair doubled the demand."""
    told = []
    for replicas in (1, 2, 3):
        with FakePrometheus(recorded(lambda _: 40.0, replicas=replicas)) as fake:
            source = PrometheusSource(PrometheusConnection(fake.url), RecordingRuleQueries())
            (series,) = source.demand(NOW, NOW + HOUR, 300).series
            told.append(series.demand_gpus)
    np.testing.assert_array_equal(np.full((3, 12), 40.0), told)
