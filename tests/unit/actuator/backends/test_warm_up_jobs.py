"""Warm-up Jobs: one per node with a fixed name, bound to it, and the taint goes when it is done."""

from dataclasses import replace
from typing import Any

import pytest

from actuator.backends.back_end import Outcome, Standing
from actuator.backends.warm_up_jobs import WarmUpJobs, job_template
from actuator.cluster.connection import KubernetesConnection
from actuator.state import CapacityType, Node
from actuator.warm_up import Action, JobStatus, OnFailure, WarmUpSettings
from features.errors import BadInput
from tests.fakes.kubernetes_faults import CONFLICT, HANG_AFTER
from tests.fakes.kubernetes_server import FakeKubernetes

TEMPLATE = """
apiVersion: batch/v1
kind: Job
metadata: {name: chosen-by-the-user, labels: {team: ml}}
spec:
  ttlSecondsAfterFinished: 60
  template:
    spec:
      tolerations: [{key: nvidia.com/gpu, operator: Exists}]
      containers: [{name: pull, image: trainer}]
"""
GPU_TAINT = {"key": "nvidia.com/gpu", "effect": "NoSchedule"}
WARMING = {"key": "tidecast.io/warming", "effect": "NoSchedule"}
NEW = Node(
    name="gpu-1",
    node_pool="gpu-a",
    zone="",
    capacity_type=CapacityType.SPOT,
    created_seconds=1_000,
    gpus=8,
    ready=True,
    warmed=False,
)
NOW = 4_000_000_000  # later than any Job of the fake


@pytest.fixture(autouse=True)
def _node(cluster: FakeKubernetes) -> None:
    cluster.create(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "gpu-1"},
            "spec": {"taints": [GPU_TAINT, WARMING]},
        }
    )


@pytest.fixture
def warm_ups(connection: KubernetesConnection) -> WarmUpJobs:
    settings = WarmUpSettings(timeout_seconds=NOW)
    return WarmUpJobs(connection, job_template(TEMPLATE), settings)


def only_job(cluster: FakeKubernetes) -> dict[str, Any]:
    """The only Job there is."""
    (job,) = cluster.all("Job")
    return job


def end_job(cluster: FakeKubernetes, condition: str) -> None:
    """The Job controller has seen its end."""
    name = only_job(cluster)["metadata"]["name"]
    status = {"conditions": [{"type": condition, "status": "True"}]}
    cluster.patch("Job", name, {"status": status}, "tidecast")


def taints(cluster: FakeKubernetes) -> list[dict[str, str]]:
    """The node's taints."""
    found: list[dict[str, str]] = cluster.get("Node", "gpu-1")["spec"]["taints"]
    return found


def test_a_new_node_gets_the_users_job(cluster: FakeKubernetes, warm_ups: WarmUpJobs) -> None:
    """Bound to the node, bearing its taint, and gone when the node goes."""
    ((step, outcome),) = warm_ups.advance([NEW], NOW)
    assert (Action.START_JOB, Standing.DONE) == (step.action, outcome.standing)
    job = only_job(cluster)
    assert job["metadata"]["name"].startswith("tidecast-warm-up-gpu-1-")
    assert "ml" == job["metadata"]["labels"]["team"]
    assert (
        cluster.get("Node", "gpu-1")["metadata"]["uid"]
        == (job["metadata"]["ownerReferences"][0]["uid"])
    )
    pod = job["spec"]["template"]["spec"]
    assert ["nvidia.com/gpu", "tidecast.io/warming"] == [one["key"] for one in pod["tolerations"]]
    terms = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert [{"key": "metadata.name", "operator": "In", "values": ["gpu-1"]}] == (
        terms["nodeSelectorTerms"][0]["matchFields"]
    )
    assert ("Never", NOW) == (pod["restartPolicy"], job["spec"]["activeDeadlineSeconds"])
    assert "ttlSecondsAfterFinished" not in job["spec"]


def test_a_job_is_started_once(cluster: FakeKubernetes, warm_ups: WarmUpJobs) -> None:
    """Whatever the view of the caller."""
    ((step, _),) = warm_ups.advance([NEW], NOW)
    assert () == warm_ups.advance([NEW], NOW)
    assert Standing.UNCHANGED is warm_ups.execute(step).standing
    assert 1 == len(cluster.asked("POST", "/jobs"))


def test_an_answer_that_is_lost_starts_no_second_job(
    cluster: FakeKubernetes, connection: KubernetesConnection, warm_ups: WarmUpJobs
) -> None:
    """The fixed name makes twice once; the next cycle sees it."""
    cluster.fail_next(HANG_AFTER, request="POST")
    impatient = KubernetesConnection(replace(connection.access, request_timeout_seconds=0.3))
    settings = WarmUpSettings(timeout_seconds=NOW)
    ((_, outcome),) = WarmUpJobs(impatient, job_template(TEMPLATE), settings).advance([NEW], NOW)
    assert Standing.FAILED is outcome.standing
    assert () == warm_ups.advance([NEW], NOW)
    assert 1 == len(cluster.all("Job"))


def test_success_takes_away_our_taint_and_no_other(
    cluster: FakeKubernetes, warm_ups: WarmUpJobs
) -> None:
    """The next time there is nothing left to do."""
    warm_ups.advance([NEW], NOW)
    end_job(cluster, "Complete")
    ((step, outcome),) = warm_ups.advance([NEW], NOW)
    assert "node gpu-1 released: its warm-up has succeeded" == outcome.detail
    assert [GPU_TAINT] == taints(cluster)
    assert Standing.UNCHANGED is warm_ups.execute(step).standing


def test_a_taint_that_comes_in_between_is_kept(
    cluster: FakeKubernetes, warm_ups: WarmUpJobs
) -> None:
    """Taints are written as they were read, or read again."""
    warm_ups.advance([NEW], NOW)
    end_job(cluster, "Complete")
    cluster.fail_next(CONFLICT, request="PATCH /api/v1/nodes")
    ((_, outcome),) = warm_ups.advance([NEW], NOW)
    assert Standing.DONE is outcome.standing
    patches = [one for one in cluster.requests if one.path == "/api/v1/nodes/gpu-1"]
    assert ["GET", "PATCH", "GET", "PATCH"] == [one.method for one in patches][-4:]


@pytest.mark.parametrize(
    ("policy", "standing", "left"),
    [
        (OnFailure.KEEP, Standing.FAILED, [GPU_TAINT, WARMING]),
        (OnFailure.RELEASE, Standing.DONE, [GPU_TAINT]),
    ],
)
def test_a_failure_follows_the_policy(
    cluster: FakeKubernetes,
    connection: KubernetesConnection,
    policy: OnFailure,
    standing: Standing,
    left: list[dict[str, str]],
) -> None:
    """It is reported, or the node goes on without."""
    warm_ups = WarmUpJobs(connection, job_template(TEMPLATE), WarmUpSettings(NOW, policy))
    warm_ups.advance([NEW], NOW)
    end_job(cluster, "Failed")
    ((_, outcome),) = warm_ups.advance([NEW], NOW)
    assert standing is outcome.standing
    assert "its warm-up has failed" in outcome.detail
    assert left == taints(cluster)


def test_a_job_that_is_suspended_or_merely_failing_has_not_ended(
    cluster: FakeKubernetes, warm_ups: WarmUpJobs
) -> None:
    """Only the two conditions of its end count."""
    warm_ups.advance([NEW], NOW)
    end_job(cluster, "Suspended")
    assert JobStatus.UNFINISHED is warm_ups.jobs()["gpu-1"].status


def test_without_cold_nodes_nothing_is_asked(cluster: FakeKubernetes, warm_ups: WarmUpJobs) -> None:
    """A warm cluster costs no request."""
    assert () == warm_ups.advance([replace(NEW, warmed=True)], NOW)
    assert [] == cluster.requests


def test_a_node_that_is_gone_gets_no_job(cluster: FakeKubernetes, warm_ups: WarmUpJobs) -> None:
    """Fresh state decides."""
    cluster.delete("Node", "gpu-1")
    ((_, outcome),) = warm_ups.advance([NEW], NOW)
    assert Outcome(Standing.UNCHANGED, "node gpu-1 does not warm up any more") == outcome
    assert [] == cluster.all("Job")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: [", "not YAML"),
        ("kind: Pod", "it must be a Job"),
        ("- 1", "it must be a Job"),
        ("{apiVersion: batch/v1, kind: Job}", "must name what it runs"),
        ("{apiVersion: batch/v1, kind: Job, spec: {template: 1}}", "must name what it runs"),
    ],
)
def test_a_template_that_is_no_job_is_one_line(text: str, problem: str) -> None:
    """Before any node waits for it."""
    with pytest.raises(BadInput, match=f"warm-up Job: .*{problem}"):
        job_template(text)
