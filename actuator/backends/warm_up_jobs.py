"""Warms up new nodes: starts a user's Job on each, and takes the start-up taint away.

What to do is decided in `actuator.warm_up`; this looks at fresh state and does it, once. It must
never take away any other taint, and never touch a Job that it did not make.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from actuator.backends.back_end import Outcome, Standing
from actuator.backends.kubernetes_writes import (
    MANAGED_BY,
    MANAGER,
    fixed_name,
    found,
    listed,
    path_of,
    settled,
)
from actuator.cluster.connection import Json, KubernetesConnection
from actuator.state import Node
from actuator.warm_up import (
    WARMING_TAINT,
    Action,
    JobStatus,
    WarmUpJob,
    WarmUpSettings,
    WarmUpStep,
    warm_up_steps,
)
from features.errors import BadInput

WARM_UP = {"tidecast.io/purpose": "warm-up"}
NODE = "tidecast.io/node"


def job_template(text: str) -> Json:
    """A user's Job as YAML; name, node and toleration are set later, for each node.

    Raises:
        BadInput: it is no Job that could run.
    """
    import yaml

    try:
        job = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise BadInput(f"warm-up Job: not YAML ({' '.join(str(error).split())})") from error
    if not isinstance(job, dict) or (job.get("apiVersion"), job.get("kind")) != ("batch/v1", "Job"):
        raise BadInput("warm-up Job: it must be a Job with apiVersion batch/v1")
    value: Any = job
    for name in ("spec", "template", "spec", "containers"):
        value = value.get(name) if isinstance(value, dict) else None
    if not isinstance(value, list) or not value:
        raise BadInput("warm-up Job: spec.template.spec.containers must name what it runs")
    return job


class WarmUpJobs:
    """Starts Jobs on new nodes, and lets the nodes go on."""

    def __init__(
        self,
        connection: KubernetesConnection,
        template: Json,
        settings: WarmUpSettings,
        namespace: str = "tidecast",
    ) -> None:
        """Warm-ups that ask nothing before they are asked.

        Args:
            connection: the API server.
            template: the Job, as `job_template` gives it.
            settings: how warm-ups are judged.
            namespace: where the Jobs live.
        """
        self._connection = connection
        self._template = template
        self._settings = settings
        self._namespace = namespace

    def advance(
        self, nodes: Iterable[Node], now_seconds: int
    ) -> tuple[tuple[WarmUpStep, Outcome], ...]:
        """Do what is to be done now; nothing where the Jobs cannot be seen.

        Args:
            nodes: nodes in view.
            now_seconds: Unix time of the decision.

        Raises:
            SourceUnavailable: the Jobs cannot be listed.
        """
        cold = [node for node in nodes if not node.warmed]
        if not cold:
            return ()
        steps = warm_up_steps(cold, self.jobs(), now_seconds, self._settings)
        return tuple((step, self.execute(step)) for step in steps)

    def jobs(self) -> dict[str, WarmUpJob]:
        """The warm-up Jobs there are, by node name.

        Raises:
            SourceUnavailable: they cannot be listed.
        """
        selector = ",".join(f"{name}={value}" for name, value in (MANAGED_BY | WARM_UP).items())
        jobs = listed(self._connection, self._path(), labelSelector=selector)
        seen = (_seen(job) for job in jobs)
        return {job.node: job for job in seen}

    def execute(self, step: WarmUpStep) -> Outcome:
        """Do one step, once; outside failures are outcomes, and a report is a failure."""
        if step.action is Action.START_JOB:
            return settled(lambda: self._start(step.node))
        if step.action is Action.RELEASE:
            return settled(lambda: self._release(step))
        return Outcome(Standing.FAILED, f"node {step.node}: {step.reason}")

    def _path(self, *names: str) -> str:
        return path_of("batch/v1", "jobs", self._namespace, *names)

    def _start(self, node_name: str) -> Outcome:
        node = found(self._connection, path_of("v1", "nodes", "", node_name))
        name = fixed_name("warm-up", node_name)
        if node is None or not _other_taints(node)[1]:
            return Outcome(Standing.UNCHANGED, f"node {node_name} does not warm up any more")
        if found(self._connection, self._path(name)) is not None:
            return Outcome(Standing.UNCHANGED, f"node {node_name} has its Job {name} already")
        self._connection.request("POST", self._path(), {"fieldManager": MANAGER}, self._job(node))
        return Outcome(Standing.DONE, f"node {node_name}: started Job {name}")

    def _release(self, step: WarmUpStep) -> Outcome:
        path = path_of("v1", "nodes", "", step.node)
        node = found(self._connection, path)
        others, is_warming = ([], False) if node is None else _other_taints(node)
        if node is None or not is_warming:
            return Outcome(Standing.UNCHANGED, f"node {step.node} does not warm up any more")
        version = node["metadata"]["resourceVersion"]
        body = {"metadata": {"resourceVersion": version}, "spec": {"taints": others}}
        self._connection.merge(path, body, MANAGER)
        return Outcome(Standing.DONE, f"node {step.node} released: {step.reason}")

    def _job(self, node: Json) -> Json:
        """The user's Job, bound to this node and gone with it."""
        name, given = node["metadata"]["name"], self._template
        metadata = given.get("metadata") or {}
        spec, template = given["spec"], given["spec"]["template"]
        # a Job that removed itself would be started again before its success was seen
        lasting = {name: value for name, value in spec.items() if name != "ttlSecondsAfterFinished"}
        return given | {
            "metadata": {
                "name": fixed_name("warm-up", name),
                "namespace": self._namespace,
                "labels": (metadata.get("labels") or {}) | MANAGED_BY | WARM_UP,
                "annotations": (metadata.get("annotations") or {}) | {NODE: name},
                "ownerReferences": [
                    {
                        "apiVersion": "v1",
                        "kind": "Node",
                        "name": name,
                        "uid": node["metadata"]["uid"],
                    }
                ],
            },
            "spec": {"activeDeadlineSeconds": self._settings.timeout_seconds, "backoffLimit": 2}
            | lasting
            | {"template": template | _bound(template, name)},
        }


def _bound(template: Json, node: str) -> Json:
    """A pod template that fits this node alone, as a DaemonSet's does, and bears its taint."""
    only = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    metadata, spec = template.get("metadata") or {}, template["spec"]
    here = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [only]}}
    toleration = {"key": WARMING_TAINT, "operator": "Exists"}
    return {
        "metadata": metadata | {"labels": (metadata.get("labels") or {}) | MANAGED_BY | WARM_UP},
        "spec": {"restartPolicy": "Never"}
        | spec
        | {
            "affinity": (spec.get("affinity") or {}) | {"nodeAffinity": here},
            "tolerations": [*(spec.get("tolerations") or []), toleration],
        },
    }


def _other_taints(node: Json) -> tuple[list[Json], bool]:
    """A node's taints without that of the warm-up, and whether it had that one."""
    taints = node.get("spec", {}).get("taints") or []
    others = [one for one in taints if one.get("key") != WARMING_TAINT]
    return others, len(others) < len(taints)


def _seen(job: Json) -> WarmUpJob:
    metadata = job["metadata"]
    true = {
        one.get("type")
        for one in job.get("status", {}).get("conditions", ())
        if one.get("status") == "True"
    }
    status = JobStatus.UNFINISHED
    if "Failed" in true:
        status = JobStatus.FAILED
    elif "Complete" in true:
        status = JobStatus.SUCCEEDED
    created = datetime.fromisoformat(metadata["creationTimestamp"])
    node = (metadata.get("annotations") or {}).get(NODE, "")
    return WarmUpJob(node, status, int(created.timestamp()))
