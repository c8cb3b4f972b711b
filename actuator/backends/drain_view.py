"""A node that is to be drained, as `actuator.drain` decides on it, from the API's objects.

What the plan has not seen, or what cannot be read, must never make an eviction more likely: such a
pod is untouchable, such a length of time endless.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from actuator.backends.kubernetes_writes import is_ours
from actuator.cluster.connection import Json
from actuator.cluster.marks import (
    checkpoint_seconds,
    instant_seconds,
    node_protections,
    pod_protections,
)
from actuator.drain import DrainJob, DrainNode
from actuator.state import Node, Pod, Protection
from features.errors import SourceUnavailable

SINCE = "tidecast.io/drained-since"
ASKED = "tidecast.io/checkpoint-asked"
ENDS = "tidecast.io/ends"
LENGTHS = {
    "fetch_seconds": "tidecast.io/checkpoint-fetch-seconds",
    "restart_seconds": "tidecast.io/restart-seconds",
    "catch_up_seconds": "tidecast.io/catch-up-seconds",
}
"""Annotations by which a job says what a restart costs it."""


def drain_node(
    node: Node,
    there: Json,
    here: Mapping[str, Json],
    known: Mapping[str, Pod],
    *,
    hour_price: float | None,
    now_seconds: int,
) -> DrainNode:
    """The node with the jobs on it.

    Args:
        node: as the plan saw it.
        there: as it is now.
        here: by `namespace/name`, the unfinished pods on it now.
        known: by `namespace/name`, the pods that the plan saw.
        hour_price: price of the node for an hour; None where it is not known.
        now_seconds: Unix time of the decision.

    Raises:
        SourceUnavailable: our own marks on it cannot be read.
    """
    marks = (*node.protections, *node_protections(annotations_of(there)))
    return DrainNode(
        name=node.name,
        gpus=node.gpus,
        hour_price=hour_price,
        jobs=(
            *(_job(pod, known[name], now_seconds) for name, pod in jobs_on(here, known).items()),
            *(_unseen(name) for name in here.keys() - known.keys() if _may_be_a_job(here[name])),
        ),
        protected=_is_any_held(marks, now_seconds),
        cordoned=bool(there["spec"].get("unschedulable", False)),
        drained_since_seconds=moment(there, SINCE),
        asked_seconds=moment(there, ASKED),
    )


def jobs_on(here: Mapping[str, Json], known: Mapping[str, Pod]) -> dict[str, Json]:
    """Of the pods on a node, those of jobs that the plan saw."""
    return {
        name: pod for name, pod in here.items() if name in known and not known[name].placeholder
    }


def with_checkpoints(node: DrainNode, saved_seconds: Mapping[str, int]) -> DrainNode:
    """The node with what was reported of its jobs' checkpoints besides their own marks.

    Args:
        node: the node.
        saved_seconds: by `namespace/name`, Unix time of the last checkpoint.
    """
    jobs = tuple(
        replace(job, checkpoint_seconds=max(job.checkpoint_seconds or 0, saved_seconds[job.pod]))
        if job.pod in saved_seconds
        else job
        for job in node.jobs
    )
    return replace(node, jobs=jobs)


def is_untouchable(pod: Json, now_seconds: int) -> bool:
    """Whether a mark that a pod has now protects it."""
    return _is_any_held(_pod_marks(pod), now_seconds)


def annotations_of(there: Json) -> dict[str, str]:
    """An object's annotations."""
    return there["metadata"].get("annotations") or {}


def moment(there: Json, annotation: str) -> int | None:
    """Unix time of an annotation; None if there is none.

    Raises:
        SourceUnavailable: it is no time.
    """
    text = annotations_of(there).get(annotation)
    if text is None:
        return None
    try:
        return instant_seconds(text)
    except ValueError as error:
        name = there["metadata"]["name"]
        raise SourceUnavailable(
            f"{name}: annotation {annotation} is '{text}', not a time with an offset"
        ) from error


def _job(there: Json, known: Pod, now_seconds: int) -> DrainJob:
    """A job's pod, from what the plan saw of it and from its own marks as they are now."""
    saved = (known.checkpoint_seconds, checkpoint_seconds(annotations_of(there)))
    marks = (*known.protections, *_pod_marks(there))
    stated = {
        name: _length_seconds(there, annotation)
        for name, annotation in LENGTHS.items()
        if annotation in annotations_of(there)
    }
    return DrainJob(
        pod=known.name,
        gpus=known.gpus,
        started_seconds=known.created_seconds,
        checkpoint_seconds=max((one for one in saved if one is not None), default=None),
        ends_seconds=moment(there, ENDS),
        protected=_is_any_held(marks, now_seconds),
        shared=known.job_pods > 1,
        **stated,
    )


def _unseen(name: str) -> DrainJob:
    """A pod that came after the plan was made: nothing is known of it, so nobody touches it."""
    return DrainJob(name, math.nan, 0, protected=True)


def _may_be_a_job(pod: Json) -> bool:
    """Whether it holds a GPU or another device, and is not ours.

    Devices are resources with a domain in their name.
    """
    if is_ours(pod):
        return False
    containers: list[Any] = pod["spec"].get("containers") or []
    resources = [one.get("resources") or {} for one in containers]
    return any("/" in name for one in resources for name in one.get("limits") or ())


def _pod_marks(pod: Json) -> tuple[Protection, ...]:
    """The marks that a pod has now; one that counts from a start we cannot read holds for ever."""
    try:
        started = instant_seconds(str(pod.get("status", {}).get("startTime", "")))
    except ValueError:
        started = None
    return pod_protections(annotations_of(pod), started)


def _is_any_held(marks: Iterable[Protection], now_seconds: int) -> bool:
    return any(mark.holds(now_seconds) for mark in marks)


def _length_seconds(there: Json, annotation: str) -> float:
    """A length of time that a job states; endless where it cannot be read."""
    try:
        seconds = float(annotations_of(there)[annotation])
    except ValueError:
        return math.inf
    return seconds if seconds >= 0 else math.inf
