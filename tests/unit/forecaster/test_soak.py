"""A day in the life of a small cluster: whatever goes wrong, no node with an unfinished job goes.

Forecasts are as wrong as they can be, the API is away now and then, and what a cycle keeps for the
next is lost. The autoscaler takes every node that it is told may go.
"""

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

from actuator.deciding import Surroundings
from actuator.floors import AnnouncedDemand, AnnouncedKind
from actuator.outlook import Foreseen, Trust
from actuator.policy import NodePoolPolicy, OperatingMode, Policy, PoolPolicy
from actuator.state import ClusterState
from forecaster.cycle import CycleReport, Effect, Parts, run_cycle
from forecaster.kept import Kept, KeptInMemory
from tests.fakes.clusters import FRAGMENT, HOUR, MINUTE, NOW, WHOLE, cluster, flat
from tests.fakes.cycles import RecordInMemory
from tests.fakes.simulated_cluster import Job, SimulatedCluster

DAY_MINUTES = 24 * 60
OUTAGE_EVERY_MINUTES, OUTAGE_MINUTES = 170, 15
LOST_EVERY_MINUTES = 333
SPOT, DEMAND, SHARED = (
    NodePoolPolicy(name, back_end="simulated", capacity_type=kind)
    for name, kind in (("spot-a", "spot"), ("demand-b", "on-demand"), ("shared", "on-demand"))
)
POLICY = Policy(
    version=1,
    pools=(
        PoolPolicy(WHOLE, 8, (SPOT, DEMAND), OperatingMode.ACT, floor_nodes=1, ceiling_nodes=14),
        PoolPolicy(FRAGMENT, 8, (SHARED,), OperatingMode.ACT, ceiling_nodes=6),
    ),
)
FLOOD = AnnouncedDemand(
    NOW + 10 * HOUR, NOW + 11 * HOUR, AnnouncedKind.ABSOLUTE, 88, "sweep", "flood"
)


class SometimesBlind:
    """Shows the cluster, or what was last seen of it; nothing at all after a start in an outage."""

    def __init__(self, simulated: SimulatedCluster) -> None:
        self.simulated = simulated
        self.blind = False
        self.last = cluster([])

    def state(self, now_seconds: int) -> ClusterState:
        """As `KubernetesCluster` tells it."""
        if not self.blind:
            self.last = self.simulated.state(now_seconds)
            return self.last
        silent = ("nothing has been heard of pods for 90 s",)
        return replace(self.last, taken_seconds=now_seconds, synced=False, problems=silent)


def told(random: Random, now_seconds: int) -> Foreseen:
    """A forecast that is right, missing, broken, old, far too low or far too high."""
    return random.choice(
        [
            flat(random.uniform(20, 90), origin_seconds=now_seconds),
            flat(0, origin_seconds=now_seconds),
            flat(0, origin_seconds=now_seconds, trust=Trust.DEMOTE),
            flat(400, origin_seconds=now_seconds),
            flat(float("nan"), origin_seconds=now_seconds),
            flat(0, origin_seconds=now_seconds - HOUR),
            Foreseen(None, "no history"),
        ]
    )


def submitted(random: Random, minute: int) -> list[Job]:
    """Two hours with jobs, gangs and fragments among them, then two hours without."""
    if minute // 120 % 2:
        return []
    at, jobs = NOW + minute * MINUTE, []
    if random.random() < 0.1:
        runs = random.randint(5, 240) * MINUTE
        whole = ("spot-a", "demand-b")
        jobs.append(Job(f"whole-{minute}", whole, 8.0, random.randint(1, 3), at, runs))
    if random.random() < 0.2:
        gpus, runs = random.choice([0.5, 1.0, 2.0, 4.0]), random.randint(2, 180) * MINUTE
        jobs.append(Job(f"part-{minute}", ("shared",), gpus, 1, at, runs))
    return jobs


def a_day(simulated: SimulatedCluster) -> Iterator[CycleReport]:
    """A cycle each minute, in a world that gives no rest."""
    random, foreseen = simulated.random, dict[str, Foreseen]()
    seen, kept = SometimesBlind(simulated), KeptInMemory()
    parts = Parts(
        cluster=seen,
        policies=lambda: (POLICY,),
        surroundings=lambda *_: Surroundings(foreseen, {WHOLE: (FLOOD,)}),
        kept=kept,
        record=RecordInMemory(),
        back_ends={simulated.name: simulated},
    )
    for minute in range(DAY_MINUTES):
        now = NOW + minute * MINUTE
        simulated.advance(now, submitted(random, minute))
        if minute % 40 == 0:
            foreseen.update({WHOLE: told(random, now), FRAGMENT: told(random, now)})
        seen.blind = minute % OUTAGE_EVERY_MINUTES >= OUTAGE_EVERY_MINUTES - OUTAGE_MINUTES
        if minute % LOST_EVERY_MINUTES == LOST_EVERY_MINUTES - 1:
            kept.save(Kept())
            seen.last = cluster([])
        yield run_cycle(parts, Effect.ACT, now)


@pytest.mark.parametrize("seed", [1, 4])
def test_no_node_with_an_unfinished_job_goes(seed: int) -> None:
    """None is named as removable, and no node pool is asked for fewer nodes than carry jobs."""
    simulated = SimulatedCluster(Random(seed), NOW)
    for report in a_day(simulated):
        for target in (one for pool in report.plan.pools for one in pool.targets):
            busy = simulated.busy_nodes(target.node_pool)
            assert not busy.intersection(target.removable_nodes)
        for request in (one.request for one in report.applied):
            busy = simulated.busy_nodes(request.node_pool.name)
            assert not busy.intersection(request.removable_nodes)
            assert request.desired_nodes >= len(busy)
    assert min(simulated.came, simulated.went) >= 10  # it was a day in which nodes came and went
    assert simulated.done >= 50
