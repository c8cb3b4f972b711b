"""Draining for real: fresh state decides, budgets are obeyed, and the way stands on the node."""

from dataclasses import replace
from typing import Any

import pytest

from actuator.backends.back_end import Standing
from actuator.backends.checkpoint_webhook import CheckpointWebhook
from actuator.backends.eviction import Drains
from actuator.cluster.connection import KubernetesConnection
from actuator.drain import DrainAction, DrainSettings, DrainStep, drain_step
from actuator.state import CapacityType, Node, Pod, Protection
from features.errors import SourceUnavailable
from tests.fakes.kubernetes_faults import BROKEN, CONFLICT
from tests.fakes.kubernetes_server import FakeKubernetes

NOW = 1_700_000_000
MINUTES = 60
NODE = Node(
    name="gpu-1",
    node_pool="gpu-a",
    zone="",
    capacity_type=CapacityType.SPOT,
    created_seconds=NOW - 9_000,
    gpus=8,
    ready=True,
)
TRAIN = Pod(
    name="ml/train",
    job="ml/train",
    job_pods=1,
    gpus=8,
    gpu_type="a100",
    node="gpu-1",
    created_seconds=NOW - 600,
)
SETTINGS = DrainSettings(allowed=True, horizon_seconds=48 * 3_600)
EVICT = DrainStep(DrainAction.EVICT, "gpu-1", "it pays", ("ml/train",))


def add_pod(cluster: FakeKubernetes, name: str = "train", node: str = "gpu-1", **more: Any) -> None:
    """A pod with 8 GPUs on the node."""
    gpus = {"limits": {"nvidia.com/gpu": "8"}}
    cluster.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": "ml", "labels": {"app": name}, **more},
            "spec": {"nodeName": node, "containers": [{"name": "c", "resources": gpus}]},
            "status": {"phase": "Running"},
        }
    )


@pytest.fixture(autouse=True)
def _cluster(cluster: FakeKubernetes) -> None:
    cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "gpu-1"}, "spec": {}})
    add_pod(cluster)


@pytest.fixture
def drains(connection: KubernetesConnection) -> Drains:
    return Drains(connection)


def node(cluster: FakeKubernetes) -> dict[str, Any]:
    """The node as it is."""
    return cluster.get("Node", "gpu-1")


def mark_pod(cluster: FakeKubernetes, annotations: dict[str, str | None]) -> None:
    """The job marks its pod."""
    cluster.patch("Pod", "train", {"metadata": {"annotations": annotations}}, "ml")


def next_step(drains: Drains, now_seconds: int, *pods: Pod) -> DrainStep:
    """The next step of the node as it is now."""
    there = drains.observed(NODE, pods or (TRAIN,), 16.0, now_seconds)
    return drain_step(there, now_seconds, SETTINGS)


def advance(drains: Drains, now_seconds: int, *pods: Pod) -> tuple[DrainAction, Standing]:
    """The next step of the node, and how far it came."""
    step = next_step(drains, now_seconds, *pods)
    return step.action, drains.execute(step, now_seconds).standing


def test_a_drain_goes_its_way_step_by_step(cluster: FakeKubernetes, drains: Drains) -> None:
    """What it has come to stands on the node; nothing is kept in memory."""
    assert (DrainAction.CORDON, Standing.DONE) == advance(drains, NOW)
    assert node(cluster)["spec"]["unschedulable"]
    assert str(NOW) == node(cluster)["metadata"]["annotations"]["tidecast.io/drained-since"]
    assert (DrainAction.WAIT, Standing.UNCHANGED) == advance(drains, NOW + 119 * MINUTES)
    asked = NOW + 120 * MINUTES
    assert (DrainAction.ASK_FOR_CHECKPOINT, Standing.DONE) == advance(drains, asked)
    pod = cluster.get("Pod", "train", "ml")
    assert str(asked) == pod["metadata"]["annotations"]["tidecast.io/checkpoint-asked"]
    assert (DrainAction.WAIT, Standing.UNCHANGED) == advance(drains, asked + 9 * MINUTES)
    assert (DrainAction.EVICT, Standing.DONE) == advance(drains, asked + 10 * MINUTES)
    assert [] == cluster.all("Pod")
    assert (DrainAction.EMPTY, Standing.UNCHANGED) == advance(drains, asked + 11 * MINUTES)
    assert node(cluster)["spec"]["unschedulable"]


def test_a_checkpoint_that_the_pod_reports_ends_the_wait(
    cluster: FakeKubernetes, drains: Drains
) -> None:
    """One of before the cordon does not."""
    mark_pod(cluster, {"tidecast.io/checkpointed-at": str(NOW - 1)})
    advance(drains, NOW)
    assert DrainAction.WAIT is advance(drains, NOW + MINUTES)[0]
    mark_pod(cluster, {"tidecast.io/checkpointed-at": str(NOW + MINUTES)})
    assert (DrainAction.EVICT, Standing.DONE) == advance(drains, NOW + 2 * MINUTES)


def test_a_budget_that_allows_no_eviction_is_obeyed(
    cluster: FakeKubernetes, drains: Drains
) -> None:
    """The next cycle asks again."""
    budget: dict[str, Any] = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "train", "namespace": "ml"},
        "spec": {"selector": {"matchLabels": {"app": "train"}}},
        "status": {"disruptionsAllowed": 0},
    }
    cluster.create(budget)
    outcome = drains.execute(EVICT, NOW)
    assert Standing.REFUSED is outcome.standing
    assert "the disruption budget of ml/train allows no eviction now" in outcome.detail
    assert 1 == len(cluster.all("Pod"))
    cluster.replace(budget | {"status": {"disruptionsAllowed": 1}})
    assert Standing.DONE is drains.execute(EVICT, NOW).standing


@pytest.mark.parametrize(
    "mark",
    [
        {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"},
        {"karpenter.sh/do-not-disrupt": "true"},
        {"tidecast.io/protected": "true"},
    ],
)
def test_a_mark_set_after_the_decision_protects(
    cluster: FakeKubernetes, drains: Drains, mark: dict[str, str]
) -> None:
    """Then nobody on the node is evicted, since it could not be emptied; a drain is undone."""
    add_pod(cluster, "other")
    advance(drains, NOW, TRAIN, replace(TRAIN, name="ml/other", job="ml/other"))
    mark_pod(cluster, dict(mark))
    outcome = drains.execute(replace(EVICT, pods=("ml/other", "ml/train")), NOW)
    assert (Standing.REFUSED, 2) == (outcome.standing, len(cluster.all("Pod")))
    assert (DrainAction.UNCORDON, Standing.DONE) == advance(drains, NOW)
    assert "unschedulable" not in node(cluster)["spec"]
    assert {} == node(cluster)["metadata"]["annotations"]


@pytest.mark.parametrize(
    "pod",
    [
        replace(TRAIN, protections=(Protection("tidecast.io/protected"),)),
        replace(TRAIN, job_pods=2),
        replace(TRAIN, name="ml/other"),
    ],
    ids=["protected when planned", "runs on other nodes too", "not seen when planned"],
)
def test_a_job_that_nobody_may_touch_keeps_its_node(
    cluster: FakeKubernetes, drains: Drains, pod: Pod
) -> None:
    """Nothing is written."""
    assert (DrainAction.KEEP, Standing.UNCHANGED) == advance(drains, NOW, pod)
    assert [] == cluster.asked("PATCH") + cluster.asked("POST")


def test_a_protected_node_is_kept(cluster: FakeKubernetes, drains: Drains) -> None:
    """By a mark that it has only now."""
    mark = {"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"}
    cluster.patch("Node", "gpu-1", {"metadata": {"annotations": mark}})
    assert DrainAction.KEEP is advance(drains, NOW)[0]


def test_pods_that_are_no_jobs_do_not_count(cluster: FakeKubernetes, drains: Drains) -> None:
    """Placeholders, pods that have ended, and our own."""
    cluster.patch("Pod", "train", {"status": {"phase": "Succeeded"}}, "ml")
    add_pod(cluster, "held")
    add_pod(cluster, "ours", labels={"app.kubernetes.io/managed-by": "tidecast"})
    held = replace(TRAIN, name="ml/held", placeholder=True)
    nothing = DrainStep(DrainAction.KEEP, "gpu-1", "it carries no job; nothing is to be drained")
    assert nothing == next_step(drains, NOW, TRAIN, held)


@pytest.mark.parametrize(
    "annotations",
    [
        {"tidecast.io/checkpoint-fetch-seconds": "soon"},
        {"tidecast.io/restart-seconds": "-1"},
        {"tidecast.io/catch-up-seconds": "nan"},
        {"tidecast.io/ends": str(NOW + MINUTES)},
    ],
)
def test_a_jobs_own_marks_count(
    cluster: FakeKubernetes, drains: Drains, annotations: dict[str, str]
) -> None:
    """One that ends soon is waited for, and a time that cannot be read is endless."""
    mark_pod(cluster, dict(annotations))
    assert DrainAction.KEEP is advance(drains, NOW)[0]


@pytest.mark.parametrize("annotation", ["tidecast.io/ends", "tidecast.io/drained-since"])
def test_a_time_that_cannot_be_read_stops_the_drain(
    cluster: FakeKubernetes, drains: Drains, annotation: str
) -> None:
    """With one line that says where it stands."""
    mark = {"metadata": {"annotations": {annotation: "tomorrow"}}}
    cluster.patch("Pod", "train", mark, "ml")
    cluster.patch("Node", "gpu-1", mark)
    with pytest.raises(SourceUnavailable, match=f"{annotation} is 'tomorrow', not a time"):
        next_step(drains, NOW)


def test_a_node_that_cannot_be_seen_in_full_is_not_seen(
    cluster: FakeKubernetes, drains: Drains
) -> None:
    """Half a picture is none."""
    cluster.fail_next(BROKEN, request="GET /api/v1/pods")
    with pytest.raises(SourceUnavailable, match="/api/v1/pods"):
        next_step(drains, NOW)


def test_a_step_that_the_server_refuses_is_an_outcome(
    cluster: FakeKubernetes, drains: Drains
) -> None:
    """With one line."""
    cluster.fail_next(BROKEN, request="PATCH")
    outcome = drains.execute(DrainStep(DrainAction.CORDON, "gpu-1", "it pays"), NOW)
    assert (Standing.FAILED, 1) == (outcome.standing, len(outcome.detail.splitlines()))


def test_a_write_in_between_is_looked_at(cluster: FakeKubernetes, drains: Drains) -> None:
    """A cordon of somebody else's is not made ours."""
    cluster.fail_next(CONFLICT, request="PATCH")
    assert (DrainAction.CORDON, Standing.DONE) == advance(drains, NOW)
    cluster.patch("Node", "gpu-1", {"metadata": {"annotations": None}})
    outcome = drains.execute(DrainStep(DrainAction.CORDON, "gpu-1", "it pays"), NOW)
    assert Standing.UNCHANGED is outcome.standing
    assert "annotations" not in node(cluster)["metadata"]
    uncordon = drains.execute(DrainStep(DrainAction.UNCORDON, "gpu-1", "no more"), NOW)
    assert Standing.UNCHANGED is uncordon.standing
    assert node(cluster)["spec"]["unschedulable"]


def test_a_pod_that_has_moved_is_not_evicted(cluster: FakeKubernetes, drains: Drains) -> None:
    """Nor one that is gone, or on its way out."""
    cluster.delete("Pod", "train", "ml")
    assert Standing.UNCHANGED is drains.execute(EVICT, NOW).standing
    add_pod(cluster, node="gpu-2")
    assert Standing.UNCHANGED is drains.execute(EVICT, NOW).standing
    cluster.delete("Pod", "train", "ml")
    add_pod(cluster, deletionTimestamp="2026-11-29T12:00:00Z")
    assert Standing.UNCHANGED is drains.execute(EVICT, NOW).standing
    assert [] == cluster.asked("POST")


class Told(CheckpointWebhook):
    """A webhook that answers without being called."""

    def __init__(self, saved_seconds: int | None) -> None:
        self.saved_seconds = saved_seconds
        self.asked: list[str] = []

    def ask(self, pods: Any) -> None:
        self.asked += pods

    def reported(self, pods: Any) -> dict[str, int]:
        if self.saved_seconds is None:
            raise SourceUnavailable("webhook: no answer")
        return dict.fromkeys(pods, self.saved_seconds)


def test_a_webhook_reports_and_is_asked(
    cluster: FakeKubernetes, connection: KubernetesConnection
) -> None:
    """For jobs that do not annotate their pods."""
    webhook = Told(NOW - 1)
    drains = Drains(connection, webhook)
    advance(drains, NOW)
    assert DrainAction.ASK_FOR_CHECKPOINT is advance(drains, NOW + 120 * MINUTES)[0]
    assert ["ml/train"] == webhook.asked
    webhook.saved_seconds = NOW + 121 * MINUTES
    assert (DrainAction.EVICT, Standing.DONE) == advance(drains, NOW + 122 * MINUTES)


def test_a_webhook_that_does_not_answer_stops_the_drain(connection: KubernetesConnection) -> None:
    """What was saved is then not known."""
    with pytest.raises(SourceUnavailable, match="no answer"):
        next_step(Drains(connection, Told(None)), NOW)
