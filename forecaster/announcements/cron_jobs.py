"""GPU CronJobs of the cluster as announcements: known demand by their schedule and their requests.

A CronJob whose demand cannot be read, or that is suspended, announces nothing. How long it runs is
what its last run took, or its deadline, or an hour.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from features.errors import BadInput
from features.events import EventKind
from forecaster.announcements.announcement import LONGEST_SECONDS, Announcement, Origin
from forecaster.announcements.recurrence import Recurrence

USUAL_RUN_SECONDS = 3_600
LONGEST_PERIOD_SECONDS = 366 * 86_400
KubernetesObject = Mapping[str, Any]


@dataclass(frozen=True)
class PodNeed:
    """What one pod asks for.

    Attributes:
        gpus: GPUs of the pod.
        pool: the pool that it belongs to.
    """

    gpus: float
    pool: str


def announcement_of(
    cron_job: KubernetesObject,
    need_of: Callable[[KubernetesObject], PodNeed | None],
    now_seconds: int,
) -> Announcement | None:
    """A CronJob as an announcement that recurs; None where it asks for no GPU or is suspended.

    It begins with the first start after the CronJob was created, so that it says the same each time
    that it is read.

    Args:
        cron_job: the object as the API gives it (batch/v1).
        need_of: what a pod of a template asks for; None where it asks for no GPU.
        now_seconds: Unix time from which it is known.
    """
    spec, metadata = cron_job["spec"], cron_job["metadata"]
    job = spec["jobTemplate"]["spec"]
    pods = int(job.get("parallelism", 1))
    need = need_of(job["template"])
    if spec.get("suspend") or need is None or pods <= 0:
        return None
    try:
        recurrence = Recurrence(spec["schedule"], spec.get("timeZone") or "UTC")
    except BadInput:
        return None
    created = _seconds(metadata["creationTimestamp"])
    until = created + LONGEST_PERIOD_SECONDS
    first = next(iter(recurrence.starts(created, created, until, _never)), None)
    if first is None:
        return None
    name = f"{metadata['namespace']}/{metadata['name']}"
    return Announcement(
        identifier=f"cron-job/{name}",
        pool=need.pool,
        start_seconds=first,
        end_seconds=first + _run_seconds(cron_job, job),
        kind=EventKind.EXTRA,
        amount=need.gpus * pods,
        reason=f"CronJob {name}",
        owner=f"namespace {metadata['namespace']}",
        announced_seconds=now_seconds,
        recurrence=recurrence,
        origin=Origin.CRON_JOB,
    )


def _run_seconds(cron_job: KubernetesObject, job: KubernetesObject) -> int:
    """How long a run lasts: as the last one, or its deadline, or an hour."""
    status = cron_job.get("status", {})
    begun, ended = status.get("lastScheduleTime"), status.get("lastSuccessfulTime")
    if begun and ended and _seconds(ended) > _seconds(begun):
        return min(_seconds(ended) - _seconds(begun), LONGEST_SECONDS)
    return min(int(job.get("activeDeadlineSeconds", USUAL_RUN_SECONDS)), LONGEST_SECONDS)


def _seconds(moment: str) -> int:
    return int(datetime.fromisoformat(moment).timestamp())


def _never(_: object) -> bool:
    return False
