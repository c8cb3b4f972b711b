"""Decisions and policies to put on record."""

from dataclasses import replace
from typing import Any

from actuator.audit import AuditEvent, opened, shadowed
from actuator.backends.back_end import Outcome, Request, Standing
from actuator.plan import Mode, NodePoolTarget, PoolPlan, Reason
from actuator.policy import NodePoolPolicy, Policy, PoolPolicy
from forecaster.database import Database
from forecaster.database.audit_log import AuditLog
from forecaster.database.policy_versions import Authorship, PolicyVersions
from forecaster.policy import PolicyDocument, stored_policy

START_SECONDS = 1_772_323_200  # 2026-03-01T00:00:00Z
POOL = "a100/whole-node"
NODE_POOL = NodePoolPolicy("a100-spot", capacity_type="spot", options={"namespace": "gpu"})
DONE = Outcome(Standing.DONE, "asked for 7 nodes", asked_for=7)


def content(**changes: Any) -> dict[str, Any]:
    """A policy document of one pool as JSON, with changes to that pool."""
    pool = {
        "pool": POOL,
        "node_gpus": 8,
        "ceiling_nodes": 20,
        "node_pools": [{"name": "a100-spot", "capacity_type": "spot"}],
    }
    return {"pools": [pool | changes]}


def document(**changes: Any) -> PolicyDocument:
    """The same, checked."""
    return stored_policy(content(**changes), "a test")


def plan(pool: str = POOL, **changes: Any) -> PoolPlan:
    """A plan that asks for two nodes more."""
    made = PoolPlan(
        pool=pool,
        mode=Mode.PREDICTIVE,
        current_nodes=5,
        desired_nodes=7,
        bound_by="step-limit",
        reasons=(
            Reason("need", "the 0.9 quantile of demand passes 80 % of capacity in 15 min"),
            Reason("step-limit", "at most 2 nodes more in one cycle, 9 were wanted"),
        ),
        held_back=True,
        needed_by_seconds=START_SECONDS + 900,
        targets=(NodePoolTarget("a100-spot", 5, 7),),
        seen={"demand_gpus": 38.0, "capacity_gpus": 40.0, "forecast": f"{pool} by persistence 1"},
    )
    return replace(made, **changes)


def policy(version: int = 3, pool: str = POOL) -> Policy:
    """A policy of one pool."""
    return Policy(version, (PoolPolicy(pool, node_gpus=8, node_pools=(NODE_POOL,)),))


def event(minute: int = 0, pool: str = POOL, version: int = 3, **changes: Any) -> AuditEvent:
    """An event that is open: two nodes more, asked for in some minute of the day."""
    planned = plan(pool, **changes)
    action = Request(
        decision="",
        pool=pool,
        shape="whole-node",
        node_pool=NODE_POOL,
        node_gpus=8,
        current_nodes=5,
        desired_nodes=planned.desired_nodes,
        headroom_nodes=1,
        headroom_gpus=8.0,
    )
    actions = (action,) if planned.desired_nodes != planned.current_nodes else ()
    return opened(planned, policy(version, pool), actions, START_SECONDS + 60 * minute)


def put_on_record(database: Database) -> None:
    """A policy with a shadow beside it, and one decision of each kind, a minute apart."""
    versions, log = PolicyVersions(database), AuditLog(database)
    ada = Authorship("ada", START_SECONDS - 60, "to begin with")
    versions.apply(document(), ada)
    versions.try_beside(document(ceiling_nodes=30), ada)
    log.append_all([event(minute, version=1) for minute in range(3)])
    log.close(event(0, version=1).identifier, (DONE,), START_SECONDS + 5)
    log.abandon(event(1, version=1).identifier, START_SECONDS + 95)
    unknown = {"demand_gpus": None, "capacity_gpus": 40.0, "forecast": None}
    why = (Reason("view-doubtful", "12 pods are not listed yet, so nothing is given back"),)
    log.append(
        event(3, version=1, mode=Mode.HELD, desired_nodes=5, targets=(), reasons=why,
              bound_by="view-doubtful", needed_by_seconds=None, seen=unknown)
    )  # fmt: skip
    log.append(shadowed(plan(), policy(2), START_SECONDS + 240))
    log.append(event(5, "h100", version=9))
