"""Sets the replicas of anything that has a `scale` subresource, as a group of nodes may have.

It lowers only where the nodes that go can be chosen, which Cluster API can do by a mark on their
Machines. Everything else decides by itself what it removes, and may take a node with a job on it;
there, lowering is refused.
"""

from collections.abc import Collection
from dataclasses import dataclass

from actuator.backends.back_end import Outcome, Request, Standing
from actuator.backends.kubernetes_writes import MANAGER, listed, path_of, settled
from actuator.backends.lowering import left_to_somebody_else, lowering
from actuator.backends.options import Options
from actuator.cluster.connection import Json, KubernetesConnection
from actuator.policy import NodePoolPolicy
from features.errors import BadInput

NAME = "scale"
OPTIONS = ("api_version", "resource", "namespace", "name", "victims")
DELETE_MACHINE = "cluster.x-k8s.io/delete-machine"
OWNER_LABELS = {
    "machinedeployments": "cluster.x-k8s.io/deployment-name",
    "machinesets": "cluster.x-k8s.io/set-name",
}


@dataclass(frozen=True)
class ScaleOptions:
    """What a node pool's options say.

    Attributes:
        api_version: group and version of the object, such as `cluster.x-k8s.io/v1beta1`.
        resource: its plural, such as `machinedeployments`.
        namespace: where it lives; empty for what lives in none.
        name: its name.
        victims: how the nodes that go are chosen: `none` or `cluster-api`.
    """

    api_version: str
    resource: str
    namespace: str
    name: str
    victims: str

    @classmethod
    def of(cls, node_pool: NodePoolPolicy) -> "ScaleOptions":
        """The options of a node pool.

        Raises:
            BadInput: one is missing, not known or cannot be used.
        """
        options = Options.of(node_pool, NAME, OPTIONS)
        made = cls(
            api_version=options.needed("api_version"),
            resource=options.needed("resource"),
            namespace=options.text("namespace", ""),
            name=options.needed("name"),
            victims=options.choice("victims", ("none", "cluster-api")),
        )
        if made.victims == "cluster-api" and made.resource not in OWNER_LABELS:
            raise BadInput(
                f"{options.where}: Machines of {made.resource} cannot be chosen; "
                f"'victims: cluster-api' needs {' or '.join(OWNER_LABELS)}"
            )
        return made


def check_options(node_pool: NodePoolPolicy) -> None:
    """Refuse options that this back end cannot use.

    Raises:
        BadInput: one is missing, not known or cannot be used.
    """
    ScaleOptions.of(node_pool)


class Scale:
    """Implements `actuator.backends.back_end.BackEnd` on `scale` subresources."""

    def __init__(self, connection: KubernetesConnection) -> None:
        """A back end that asks this API server."""
        self._connection = connection

    @property
    def name(self) -> str:
        """See `BackEnd.name`."""
        return NAME

    def apply(self, request: Request) -> Outcome:
        """See `BackEnd.apply`."""
        return settled(lambda: self._attempt(request))

    def _attempt(self, request: Request) -> Outcome:
        options = ScaleOptions.of(request.node_pool)
        scale = path_of(
            options.api_version, options.resource, options.namespace, options.name, "scale"
        )
        there = self._connection.get(scale)
        replicas = there.get("spec", {}).get("replicas", 0)
        meddled = (
            f"; it had {replicas}, not the {request.current_nodes} decided on"
            if replicas not in {request.current_nodes, request.desired_nodes}
            else ""
        )
        where = f"{options.resource}/{options.name}"
        if replicas == request.desired_nodes:
            return Outcome(Standing.UNCHANGED, f"{where}: has {replicas} replicas")
        left = left_to_somebody_else(request, replicas)
        if left is not None:
            return Outcome(Standing.REFUSED, f"{where}: {left}")
        target = request.desired_nodes
        if target < replicas:
            target, refusal = self._chosen(options, request, replicas)
            if refusal:
                return Outcome(Standing.REFUSED, f"{where}: {refusal}{meddled}")
        version = there["metadata"]["resourceVersion"]
        body = {"metadata": {"resourceVersion": version}, "spec": {"replicas": target}}
        self._connection.merge(scale, body, MANAGER)
        detail = f"{where}: asked for {target} replicas{meddled}"
        if target == request.desired_nodes:
            return Outcome(Standing.DONE, detail, target)
        return Outcome(Standing.REFUSED, f"{detail}; the others may not be removed", target)

    def _chosen(self, options: ScaleOptions, request: Request, replicas: int) -> tuple[int, str]:
        """How far it may be lowered, once those that go are marked; and why it may not be."""
        if options.victims == "none":
            return replicas, (
                f"not lowered from {replicas} to {request.desired_nodes}, because it would choose "
                "by itself which nodes go, jobs or not; 'victims' says how to choose"
            )
        selector = f"{OWNER_LABELS[options.resource]}={options.name}"
        path = path_of(options.api_version, "machines", options.namespace)
        machines = {
            one["metadata"]["name"]: one
            for one in listed(self._connection, path, labelSelector=selector)
            if "deletionTimestamp" not in one["metadata"]
        }
        by_node = {_node_of(one): name for name, one in machines.items()}
        removable = [by_node[node] for node in request.removable_nodes if node in by_node]
        less = lowering(request.desired_nodes, tuple(machines), removable)
        if less.target >= replicas:
            return replicas, (
                f"not lowered from {replicas} to {request.desired_nodes}, because that would "
                "remove nodes that are not named as removable"
            )
        marked = {name: value for name, one in machines.items() if (value := _mark(one))}
        strangers = [name for name in marked.keys() - set(less.going) if marked[name] != MANAGER]
        if strangers:
            return replicas, (
                f"not lowered, because somebody else has marked Machine {min(strangers)} for "
                "deletion, and its node may carry a job"
            )
        self._mark(path, marked.keys() - set(less.going), None)
        self._mark(path, set(less.going) - marked.keys(), MANAGER)
        return less.target, ""

    def _mark(self, path: str, machines: Collection[str], value: str | None) -> None:
        """Set or take away the mark by which Cluster API removes these first."""
        for name in sorted(machines):
            mark = {"metadata": {"annotations": {DELETE_MACHINE: value}}}
            self._connection.merge(f"{path}/{name}", mark, MANAGER)


def _node_of(machine: Json) -> str:
    """The name of a Machine's node; empty while it has none."""
    return str(((machine.get("status") or {}).get("nodeRef") or {}).get("name", ""))


def _mark(machine: Json) -> str:
    """The mark for deletion as it stands; empty if there is none."""
    annotations = machine["metadata"].get("annotations") or {}
    return str(annotations[DELETE_MACHINE] or "set") if DELETE_MACHINE in annotations else ""
