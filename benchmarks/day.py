"""A day of cycles in fast time: memory stays flat, and files stay bounded."""

import gc
import re
from pathlib import Path
from tempfile import TemporaryDirectory

from actuator.deciding import Surroundings
from actuator.outlook import Foreseen, Outlook
from actuator.policy import NodePoolPolicy, OperatingMode, Policy, PoolPolicy
from actuator.state import CapacityType, ClusterState, Node, Pod
from benchmarks.measuring import Row
from forecaster.cycle import Effect, Parts, run_cycle
from forecaster.database import Database
from forecaster.database.audit_log import AuditLog
from forecaster.database.cycle_memory import CycleMemory
from forecaster.database.kept_state import KeptInDatabase

POOLS, NODES_PER_POOL, CYCLES = 20, 10, 1_440
NOW = 1_767_614_400
MINUTE, HOUR = 60, 3_600


class Tide:
    """Nodes that carry more jobs at noon than at night."""

    def state(self, now_seconds: int) -> ClusterState:
        """The cluster now."""
        busy = _busy(now_seconds)
        nodes, pods = [], []
        for pool in range(POOLS):
            for number in range(NODES_PER_POOL):
                name = f"node-{pool}-{number}"
                nodes.append(
                    Node(
                        name,
                        f"np-{pool}",
                        "zone-a",
                        CapacityType.ON_DEMAND,
                        created_seconds=NOW - 86_400,
                        gpus=8.0,
                        ready=True,
                        gpu_utilisation=0.0,
                    )
                )
                if number < busy:
                    job = f"ml/job-{pool}-{number}-{now_seconds // HOUR}"
                    begun = now_seconds // HOUR * HOUR
                    pods.append(Pod(job, job, 1, 8.0, f"type-{pool}", name, begun))
        return ClusterState(now_seconds, tuple(nodes), tuple(pods), synced=True)


def rows() -> list[Row]:
    """What a day leaves behind."""
    from actuator.backends.dry_run import DryRun

    policy = Policy(
        1,
        tuple(
            PoolPolicy(
                f"type-{pool}/whole-node",
                8,
                (NodePoolPolicy(f"np-{pool}"),),
                mode=OperatingMode.ACT,
                ceiling_nodes=20,
            )
            for pool in range(POOLS)
        ),
    )
    with TemporaryDirectory() as directory:
        file = Path(directory) / "tidecast.db"
        with Database.open(f"sqlite:///{file}") as database:
            parts = Parts(
                cluster=Tide(),
                policies=lambda: [policy],
                surroundings=lambda _, now: Surroundings(_foreseen(policy, now)),
                kept=KeptInDatabase(CycleMemory(database)),
                record=AuditLog(database),
                back_ends={"dry_run": DryRun()},
            )
            after_hour = 0.0
            for cycle in range(CYCLES):
                run_cycle(parts, Effect.ACT, NOW + cycle * MINUTE)
                if cycle == HOUR // MINUTE:
                    after_hour = _memory_mb()
            after_day = _memory_mb()
        size = sum(one.stat().st_size for one in Path(directory).iterdir()) / 1e6
    what = f"{CYCLES:,} cycles of {POOLS} pools"
    return [
        Row(f"memory after an hour and after a day, {what}", _both(after_hour, after_day), "flat"),
        Row("database after the day", f"{size:.1f} MB", "bounded by retention"),
    ]


def _foreseen(policy: Policy, now_seconds: int) -> dict[str, Foreseen]:
    ahead = tuple(8.0 * _busy(now_seconds + 300 * step) for step in range(12))
    return {
        pool.pool: Foreseen(
            Outlook(now_seconds, 300, 0.9, ahead, max(ahead[:6]), 1_800, f"{pool.pool} by tide")
        )
        for pool in policy.pools
    }


def _busy(seconds: int) -> int:
    """Busy nodes: two at night, nine at noon."""
    hour = seconds / HOUR % 24
    return 2 + round(max(0.0, 7 - abs(hour - 12)))


def _memory_mb() -> float:
    """Memory of this process that lies in RAM, once what is not needed has gone."""
    gc.collect()
    told = re.search(r"^VmRSS:\s*(\d+) kB$", Path("/proc/self/status").read_text(), re.MULTILINE)
    assert told is not None
    return int(told[1]) / 1024


def _both(first: float, second: float) -> str:
    return f"{first:.0f} MB, {second:.0f} MB"
