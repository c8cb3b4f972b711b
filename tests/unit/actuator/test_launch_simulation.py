"""Nodes are there in time although every fifth machine fails and a node pool has none for hours.

A pre-warm has failed when its nodes are not capacity at most `long_wait_seconds` after the lead
time: a job that finds its nodes later has waited for longer than the policy calls long.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

import pytest

from actuator.launches import followed, node_pool_targets, ordered
from actuator.memory import Memory
from actuator.plan import NodePoolTarget
from actuator.policy import NodePoolPolicy, Policy, PoolPolicy
from actuator.view import PoolView
from actuator.viewing import pool_views
from tests.fakes.situations import NOW
from tests.fakes.unreliable_cloud import UnreliableCloud

CYCLE_SECONDS = 60
EVERY_SECONDS = 2700
DAYS = 10 * 86_400
SPOT_A = NodePoolPolicy("spot-a", capacity_type="spot")
DEMAND_A, DEMAND_B = NodePoolPolicy("demand-a"), NodePoolPolicy("demand-b")


@dataclass(frozen=True)
class Prewarms:
    """How long each pre-warm took, None where it was not done in time.

    Attributes:
        took_seconds: one each.
    """

    took_seconds: tuple[int | None, ...]

    @property
    def failed_share(self) -> float:
        """Share of them that failed."""
        return sum(one is None for one in self.took_seconds) / len(self.took_seconds)


def prewarmed(node_pools: Sequence[NodePoolPolicy], cloud: UnreliableCloud, times: int) -> Prewarms:
    """Pre-warms of one to four nodes each, one after another, from nothing."""
    pool = PoolPolicy("a100/whole-node", 8, tuple(node_pools))
    policy = Policy(version=1, pools=(pool,))
    deadline = pool.lead_seconds + policy.reactive.long_wait_seconds
    memory, now, took = Memory(), NOW, []
    for _ in range(times):
        wanted, asked_at, came_at = cloud.random.randint(1, 4), now, None
        while now < asked_at + EVERY_SECONDS:
            memory = followed(memory, cloud.state(now), policy, now, cloud.refused(now))
            if came_at is None and cloud.capacity_nodes(now) >= wanted:
                came_at = now
            view = pool_views(cloud.state(now), policy, memory, now)[pool.pool]
            targets = node_pool_targets(
                max(wanted, view.current_nodes), pool, view, memory, policy, now_seconds=now
            )
            memory = ordered(memory, pool.pool, targets, now)
            cloud.ask(_with_overdue(targets, view), now)
            now += CYCLE_SECONDS
        seconds = EVERY_SECONDS if came_at is None else came_at - asked_at
        took.append(seconds if seconds <= deadline else None)
        cloud.clear()
    return Prewarms(tuple(took))


def _with_overdue(targets: Sequence[NodePoolTarget], view: PoolView) -> list[NodePoolTarget]:
    """Absolute numbers as a back end is asked for them."""
    overdue = {one.name: one.overdue_nodes for one in view.node_pools}
    return [
        replace(one, desired_nodes=one.desired_nodes + overdue[one.node_pool]) for one in targets
    ]


@pytest.mark.parametrize(
    ("node_pools", "stock_out_hours"),
    [
        ((SPOT_A, DEMAND_B), 6),
        pytest.param((SPOT_A, DEMAND_B), 0, marks=pytest.mark.slow),
        pytest.param((DEMAND_A, DEMAND_B), 6, marks=pytest.mark.slow),
        pytest.param((SPOT_A, DEMAND_A, DEMAND_B), 6, marks=pytest.mark.slow),
    ],
)
def test_few_prewarms_fail_although_machines_do(
    node_pools: tuple[NodePoolPolicy, ...], stock_out_hours: int
) -> None:
    """20 % of machines fail, one in ten of them silently; the first may be out of stock daily."""
    days = [range(NOW + day, NOW + day + stock_out_hours * 3600) for day in range(0, DAYS, 86_400)]
    cloud = UnreliableCloud(Random(7), 0.2, 0.1, {node_pools[0].name: days})
    assert prewarmed(node_pools, cloud, 200).failed_share < 0.03


def test_without_a_second_node_pool_stock_outs_are_felt() -> None:
    """The simulation does fail pre-warms where nothing can take over."""
    days = [range(NOW + day, NOW + day + 6 * 3600) for day in range(0, DAYS, 86_400)]
    cloud = UnreliableCloud(Random(7), 0.2, 0.1, {DEMAND_A.name: days})
    assert prewarmed([DEMAND_A], cloud, 100).failed_share > 0.2
