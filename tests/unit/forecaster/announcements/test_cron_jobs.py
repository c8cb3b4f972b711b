"""CronJobs that ask for GPUs are known demand; the rest announce nothing."""

from datetime import UTC, datetime
from typing import Any

import pytest

from features.events import EventKind
from forecaster.announcements.cron_jobs import PodNeed, announcement_of

NOW = int(datetime(2026, 3, 2, 12, tzinfo=UTC).timestamp())


def cron_job(spec: dict[str, Any] | None = None, job: dict[str, Any] | None = None) -> Any:
    """A nightly job of 4 pods with 8 GPUs each."""
    pod = {"containers": [{"resources": {"requests": {"nvidia.com/gpu": "8"}}}]}
    template = {"spec": {"parallelism": 4, "template": {"spec": pod}, **(job or {})}}
    return {
        "metadata": {
            "namespace": "ml",
            "name": "nightly",
            "creationTimestamp": "2026-03-02T12:00:00Z",
        },
        "spec": {"schedule": "0 2 * * *", "jobTemplate": template, **(spec or {})},
    }


def need(template: Any) -> PodNeed | None:
    """GPUs that the pod's only container requests."""
    gpus = float(template["spec"]["containers"][0]["resources"]["requests"]["nvidia.com/gpu"])
    return PodNeed(gpus, f"a100/{gpus:g}") if gpus else None


def announced(one: Any, now_seconds: int = NOW) -> Any:
    """What a CronJob announces."""
    return announcement_of(one, need, now_seconds)


def test_a_cron_job_announces_what_its_pods_ask_for_together() -> None:
    """Each time, from its next start on."""
    flood = announced(cron_job())
    assert (EventKind.EXTRA, 32, "a100/8") == (flood.kind, flood.amount, flood.pool)
    assert int(datetime(2026, 3, 3, 2, tzinfo=UTC).timestamp()) == flood.start_seconds
    assert 3_600 == flood.lasts_seconds
    assert "0 2 * * *" == flood.recurrence.rule
    assert "cron-job/ml/nightly" == flood.identifier


def test_it_says_the_same_each_time_it_is_read() -> None:
    """A month later too."""
    later = announced(cron_job(), NOW + 30 * 86_400)
    assert announced(cron_job()).start_seconds == later.start_seconds


def test_its_own_zone_counts() -> None:
    """Two at night in Tokyo."""
    flood = announced(cron_job({"timeZone": "Asia/Tokyo"}))
    assert int(datetime(2026, 3, 2, 17, tzinfo=UTC).timestamp()) == flood.start_seconds


def test_it_lasts_as_long_as_its_last_run_or_its_deadline() -> None:
    """What was measured goes before what is allowed."""
    limited = cron_job(job={"activeDeadlineSeconds": 900})
    assert 900 == announced(limited).lasts_seconds
    status = {
        "lastScheduleTime": "2026-03-02T02:00:00Z",
        "lastSuccessfulTime": "2026-03-02T02:30:00Z",
    }
    assert 1_800 == announced({**limited, "status": status}).lasts_seconds


@pytest.mark.parametrize(
    "silent",
    [
        cron_job({"suspend": True}),
        cron_job(job={"parallelism": 0}),
        cron_job({"schedule": "@nonsense"}),
        cron_job({"timeZone": "Mars/Olympus"}),
        cron_job({"schedule": "0 0 30 2 *"}),
    ],
)
def test_what_will_not_run_announces_nothing(silent: Any) -> None:
    """Suspended, without pods, or never due."""
    assert None is announced(silent)
