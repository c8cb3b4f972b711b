"""GPU CronJobs of the cluster as announcements: what they ask for is known before it comes."""

from collections.abc import Callable, Sequence
from contextlib import closing

from actuator.cluster.connection import Json
from actuator.cluster.objects import ObjectReader
from actuator.policy import PoolPolicy
from features.errors import BadInput
from forecaster.acting_wiring import connection_of, read_settings_of
from forecaster.announcements.announcement import Announcement
from forecaster.announcements.cron_jobs import KubernetesObject, PodNeed, announcement_of
from forecaster.database import Database
from forecaster.database.announcements import Announcements
from forecaster.database.policy_versions import PolicyVersions
from forecaster.wiring import Workspace

PATH = "/apis/batch/v1/cronjobs"
SOURCE = "cron-jobs"


def take_cron_jobs(workspace: Workspace, database: Database, now_seconds: int) -> str:
    """Announce what the cluster's CronJobs will ask of the policy's pools; say what is new.

    Raises:
        BadInput: no way to the cluster is configured.
        SourceUnavailable: it does not answer; what was announced before stands.
    """
    current = PolicyVersions(database).current()
    if current is None:
        return "no policy is in force, so no pool is known"
    need_of = _need_by(ObjectReader(read_settings_of(workspace)), current.policy.pools)
    with closing(connection_of(workspace)) as connection:
        found = [one for page in connection.pages(PATH) for one in page["items"]]
    made = (_announced(one, need_of, now_seconds) for one in found)
    said = [one for one in made if one is not None]
    done = Announcements(database).replace(SOURCE, said, now_seconds)
    return (
        f"{len(said)} of {len(found)} CronJobs ask for GPUs; {len(done.added)} are new, "
        f"{len(done.changed)} changed, {len(done.cancelled)} gone"
    )


def _announced(
    cron_job: Json, need_of: Callable[[KubernetesObject], PodNeed | None], now_seconds: int
) -> Announcement | None:
    """What a CronJob announces; nothing where it cannot be read."""
    try:
        return announcement_of(cron_job, need_of, now_seconds)
    except (BadInput, LookupError, TypeError, ValueError):
        return None


def _need_by(
    reader: ObjectReader, pools: Sequence[PoolPolicy]
) -> Callable[[KubernetesObject], PodNeed | None]:
    """Reads a pod template as a pod of it would be read, and finds its pool."""

    def need_of(template: KubernetesObject) -> PodNeed | None:
        metadata = {"name": "one", "namespace": "one", "creationTimestamp": "1970-01-01T00:00:00Z"}
        body = {
            "metadata": {**(template.get("metadata") or {}), **metadata},
            "spec": template["spec"],
        }
        read = reader.pod(body)
        if read is None:
            return None
        pool = _pool_for(read.pod.gpu_type, read.pod.gpus, pools)
        return None if pool is None else PodNeed(read.pod.gpus, pool)

    return need_of


def _pool_for(gpu_type: str, gpus: float, pools: Sequence[PoolPolicy]) -> str | None:
    """The first pool of that GPU type, or of any where none is named, whose shape fits."""
    for pool in pools:
        shape = "whole-node" if gpus >= pool.node_gpus else "fragment"
        if gpu_type in ("", pool.gpu_type) and pool.shape in (shape, "mixed"):
            return pool.pool
    return None
