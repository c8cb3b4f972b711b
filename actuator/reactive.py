"""Sizing from the queue as it is now, without any forecast.

A queue arms, and confirms, before it asks for nodes, so that a burst which the cluster takes in by
itself costs nothing; what was submitted meanwhile becomes one request. It never asks for fewer
nodes, and never on behalf of a pod that a new node would not serve. It imports no model and no
feature, so that it works when they fail.
"""

import math
from itertools import chain, repeat

from actuator.memory import QueueTimers
from actuator.packing import new_nodes
from actuator.plan import Mode, Proposal, Reason
from actuator.policy import PoolPolicy, ReactivePolicy
from actuator.view import PoolView


def queue_timers(
    view: PoolView, timers: QueueTimers, policy: ReactivePolicy, now_seconds: int
) -> QueueTimers:
    """How far the queue has come towards asking for nodes.

    It arms once it has been above the threshold for long enough, or at once by long waits; when
    neither holds any more it is disarmed. A doubtful view moves nothing.

    Args:
        view: the pool now.
        timers: how far it had come.
        policy: threshold and times.
        now_seconds: Unix time of the cycle.
    """
    if view.doubtful:
        return timers
    deep = len(view.waiting) > policy.queue_threshold_jobs
    slow = bool(view.waiting) and wait_seconds(view, 0.95, now_seconds) > policy.long_wait_seconds
    if not deep and not slow:
        return QueueTimers()
    above_since_seconds = _kept_or(timers.above_since_seconds, now_seconds) if deep else None
    deep_for_long = (
        above_since_seconds is not None
        and now_seconds - above_since_seconds >= policy.arm_after_seconds
    )
    armed_since_seconds = timers.armed_since_seconds
    if slow or deep_for_long:
        armed_since_seconds = _kept_or(armed_since_seconds, now_seconds)
    return QueueTimers(above_since_seconds, armed_since_seconds)


def reactive_nodes(
    view: PoolView,
    timers: QueueTimers,
    policy: ReactivePolicy,
    pool: PoolPolicy,
    now_seconds: int,
) -> Proposal | None:
    """One request for all that waits and would fit; None while the queue is not confirmed.

    Args:
        view: the pool now.
        timers: how far its queue has come by now.
        policy: how long a queue stays armed before it asks.
        pool: GPUs of a new node.
        now_seconds: Unix time of the decision.
    """
    armed_since_seconds = timers.armed_since_seconds
    if (
        armed_since_seconds is None
        or now_seconds - armed_since_seconds < policy.confirm_after_seconds
    ):
        return None
    missing_nodes = new_nodes(
        (job.pod_gpus for job in view.waiting),
        chain(view.free_gpus, repeat(float(pool.node_gpus), view.arriving_nodes)),
        pool.node_gpus,
    )
    queued = Reason(
        "queue",
        f"{len(view.waiting)} jobs wait for {view.waiting_gpus:g} GPUs, armed since "
        f"{now_seconds - armed_since_seconds} s; beyond what is free or on its way they need "
        f"{missing_nodes} nodes",
    )
    unserved = not_servable(view)
    return Proposal(
        current_nodes=view.current_nodes,
        desired_nodes=view.current_nodes + missing_nodes,
        mode=Mode.REACTIVE,
        bound_by=queued.code,
        reasons=(queued,) if unserved is None else (queued, unserved),
    )


def not_servable(view: PoolView) -> Reason | None:
    """The pods that no new node would serve, by what they wait for; None if there are none."""
    if not view.not_servable:
        return None
    kinds = ", ".join(f"{pods} ({waiting.value})" for waiting, pods in view.not_servable.items())
    return Reason("not-servable", f"pods that a new node would not serve: {kinds}")


def wait_seconds(view: PoolView, quantile: float, now_seconds: int) -> int:
    """How long the jobs in the queue have waited, at a quantile by nearest rank; one must wait.

    Args:
        view: its queue stands oldest first.
        quantile: 0.95 for what one in twenty exceeds.
        now_seconds: Unix time.
    """
    rank = math.floor(len(view.waiting) * (1 - quantile) + 1e-9)
    return now_seconds - view.waiting[rank].created_seconds


def _kept_or(since_seconds: int | None, now_seconds: int) -> int:
    return now_seconds if since_seconds is None else since_seconds
