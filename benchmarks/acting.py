"""A cycle of a large cluster from a warm state, and deciding alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from actuator.backends.dry_run import DryRun
from actuator.deciding import Surroundings, decide, observed
from actuator.memory import Memory
from actuator.outlook import Foreseen, Outlook
from actuator.policy import NodePoolPolicy, OperatingMode, Policy, PoolPolicy
from actuator.state import CapacityType, ClusterState, Node, Pod
from benchmarks.measuring import Row, milliseconds, peak_memory_mb, seconds, timed
from forecaster.cycle import Effect, Parts, run_cycle
from forecaster.database import Database
from forecaster.database.audit_log import AuditLog
from forecaster.database.cycle_memory import CycleMemory
from forecaster.database.kept_state import KeptInDatabase

POOLS, NODES_PER_POOL, PODS_PER_NODE = 1_000, 10, 5
NOW = 1_767_614_400
MINUTE = 60


class Moving:
    """A cluster that is as full each minute, and a clock that moves on."""

    def __init__(self) -> None:
        self._state = _state()
        self.now_seconds = NOW

    def state(self, now_seconds: int) -> ClusterState:
        """The cluster now."""
        return replace(self._state, taken_seconds=now_seconds)

    def next_minute(self) -> int:
        """The clock a minute later."""
        self.now_seconds += MINUTE
        return self.now_seconds


def rows() -> list[Row]:
    """What a cycle of 1,000 pools, 10,000 nodes and 50,000 pods costs."""
    cluster, policy = Moving(), _policy()
    seen = observed(cluster.state(NOW), policy, Memory(), {}, NOW)
    around = _around(policy, NOW)
    deciding = timed(lambda: decide(seen, around, policy))
    with _parts(cluster, policy) as parts:
        cycle = timed(lambda: run_cycle(parts, Effect.ACT, cluster.next_minute()), warm_ups=2)
    size = f"{POOLS:,} pools, {POOLS * NODES_PER_POOL:,} nodes"
    pods = f"{POOLS * NODES_PER_POOL * PODS_PER_NODE:,} pods"
    return [
        Row(f"deciding alone, {POOLS:,} pools", milliseconds(deciding), "<= 50 ms"),
        Row(f"one cycle, {size}, {pods}", seconds(cycle), "<= 1 s"),
        Row("peak memory", f"{peak_memory_mb():.0f} MB", "<= 400 MB"),
    ]


@contextmanager
def _parts(cluster: Moving, policy: Policy) -> Iterator[Parts]:
    with (
        TemporaryDirectory() as directory,
        Database.open(f"sqlite:///{Path(directory) / 'tidecast.db'}") as database,
    ):
        yield Parts(
            cluster=cluster,
            policies=lambda: [policy],
            surroundings=lambda _, now_seconds: _around(policy, now_seconds),
            kept=KeptInDatabase(CycleMemory(database)),
            record=AuditLog(database),
            back_ends={"dry_run": DryRun()},
        )


def _policy() -> Policy:
    shapes = ("whole-node", "fragment")
    return Policy(
        1,
        tuple(
            PoolPolicy(
                f"type-{number}/{shapes[number % 2]}",
                8,
                (NodePoolPolicy(f"spot-{number}"), NodePoolPolicy(f"on-demand-{number}")),
                mode=OperatingMode.ACT,
                ceiling_nodes=50,
            )
            for number in range(POOLS)
        ),
    )


def _state() -> ClusterState:
    nodes = tuple(
        Node(
            f"node-{pool}-{number}",
            f"spot-{pool}",
            "zone-a",
            CapacityType.SPOT,
            created_seconds=NOW - 86_400,
            gpus=8.0,
            ready=True,
            gpu_utilisation=0.5,
        )
        for pool in range(POOLS)
        for number in range(NODES_PER_POOL)
    )
    pods = tuple(
        Pod(
            name := f"ml/{node.name}-{number}",
            name,
            1,
            gpus=1.0,
            gpu_type="type",
            node=node.name,
            created_seconds=NOW - 7_200,
        )
        for node in nodes
        for number in range(PODS_PER_NODE)
    )
    return ClusterState(NOW, nodes, pods, synced=True)


def _around(policy: Policy, now_seconds: int) -> Surroundings:
    """Every tenth pool needs more than it has, the rest stays within it."""
    return Surroundings(
        {
            pool.pool: Foreseen(
                Outlook(
                    origin_seconds=now_seconds - MINUTE,
                    step_seconds=300,
                    quantile=0.9,
                    path_gpus=tuple(50.0 + step for step in range(12)),
                    peak_gpus=90.0 if number % 10 == 0 else 60.0,
                    peak_seconds=1_800,
                    reference=f"{pool.pool} from {now_seconds - MINUTE} by combined 1",
                )
            )
            for number, pool in enumerate(policy.pools)
        }
    )
