"""One decision for all pools, as one story: view, size, floors, guards, budget, share out.

Everything it uses is an argument, so that a decision can be made again from its record. It asks for
nothing and remembers nothing: whoever acts on a plan says so to `launches.ordered`. It imports no
model and no feature, and works without any forecast.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from zoneinfo import ZoneInfo

from actuator.floors import (
    NO_FLOOR,
    AnnouncedDemand,
    Floor,
    announced_floor,
    highest_floor,
)
from actuator.fragmentation import fragmentation
from actuator.guards import guarded
from actuator.guards.budget import within_budget
from actuator.guards.guard import Situation
from actuator.launches import followed, node_pool_targets
from actuator.memory import Memory, PoolMemory
from actuator.outlook import Foreseen
from actuator.plan import Mode, Plan, PoolPlan, Proposal, Reason, ScheduledAction
from actuator.policy import Policy, PoolPolicy
from actuator.reactive import queue_timers, wait_seconds
from actuator.schedule import scheduled_floor
from actuator.sizing import lead_seconds
from actuator.state import ClusterState
from actuator.timers import advanced
from actuator.view import PoolView
from actuator.viewing import pool_views
from actuator.wanting import PoolNow, Wanted, wanted

UTC = ZoneInfo("UTC")
NOTHING_FORESEEN = Foreseen(None, "no forecast was made")


@dataclass(frozen=True)
class Surroundings:
    """What is known beside the cluster itself.

    Attributes:
        foreseen: demand ahead by pool.
        announcements: floods that people announced, by pool.
        provisioning_p95_seconds: measured P95 of provisioning by node pool, where there is one.
        failed_launches: launches that the cluster reported as failed, by node pool.
        zone: the cluster's time zone.
        is_holiday: whether a day is a public holiday there.
    """

    foreseen: Mapping[str, Foreseen]
    announcements: Mapping[str, Sequence[AnnouncedDemand]] = field(default_factory=dict)
    provisioning_p95_seconds: Mapping[str, float] = field(default_factory=dict)
    failed_launches: Mapping[str, int] = field(default_factory=dict)
    zone: ZoneInfo = UTC
    is_holiday: Callable[[date], bool] = lambda _: False


@dataclass(frozen=True)
class Observed:
    """The cluster as deciding sees it, and the timers up to now.

    Attributes:
        now_seconds: Unix time of the look.
        views: by pool.
        memory: with launches followed and timers advanced.
    """

    now_seconds: int
    views: Mapping[str, PoolView]
    memory: Memory


@dataclass(frozen=True)
class _Sized:
    """A pool on its way through the decision."""

    pool: PoolPolicy
    view: PoolView
    wanted: Wanted
    floor: Floor
    proposal: Proposal


def observed(
    state: ClusterState,
    policy: Policy,
    memory: Memory,
    failed_launches: Mapping[str, int],
    now_seconds: int,
) -> Observed:
    """Follow what was asked for, look at each pool, and move the timers on."""
    memory = followed(memory, state, policy, now_seconds, failed_launches)
    views = pool_views(state, policy, memory, now_seconds)
    memory = advanced(memory, views, policy, now_seconds)
    return Observed(now_seconds, views, _with_queues(memory, views, policy, now_seconds))


def _with_queues(
    memory: Memory, views: Mapping[str, PoolView], policy: Policy, now_seconds: int
) -> Memory:
    """The memory with every queue's timers moved on."""
    pools = {
        name: replace(
            before := memory.pools.get(name, PoolMemory()),
            queue=queue_timers(view, before.queue, policy.reactive, now_seconds),
        )
        for name, view in views.items()
    }
    return replace(memory, pools=pools)


def decide(seen: Observed, around: Surroundings, policy: Policy) -> Plan:
    """What should be done for each pool now, and why."""
    sized = [_sized(pool, seen, around, policy) for pool in policy.pools]
    affordable = within_budget([(one.pool, one.view, one.proposal) for one in sized], policy.budget)
    return Plan(
        made_seconds=seen.now_seconds,
        policy_version=policy.version,
        pools=tuple(
            _planned(one, proposal, seen, policy)
            for one, proposal in zip(sized, affordable, strict=True)
        ),
    )


def _sized(pool: PoolPolicy, seen: Observed, around: Surroundings, policy: Policy) -> _Sized:
    """The pool's proposal after sizing, floors and guards."""
    now_seconds, view = seen.now_seconds, seen.views[pool.pool]
    memory = seen.memory.pools.get(pool.pool, PoolMemory())
    lead = lead_seconds(pool, _slowest(pool, around), policy.cycle_seconds)
    at_hand = PoolNow(pool, view, memory.queue, lead, now_seconds)
    want = wanted(around.foreseen.get(pool.pool, NOTHING_FORESEEN), at_hand, policy)
    floor = _floor(pool, view, around, lead, now_seconds)
    situation = Situation(
        now_seconds, policy.guards, pool, view, memory, floor.nodes, want.need_gpus
    )
    return _Sized(pool, view, want, floor, guarded(_raised(want.proposal, floor), situation))


def _slowest(pool: PoolPolicy, around: Surroundings) -> float | None:
    """The longest P95 of provisioning among the pool's node pools; None where none is measured."""
    measured = [
        around.provisioning_p95_seconds[one.name]
        for one in pool.node_pools
        if one.name in around.provisioning_p95_seconds
    ]
    return max(measured, default=None)


def _floor(
    pool: PoolPolicy, view: PoolView, around: Surroundings, lead: int, now_seconds: int
) -> Floor:
    own = NO_FLOOR
    if pool.floor_nodes:
        text = f"at least {pool.floor_nodes} nodes: the pool's own floor"
        own = Floor(pool.floor_nodes, Reason("floor", text))
    others = []
    if pool.schedule:
        others.append(scheduled_floor(pool, around.zone, around.is_holiday, lead, now_seconds))
    announcements = around.announcements.get(pool.pool, ())
    if announcements:
        others.append(announced_floor(announcements, view, pool, lead, now_seconds))
    return highest_floor(own, *others)


def _raised(proposal: Proposal, floor: Floor) -> Proposal:
    """The proposal, or the floor where that is higher."""
    if floor.nodes <= proposal.desired_nodes:
        return proposal
    announced = floor.reason.code == "announcement"
    return replace(
        proposal,
        desired_nodes=floor.nodes,
        mode=Mode.ANNOUNCED if announced else proposal.mode,
        bound_by=floor.reason.code,
        reasons=(*proposal.reasons, floor.reason),
    )


def _planned(one: _Sized, proposal: Proposal, seen: Observed, policy: Policy) -> PoolPlan:
    """The pool's part of the plan, shared out to its node pools."""
    view = one.view
    pieces = fragmentation(view)
    return PoolPlan(
        pool=one.pool.pool,
        mode=Mode.HELD if proposal.held_back and _unchanged(proposal) else proposal.mode,
        current_nodes=proposal.current_nodes,
        desired_nodes=proposal.desired_nodes,
        bound_by=proposal.bound_by,
        reasons=proposal.reasons,
        held_back=proposal.held_back,
        needed_by_seconds=one.wanted.needed_by_seconds if proposal.scales_up else None,
        scheduled=_scheduled(one.wanted.scheduled, one.pool),
        targets=node_pool_targets(
            proposal.desired_nodes,
            one.pool,
            view,
            seen.memory,
            policy,
            now_seconds=seen.now_seconds,
        ),
        advice=_advice(view, pieces.advice),
        seen={
            "demand_gpus": view.demand_gpus,
            "used_gpus": view.used_gpus,
            "waiting_gpus": view.waiting_gpus,
            "waiting_jobs": len(view.waiting),
            **_waits(view, seen.now_seconds),
            "capacity_gpus": view.capacity_gpus,
            "capacity_nodes": view.capacity_nodes,
            "arriving_nodes": view.arriving_nodes,
            "unready_nodes": view.unready_nodes,
            "need_gpus": one.wanted.need_gpus,
            "floor_nodes": one.floor.nodes,
            "lead_seconds": one.wanted.lead_seconds,
            "quantile": one.pool.strategy.quantile,
            "forecast": one.wanted.reference,
            "largest_placeable_gpus": pieces.largest_placeable_gpus,
            "fragmentation_rate": pieces.rate,
        },
    )


def _waits(view: PoolView, now_seconds: int) -> dict[str, float | None]:
    """How long jobs have waited; not known where none waits."""
    if not view.waiting:
        return {"wait_p50_seconds": None, "wait_p95_seconds": None}
    return {
        "wait_p50_seconds": wait_seconds(view, 0.5, now_seconds),
        "wait_p95_seconds": wait_seconds(view, 0.95, now_seconds),
    }


def _unchanged(proposal: Proposal) -> bool:
    return proposal.desired_nodes == proposal.current_nodes


def _scheduled(action: ScheduledAction | None, pool: PoolPolicy) -> ScheduledAction | None:
    """What comes later, as far as the pool may grow."""
    if action is None or action.desired_nodes <= pool.ceiling_nodes:
        return action
    return replace(action, desired_nodes=pool.ceiling_nodes)


def _advice(view: PoolView, about_pieces: str | None) -> tuple[str, ...]:
    """What an operator should know of the pool, a line each."""
    unservable = tuple(
        f"{pods} pods wait for what no new node gives: {why.value}"
        for why, pods in view.not_servable.items()
    )
    return (*((about_pieces,) if about_pieces else ()), *unservable, *view.doubtful)
