"""From a Kubernetes API and a policy to a Deployment and a record, through the command line."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forecaster.clock import now_seconds
from tests.fakes.command_line import Command
from tests.fakes.kubernetes_bodies import node_body, pod_body
from tests.fakes.kubernetes_server import FakeKubernetes

POLICY = """\
pools:
  - pool: NVIDIA-A100/whole-node
    mode: act
    node_gpus: 8
    floor_nodes: 5
    ceiling_nodes: 20
    node_pools:
      - name: a100
        back_end: placeholder
        options:
          node_selector: karpenter.sh/nodepool=a100
"""
DEPLOYMENTS = "/apis/apps/v1/namespaces/tidecast/deployments"


@pytest.fixture
def server() -> Iterator[FakeKubernetes]:
    """Three nodes of eight GPUs, two of which carry a job."""
    with FakeKubernetes() as fake:
        for number in range(3):
            fake.create(node_body(f"node-{number}", node_pool="a100"))
        for number in range(2):
            fake.create(pod_body(f"job-{number}", gpus=8, node=f"node-{number}", phase="Running"))
        yield fake


@pytest.fixture
def acting(tidecast: Command, server: FakeKubernetes, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command line on that cluster, with a policy in force."""
    monkeypatch.setenv("TIDECAST_CLUSTER__URL", server.url)
    Path("policy.yaml").write_text(POLICY, encoding="utf-8")
    assert 0 == tidecast("policy", "apply", "policy.yaml").code
    return tidecast


def cron_job_body(name: str, gpus: int, pods: int) -> Any:
    """A CronJob that runs every night."""
    limits = {"nvidia.com/gpu": str(gpus)} if gpus else {}
    container = {"name": "main", "image": "train", "resources": {"limits": limits}}
    template = {"spec": {"containers": [container], "restartPolicy": "Never"}}
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {
            "name": name,
            "namespace": "ml",
            "creationTimestamp": "2026-03-01T00:00:00Z",
        },
        "spec": {
            "schedule": "0 2 * * *",
            "jobTemplate": {"spec": {"parallelism": pods, "template": template}},
        },
    }


def replicas(server: FakeKubernetes) -> list[int]:
    """Of the Deployments that hold headroom."""
    return [one["spec"]["replicas"] for one in server.all("Deployment")]


def the_pool(answer: Any) -> Any:
    """The one pool of a plan."""
    (pool,) = answer["pools"]
    return pool


def test_a_plan_asks_for_nothing(acting: Command, server: FakeKubernetes) -> None:
    """It says what it would do, and reads only."""
    pool = the_pool(acting("plan", "--output", "json").answer)
    assert (3, 5, "floor") == (pool["current_nodes"], pool["desired_nodes"], pool["bound_by"])
    assert 16 == pool["seen"]["used_gpus"]
    assert {"GET"} == {one.method for one in server.requests}


def test_acting_holds_headroom_once_and_puts_it_on_record(
    acting: Command, server: FakeKubernetes
) -> None:
    """Five nodes, two of them taken: three placeholders; asked again, nothing changes."""
    first = acting("act", "--output", "json").answer
    assert [("a100", 5, "done")] == [
        (one["node_pool"], one["desired_nodes"], one["standing"]) for one in first["requests"]
    ]
    assert [3] == replicas(server)
    again = acting("act", "--output", "json").answer
    assert [] == again["requests"]
    assert 5 == the_pool(again["plan"])["current_nodes"]
    (decision,) = acting("audit", "list", "--output", "json").answer["decisions"]
    explained = acting("audit", "explain", decision["identifier"]).out
    assert "the pool's own floor" in explained


def test_placeholders_shrink_as_demand_lands(acting: Command, server: FakeKubernetes) -> None:
    """A third job on the third node leaves two of five nodes to hold."""
    acting("act")
    server.create(pod_body("job-2", gpus=8, node="node-2", phase="Running"))
    acting("act")
    assert [2] == replicas(server)


def test_a_dry_run_touches_nothing(acting: Command, server: FakeKubernetes) -> None:
    """It says what would be asked for."""
    answer = acting("act", "--dry-run", "--output", "json").answer
    assert ["a100"] == [one["node_pool"] for one in answer["requests"]]
    assert {"GET"} == {one.method for one in server.requests}
    assert [] == acting("audit", "list", "--output", "json").answer["decisions"]


def test_an_api_that_does_not_answer_holds_everything(
    acting: Command, server: FakeKubernetes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The floor is not sent either where it is met by what is believed to be there."""
    monkeypatch.setenv("TIDECAST_CLUSTER__SYNC_TIMEOUT_SECONDS", "0.3")
    monkeypatch.setenv("TIDECAST_CLUSTER__REQUEST_TIMEOUT_SECONDS", "0.3")
    server.stop()
    plan = acting("plan", "--output", "json").answer
    assert "the cluster is not wholly in view" in " ".join(the_pool(plan)["advice"])
    assert plan["warnings"]


def test_cron_jobs_of_the_cluster_are_announced(
    acting: Command, server: FakeKubernetes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What they ask for is known demand; one that goes takes its announcement with it."""
    monkeypatch.setenv("TIDECAST_ANNOUNCEMENTS__CRON_JOBS", "true")
    server.create(cron_job_body("nightly", gpus=8, pods=3))
    server.create(cron_job_body("report", gpus=0, pods=1))
    ran = acting("job", "run", "cron-jobs")
    assert "1 of 2 CronJobs ask for GPUs; 1 are new" in ran.out
    (said,) = acting("announce", "list", "--output", "json").answer["announcements"]
    assert ("NVIDIA-A100/whole-node", 24) == (said["pool"], said["amount"])
    server.delete("CronJob", "nightly", "ml")
    later = now_seconds() + 900
    monkeypatch.setattr("forecaster.clock.now_seconds", lambda: later)
    assert "1 gone" in acting("job", "run", "cron-jobs").out


def test_without_a_policy_it_says_what_to_do(tidecast: Command) -> None:
    """In one line."""
    ran = tidecast("plan")
    assert 2 == ran.code
    assert "tidecast policy apply" in ran.err.splitlines()[-1]
