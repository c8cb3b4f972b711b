"""Drains nodes: cordons them, asks jobs for a checkpoint, and evicts through the Eviction API.

Whether and how far is decided in `actuator.drain`; this looks at fresh state and does one step. How
far a drain has come stands on the node itself, so that a restart goes on where it was. It deletes
nothing: an eviction that a disruption budget forbids does not happen.
"""

from collections.abc import Mapping, Sequence

from actuator.backends.back_end import Outcome, Standing
from actuator.backends.checkpoint_webhook import CheckpointWebhook
from actuator.backends.drain_view import (
    ASKED,
    SINCE,
    drain_node,
    is_untouchable,
    jobs_on,
    moment,
    with_checkpoints,
)
from actuator.backends.kubernetes_writes import MANAGER, found, listed, path_of, settled
from actuator.cluster.api_errors import NotThere, Throttled
from actuator.cluster.connection import Json, KubernetesConnection
from actuator.drain import DrainAction, DrainNode, DrainStep
from actuator.state import Node, Pod


class Drains:
    """Looks at nodes that may be drained, and takes one step of one of them at a time."""

    def __init__(
        self, connection: KubernetesConnection, webhook: CheckpointWebhook | None = None
    ) -> None:
        """Drains that ask nothing before they are asked.

        Args:
            connection: the API server.
            webhook: whom to ask for checkpoints besides the pods' annotations.
        """
        self._connection = connection
        self._webhook = webhook

    def observed(
        self, node: Node, pods: Sequence[Pod], hour_price: float | None, now_seconds: int
    ) -> DrainNode:
        """The node as it is now, with the jobs on it.

        Args:
            node: the node.
            pods: every pod of the cluster that requests GPUs, as the plan saw it.
            hour_price: price of the node for an hour; None where it is not known.
            now_seconds: Unix time of the decision.

        Raises:
            SourceUnavailable: it cannot be seen in full.
        """
        there = self._connection.get(path_of("v1", "nodes", "", node.name))
        here = {
            _full_name(one): one
            for one in listed(
                self._connection,
                path_of("v1", "pods"),
                fieldSelector=f"spec.nodeName={node.name}",
            )
            if one.get("status", {}).get("phase") not in {"Succeeded", "Failed"}
        }
        known = {one.name: one for one in pods}
        seen = drain_node(node, there, here, known, hour_price=hour_price, now_seconds=now_seconds)
        if self._webhook is None or not jobs_on(here, known):
            return seen
        return with_checkpoints(seen, self._webhook.reported([*jobs_on(here, known)]))

    def execute(self, step: DrainStep, now_seconds: int) -> Outcome:
        """Do one step, once; outside failures are outcomes."""
        if step.action is DrainAction.CORDON:
            return settled(lambda: self._cordon(step, now_seconds))
        if step.action is DrainAction.UNCORDON:
            return settled(lambda: self._uncordon(step))
        if step.action is DrainAction.ASK_FOR_CHECKPOINT:
            return settled(lambda: self._ask(step, now_seconds))
        if step.action is DrainAction.EVICT:
            return settled(lambda: self._evict(step, now_seconds))
        return Outcome(Standing.UNCHANGED, f"node {step.node}: {step.reason}")

    def _cordon(self, step: DrainStep, now_seconds: int) -> Outcome:
        node = self._connection.get(path_of("v1", "nodes", "", step.node))
        if node["spec"].get("unschedulable", False):
            return Outcome(Standing.UNCHANGED, f"node {step.node} is cordoned already")
        self._write(node, {SINCE: str(now_seconds)}, {"unschedulable": True})
        return Outcome(Standing.DONE, f"node {step.node} cordoned: {step.reason}")

    def _uncordon(self, step: DrainStep) -> Outcome:
        node = self._connection.get(path_of("v1", "nodes", "", step.node))
        if moment(node, SINCE) is None:
            return Outcome(Standing.UNCHANGED, f"node {step.node} is not cordoned by Tidecast")
        self._write(node, {SINCE: None, ASKED: None}, {"unschedulable": None})
        return Outcome(Standing.DONE, f"node {step.node} takes pods again: {step.reason}")

    def _ask(self, step: DrainStep, now_seconds: int) -> Outcome:
        node = self._connection.get(path_of("v1", "nodes", "", step.node))
        if moment(node, ASKED) is not None:
            return Outcome(Standing.UNCHANGED, f"node {step.node}: its jobs have been asked")
        for pod in step.pods:
            there = found(self._connection, _pod_path(pod))
            if there is not None:
                mark = {"metadata": {"annotations": {ASKED: str(now_seconds)}}}
                self._connection.merge(_pod_path(pod), mark, MANAGER)
        if self._webhook is not None:
            self._webhook.ask(step.pods)
        self._write(node, {ASKED: str(now_seconds)}, {})
        return Outcome(Standing.DONE, f"node {step.node}: asked {len(step.pods)} jobs to save")

    def _evict(self, step: DrainStep, now_seconds: int) -> Outcome:
        """Evict the pods that are still there: all of them, as far as budgets allow, or none."""
        there = [found(self._connection, _pod_path(pod)) for pod in step.pods]
        here = [one for one in there if one is not None and _is_staying(one, step.node)]
        protected = [_full_name(one) for one in here if is_untouchable(one, now_seconds)]
        if protected:
            return Outcome(Standing.REFUSED, f"node {step.node}: {protected[0]} is protected")
        held = [_full_name(one) for one in here if not self._is_evicted(one)]
        detail = f"node {step.node}: {len(here) - len(held)} of {len(step.pods)} pods evicted"
        if held:
            budget = f"the disruption budget of {held[0]} allows no eviction now"
            return Outcome(Standing.REFUSED, f"{detail}; {budget}")
        return Outcome(Standing.DONE if here else Standing.UNCHANGED, detail)

    def _is_evicted(self, pod: Json) -> bool:
        """Evict a pod; whether its disruption budget allowed it."""
        path = _pod_path(_full_name(pod), "eviction")
        try:
            self._connection.request("POST", path, {}, _eviction(pod))
        except Throttled:
            return False
        except NotThere:
            return True
        return True

    def _write(self, node: Json, marks: Mapping[str, str | None], spec: Json) -> None:
        """Change a node unless somebody wrote since it was read."""
        version = node["metadata"]["resourceVersion"]
        body = {"metadata": {"resourceVersion": version, "annotations": marks}, "spec": spec}
        self._connection.merge(path_of("v1", "nodes", "", node["metadata"]["name"]), body, MANAGER)


def _is_staying(pod: Json, node: str) -> bool:
    return pod["spec"].get("nodeName") == node and "deletionTimestamp" not in pod["metadata"]


def _full_name(pod: Json) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def _pod_path(pod: str, *parts: str) -> str:
    namespace, name = pod.split("/", 1)
    return path_of("v1", "pods", namespace, name, *parts)


def _eviction(pod: Json) -> Json:
    """An eviction of this pod and of no later one of its name."""
    metadata = pod["metadata"]
    return {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": metadata["name"], "namespace": metadata["namespace"]},
        "deleteOptions": {"preconditions": {"uid": metadata["uid"]}},
    }
