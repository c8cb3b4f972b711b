"""What a back end acts on, looked at from outside: the same questions for every back end.

Each stage asks the outside system over its own API, so that it stands on a fake as on a real one.
Nodes are `node-0` and so on; a group that can lose nodes has four of them.
"""

import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from actuator.backends.aws_asg import AwsAsg
from actuator.backends.back_end import BackEnd, Request
from actuator.backends.capacity_buffer import API_VERSION, CapacityBuffer
from actuator.backends.headroom_pods import object_name
from actuator.backends.kubernetes_writes import path_of
from actuator.backends.placeholder import Placeholder
from actuator.backends.scale import DELETE_MACHINE, Scale
from actuator.cluster.access import ClusterAccess
from actuator.cluster.api_errors import NotThere
from actuator.cluster.connection import Json, KubernetesConnection
from tests.fakes.auto_scaling import REGION, FakeGroup, connected
from tests.fakes.requests import request

NODES = 4
TIMEOUT_SECONDS = 0.2
MACHINES = "cluster.x-k8s.io/v1beta1"


class Stage(Protocol):
    """One back end and what it acts on."""

    back_end: BackEnd

    def wanting(self, nodes: int, removable: tuple[str, ...] = ()) -> Request:
        """A request for so many nodes, or so many of headroom, instead of four."""
        ...

    def size(self) -> int | None:
        """What the outside system is asked to have; None if nothing was ever asked."""
        ...

    def version(self) -> str:
        """Something that changes with every write."""
        ...

    def meddled(self, nodes: int) -> BackEnd:
        """The back end, and somebody who sets another size just before its next write."""
        ...

    def silent(self) -> BackEnd:
        """The back end on a system that takes requests and never answers."""
        ...

    def nodes(self) -> set[str]:
        """The nodes there are once the outside system has done what it was asked for."""
        ...


class SilentServer:
    """A port that takes connections and never answers."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def close(self) -> None:
        """Give the port back."""
        self._socket.close()


class Meddled(KubernetesConnection):
    """A connection through which somebody else writes just before the first write."""

    def __init__(self, access: ClusterAccess, meddle: Callable[[], object]) -> None:
        super().__init__(access)
        self._meddle = [meddle]

    def request(self, method: str, path: str, *more: Any, **named: Any) -> Json:
        """A request, the first write of which comes second."""
        if method != "GET" and self._meddle:
            self._meddle.pop()()
        return super().request(method, path, *more, **named)


def silent_access(server: SilentServer) -> ClusterAccess:
    """The way to a server that never answers."""
    return ClusterAccess(url=server.url, request_timeout_seconds=TIMEOUT_SECONDS, attempts=1)


@dataclass
class HeadroomStage:
    """Placeholders or buffers: one object, whose replicas are the headroom."""

    build: Callable[[KubernetesConnection], BackEnd]
    api_version: str
    plural: str
    access: ClusterAccess
    silence: SilentServer

    def __post_init__(self) -> None:
        self.connection = KubernetesConnection(self.access)
        self.back_end = self.build(self.connection)
        for number in range(NODES):
            made = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node-{number}"}}
            self.connection.apply(path_of("v1", "nodes", "", f"node-{number}"), made, "stage")

    def wanting(self, nodes: int, removable: tuple[str, ...] = ()) -> Request:
        return request(
            self.back_end.name,
            {"node_selector": "pool=gpu-a"},
            current_nodes=NODES,
            desired_nodes=nodes,
            headroom_nodes=nodes,
            removable_nodes=removable,
        )

    def size(self) -> int | None:
        try:
            found: int = self.connection.get(self._path())["spec"]["replicas"]
        except NotThere:
            return None
        return found

    def version(self) -> str:
        return str(self.connection.get(self._path())["metadata"]["resourceVersion"])

    def meddled(self, nodes: int) -> BackEnd:
        patch = {"spec": {"replicas": nodes}}

        def meddle() -> None:
            with suppress(NotThere):
                self.connection.merge(self._path(), patch, "somebody")

        return self.build(Meddled(self.access, meddle))

    def silent(self) -> BackEnd:
        return self.build(KubernetesConnection(silent_access(self.silence)))

    def nodes(self) -> set[str]:
        listed = self.connection.get(path_of("v1", "nodes"))["items"]
        return {one["metadata"]["name"] for one in listed}

    def _path(self) -> str:
        name = object_name(self.wanting(0))
        return path_of(self.api_version, self.plural, "tidecast", name)


def placeholder_stage(access: ClusterAccess, silence: SilentServer) -> HeadroomStage:
    """Placeholders."""
    return HeadroomStage(Placeholder, "apps/v1", "deployments", access, silence)


def buffer_stage(access: ClusterAccess, silence: SilentServer) -> HeadroomStage:
    """Capacity buffers."""
    return HeadroomStage(CapacityBuffer, API_VERSION, "capacitybuffers", access, silence)


@dataclass
class ScaleStage:
    """A MachineDeployment, with a controller that removes marked Machines first."""

    access: ClusterAccess
    silence: SilentServer

    def __post_init__(self) -> None:
        self.connection = KubernetesConnection(self.access)
        self.back_end: BackEnd = Scale(self.connection)
        group = {"apiVersion": MACHINES, "kind": "MachineDeployment"}
        group |= {"metadata": {"name": "gpu"}, "spec": {"replicas": NODES}}
        self.connection.apply(self._path(), group, "stage")
        for number in range(NODES):
            name = f"machine-{number}"
            labels = {"cluster.x-k8s.io/deployment-name": "gpu"}
            machine = {"apiVersion": MACHINES, "kind": "Machine"}
            machine |= {"metadata": {"name": name, "labels": labels}}
            path = path_of(MACHINES, "machines", "tidecast", name)
            self.connection.apply(path, machine, "stage")
            status = {"status": {"nodeRef": {"name": f"node-{number}"}}}
            self.connection.merge(f"{path}/status", status, "stage")

    def wanting(self, nodes: int, removable: tuple[str, ...] = ()) -> Request:
        options = {
            "api_version": MACHINES,
            "resource": "machinedeployments",
            "namespace": "tidecast",
            "name": "gpu",
            "victims": "cluster-api",
        }
        return request(
            "scale",
            options,
            current_nodes=NODES,
            desired_nodes=nodes,
            removable_nodes=removable,
        )

    def size(self) -> int:
        found: int = self.connection.get(self._path())["spec"]["replicas"]
        return found

    def version(self) -> str:
        return str(self.connection.get(self._path())["metadata"]["resourceVersion"])

    def meddled(self, nodes: int) -> BackEnd:
        patch = {"spec": {"replicas": nodes}}
        meddle = lambda: self.connection.merge(self._path(), patch, "somebody")  # noqa: E731 -- once
        return Scale(Meddled(self.access, meddle))

    def silent(self) -> BackEnd:
        return Scale(KubernetesConnection(silent_access(self.silence)))

    def nodes(self) -> set[str]:
        """As Cluster API decides: marked ones first, then any."""
        machines = self.connection.get(path_of(MACHINES, "machines", "tidecast"))["items"]
        marked_last = sorted(
            machines, key=lambda one: DELETE_MACHINE in (one["metadata"].get("annotations") or {})
        )
        return {one["status"]["nodeRef"]["name"] for one in marked_last[: self.size()]}

    def _path(self) -> str:
        return path_of(MACHINES, "machinedeployments", "tidecast", "gpu")


@dataclass
class AutoScalingStage:
    """An Auto Scaling group, which moto's server shrinks by itself."""

    endpoint: str
    name: str
    silence: SilentServer

    def __post_init__(self) -> None:
        self.client = connected(self.endpoint, REGION)
        self.group = FakeGroup.create(self.client, self.name, NODES)
        self.names = {one: f"node-{number}" for number, one in enumerate(self.group.instances)}
        self.back_end: BackEnd = AwsAsg(lambda _: self.client)

    def wanting(self, nodes: int, removable: tuple[str, ...] = ()) -> Request:
        ids = {name: f"aws:///{REGION}a/{instance}" for instance, name in self.names.items()}
        return request(
            "aws_asg",
            {"group": self.name},
            current_nodes=NODES,
            desired_nodes=nodes,
            removable_nodes=removable,
            provider_ids=ids,
        )

    def size(self) -> int:
        return self.group.desired

    def version(self) -> str:
        return str(self.group.described)

    def meddled(self, nodes: int) -> BackEnd:
        return AwsAsg(lambda _: _MeddledClient(self.group, nodes))

    def silent(self) -> BackEnd:
        return AwsAsg(lambda region: connected(self.silence.url, region, TIMEOUT_SECONDS))

    def nodes(self) -> set[str]:
        return {self.names.get(one, one) for one in self.group.instances}


class _MeddledClient:
    """A client through which somebody else sets another size just before the first write."""

    def __init__(self, group: FakeGroup, nodes: int) -> None:
        self._group, self._sizes = group, [nodes]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("set_") and self._sizes:
            self._group.set_desired(self._sizes.pop())
        return getattr(self._group.client, name)
