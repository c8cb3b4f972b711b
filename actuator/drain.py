"""Decides whether a node may be emptied of its jobs, and how far its drain has come.

Off by default. The way is: cordon, wait for jobs to end or to report a checkpoint, ask for one,
evict. It goes on only while what the jobs would lose is clearly less than what keeping the node
costs, and that is asked anew each time. What is not known counts as too dear: a job that is
protected or part of a larger one, a price that is missing, each keeps the node.
"""

from dataclasses import dataclass
from enum import StrEnum

HOUR_SECONDS = 3600


@dataclass(frozen=True)
class DrainSettings:
    """Whether and how nodes are drained.

    Attributes:
        allowed: nothing is drained without it.
        wait_seconds: how long jobs may take to end or to report a checkpoint by themselves.
        asked_wait_seconds: how long they may take once asked for one.
        margin_factor: keeping the node must cost this many times the expected loss; at least 1.
        horizon_seconds: how long the node would be kept where jobs do not say when they end.
    """

    allowed: bool = False
    wait_seconds: int = 7200
    asked_wait_seconds: int = 600
    margin_factor: float = 2.0
    horizon_seconds: int = 14_400


@dataclass(frozen=True, slots=True)
class DrainJob:
    """One pod of a job on the node.

    Attributes:
        pod: `namespace/name`.
        gpus: GPUs it holds.
        started_seconds: Unix time at which its work began.
        checkpoint_seconds: Unix time of its last checkpoint; None if it has reported none.
        ends_seconds: Unix time at which it says that it ends; None if it does not say.
        fetch_seconds: to fetch its checkpoint when it starts again.
        restart_seconds: to start its framework again.
        catch_up_seconds: until it is as fast as before.
        protected: a mark makes it untouchable.
        shared: it is part of a job with pods elsewhere.
    """

    pod: str
    gpus: float
    started_seconds: int
    checkpoint_seconds: int | None = None
    ends_seconds: int | None = None
    fetch_seconds: float = 300.0
    restart_seconds: float = 600.0
    catch_up_seconds: float = 300.0
    protected: bool = False
    shared: bool = False


@dataclass(frozen=True, slots=True)
class DrainNode:
    """A node that the plan could do without.

    Attributes:
        name: its name.
        gpus: GPUs it has.
        hour_price: price of the node for an hour; None where it is not known.
        jobs: the jobs' pods on it.
        protected: a mark makes it untouchable.
        cordoned: it takes no new pods.
        drained_since_seconds: Unix time at which we cordoned it; None if we did not.
        asked_seconds: Unix time at which its jobs were asked for a checkpoint; None if not.
    """

    name: str
    gpus: float
    hour_price: float | None
    jobs: tuple[DrainJob, ...]
    protected: bool = False
    cordoned: bool = False
    drained_since_seconds: int | None = None
    asked_seconds: int | None = None


class DrainAction(StrEnum):
    """What can be done about a node that is to be drained."""

    KEEP = "keep"
    UNCORDON = "uncordon"
    CORDON = "cordon"
    WAIT = "wait"
    ASK_FOR_CHECKPOINT = "ask for a checkpoint"
    EVICT = "evict"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class DrainStep:
    """The one thing to do about a node now.

    Attributes:
        action: what.
        node: on which node.
        reason: why, in one line.
        pods: whom it concerns, as `namespace/name`.
    """

    action: DrainAction
    node: str
    reason: str
    pods: tuple[str, ...] = ()


def drain_step(node: DrainNode, now_seconds: int, settings: DrainSettings) -> DrainStep:
    """What to do about a node now; the same node at the same time gives the same step.

    Args:
        node: the node as it is.
        now_seconds: Unix time of the decision.
        settings: whether and how nodes are drained.
    """
    if node.drained_since_seconds is not None and not node.cordoned:
        return DrainStep(DrainAction.KEEP, node.name, "somebody has taken our cordon back")
    against = _objection(node, now_seconds, settings)
    if against is not None:
        ours = node.drained_since_seconds is not None
        return DrainStep(DrainAction.UNCORDON if ours else DrainAction.KEEP, node.name, against)
    since_seconds = node.drained_since_seconds
    if since_seconds is None:
        return _before(node)
    if not node.jobs:
        return DrainStep(DrainAction.EMPTY, node.name, "its jobs have ended; it may be removed")
    return _underway(node, since_seconds, now_seconds, settings)


def _before(node: DrainNode) -> DrainStep:
    """The first step, of a node against whose drain nothing speaks."""
    if not node.jobs:
        return DrainStep(DrainAction.KEEP, node.name, "it carries no job; nothing is to be drained")
    if node.cordoned:
        return DrainStep(DrainAction.KEEP, node.name, "somebody else has cordoned it")
    return DrainStep(
        DrainAction.CORDON, node.name, "its jobs would lose less than keeping it costs"
    )


def _underway(
    node: DrainNode, since_seconds: int, now_seconds: int, settings: DrainSettings
) -> DrainStep:
    """The next step of a node that we have cordoned and whose jobs still run."""
    late = tuple(
        job.pod
        for job in node.jobs
        if job.checkpoint_seconds is None or job.checkpoint_seconds < since_seconds
    )
    everyone = tuple(job.pod for job in node.jobs)
    if not late:
        why = "each of its jobs has a checkpoint"
        return DrainStep(DrainAction.EVICT, node.name, why, everyone)
    if now_seconds < since_seconds + settings.wait_seconds:
        return DrainStep(
            DrainAction.WAIT, node.name, f"{len(late)} jobs have neither ended nor saved", late
        )
    if node.asked_seconds is None:
        why = f"they have not ended in {settings.wait_seconds / 60:g} min"
        return DrainStep(DrainAction.ASK_FOR_CHECKPOINT, node.name, why, late)
    if now_seconds < node.asked_seconds + settings.asked_wait_seconds:
        return DrainStep(DrainAction.WAIT, node.name, "they were asked for a checkpoint", late)
    why = "they were asked for a checkpoint, and what they lose is less than keeping the node costs"
    return DrainStep(DrainAction.EVICT, node.name, why, everyone)


def expected_loss_gpu_hours(job: DrainJob, now_seconds: int) -> float:
    """GPU-hours that a job loses when it is evicted now.

    The work since its last checkpoint (all of it where it has none), the fetch of the checkpoint,
    the restart of its framework, and catching up.
    """
    saved_seconds = job.started_seconds
    if job.checkpoint_seconds is not None:
        saved_seconds = max(saved_seconds, job.checkpoint_seconds)
    again_seconds = float(max(now_seconds - saved_seconds, 0))
    again_seconds += job.fetch_seconds + job.restart_seconds + job.catch_up_seconds
    return job.gpus * again_seconds / HOUR_SECONDS


def kept_hours(node: DrainNode, now_seconds: int, settings: DrainSettings) -> float:
    """Hours for which the node would be kept: until its jobs end, or for the horizon at most."""
    ends = [job.ends_seconds for job in node.jobs]
    last_seconds = max((end for end in ends if end is not None), default=now_seconds)
    horizon_seconds = now_seconds + settings.horizon_seconds
    until_seconds = horizon_seconds if None in ends else min(last_seconds, horizon_seconds)
    return max(until_seconds - now_seconds, 0) / HOUR_SECONDS


def _objection(node: DrainNode, now_seconds: int, settings: DrainSettings) -> str | None:
    """Why the node must be kept; None if nothing speaks against its drain."""
    if not settings.allowed:
        return "draining is off"
    if node.protected:
        return "it is protected"
    for job in node.jobs:
        if job.protected:
            return f"{job.pod} is protected"
        if job.shared:
            return f"{job.pod} is part of a job that runs on other nodes too"
    if node.jobs:
        return _too_dear(node, now_seconds, settings)
    return None


def _too_dear(node: DrainNode, now_seconds: int, settings: DrainSettings) -> str | None:
    """Why its jobs would lose too much; None if they would not. NaN counts as too much."""
    if node.hour_price is None or not node.gpus > 0:
        return "the node's price is not known, so neither is what keeping it costs"
    gpu_hour_price = node.hour_price / node.gpus
    lost = sum(expected_loss_gpu_hours(job, now_seconds) for job in node.jobs) * gpu_hour_price
    kept = kept_hours(node, now_seconds, settings) * node.hour_price
    if 0 <= lost <= lost * settings.margin_factor < kept:
        return None
    return f"its jobs would lose {lost:.2f}, and keeping it costs {kept:.2f}"
