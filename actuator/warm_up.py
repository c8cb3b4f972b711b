"""Decides what to do about new nodes that must be warmed up before they count as capacity.

A node carries a start-up taint until a user's Job (pull images, fill the data cache) has succeeded
on it. Deciding is pure: from nodes and Jobs as they are to steps. It must never start a second Job
on a node, and never let a node go on because something about it is not known.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from actuator.state import Node

WARMING_TAINT = "tidecast.io/warming"


class OnFailure(StrEnum):
    """What becomes of a node whose warm-up failed or took too long."""

    KEEP = "keep"
    RELEASE = "release"


class JobStatus(StrEnum):
    """How far a warm-up Job has come."""

    UNFINISHED = "unfinished"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class WarmUpJob:
    """One node's warm-up Job.

    Attributes:
        node: name of the node.
        status: how far it has come.
        created_seconds: Unix time at which it was created.
    """

    node: str
    status: JobStatus
    created_seconds: int


@dataclass(frozen=True)
class WarmUpSettings:
    """How warm-ups are judged.

    Attributes:
        timeout_seconds: a Job that has not ended after this has failed.
        on_failure: what becomes of a node whose warm-up failed.
    """

    timeout_seconds: int = 1800
    on_failure: OnFailure = OnFailure.KEEP


class Action(StrEnum):
    """What can be done about a node that warms up."""

    START_JOB = "start job"
    RELEASE = "release"
    REPORT = "report"


@dataclass(frozen=True, slots=True)
class WarmUpStep:
    """One thing to do.

    Attributes:
        action: what.
        node: on which node.
        reason: why, in one line.
    """

    action: Action
    node: str
    reason: str


def warm_up_steps(
    nodes: Iterable[Node],
    jobs: Mapping[str, WarmUpJob],
    now_seconds: int,
    settings: WarmUpSettings,
) -> tuple[WarmUpStep, ...]:
    """What to do now, at most one step per node, in the nodes' order.

    Args:
        nodes: nodes in view; those warmed up, leaving or not yet ready ask for nothing.
        jobs: by node name, the warm-up Job there is.
        now_seconds: Unix time of the decision.
        settings: how warm-ups are judged.
    """
    cold = {node.name: node for node in nodes if not node.warmed and not node.leaving}
    steps = (_step(node, jobs.get(name), now_seconds, settings) for name, node in cold.items())
    return tuple(step for step in steps if step is not None)


def _step(
    node: Node, job: WarmUpJob | None, now_seconds: int, settings: WarmUpSettings
) -> WarmUpStep | None:
    if job is None:
        return WarmUpStep(Action.START_JOB, node.name, "it is new") if node.ready else None
    if job.created_seconds < node.created_seconds:
        return None  # it ran on an earlier node of this name, and goes with that node
    took_seconds = now_seconds - job.created_seconds
    if job.status is JobStatus.SUCCEEDED:
        return WarmUpStep(Action.RELEASE, node.name, "its warm-up has succeeded")
    if job.status is JobStatus.FAILED:
        return _failed(node, "its warm-up has failed", settings)
    if took_seconds >= settings.timeout_seconds:
        limit_minutes = settings.timeout_seconds / 60
        return _failed(node, f"its warm-up has not ended in {limit_minutes:g} min", settings)
    return None


def _failed(node: Node, reason: str, settings: WarmUpSettings) -> WarmUpStep:
    if settings.on_failure is OnFailure.RELEASE:
        return WarmUpStep(Action.RELEASE, node.name, f"{reason}; the policy releases it anyway")
    return WarmUpStep(Action.REPORT, node.name, f"{reason}; it stays tainted")
