"""What a service knows that acts for a while: capacity, a queue, node pools that fail."""

from dataclasses import replace

import numpy as np

from actuator.memory import Launch, Memory, NodePoolMemory
from actuator.provisioning import Arrival, NodePoolRecord, ProvisioningRecord
from forecaster.database import Database
from forecaster.database.cycle_memory import CycleMemory
from forecaster.database.kept_state import KeptInDatabase
from forecaster.database.plans import Plans
from forecaster.history import HistoryStore
from forecaster.kept import Kept
from tests.fakes.service import NOW_SECONDS, Service, plan

CAPACITY_GPUS = 96.0
NODE_POOL = "a100-spot"
QUEUE = {"waiting_jobs": 2.0, "waiting_gpus": 16.0, "wait_p95_seconds": 240.0}


def make_busy(service: Service) -> None:
    """Add all of it to what the service knows."""
    keep_capacity(service.context.workspace.store)
    keep_cycle_state(service.context.database)
    keep_plan(service.context.database, **QUEUE)


def keep_capacity(store: HistoryStore) -> None:
    """The same capacity in every step of every pool."""
    known = [replace(one, capacity_gpus=np.full(len(one), CAPACITY_GPUS)) for one in store.series()]
    store.import_series(known)


def keep_cycle_state(database: Database) -> None:
    """One node pool in backoff with nodes ordered, and five that came."""
    memory = NodePoolMemory(
        launches=(Launch(NOW_SECONDS - 60, nodes=3),),
        failures=2,
        backoff_until_seconds=NOW_SECONDS + 90,
    )
    came = tuple(Arrival(f"n{n}", 0, 10, usable_seconds=300 + n) for n in range(5))
    kept = Kept(
        memory=Memory(node_pools={NODE_POOL: memory}),
        provisioning=ProvisioningRecord(node_pools={NODE_POOL: NodePoolRecord(measured=came)}),
    )
    KeptInDatabase(CycleMemory(database)).save(kept)


def keep_plan(database: Database, **seen: float | str | None) -> None:
    """The plan of now, with what it saw."""
    made = plan()
    pool = made.pools[0].model_copy(update={"seen": made.pools[0].seen | seen})
    Plans(database).keep(made.model_copy(update={"pools": [pool]}))
