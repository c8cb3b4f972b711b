"""Which resources the fake Kubernetes API server serves, under which paths, in which shapes."""

from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
Key = tuple[str, str]


@dataclass(frozen=True)
class Resource:
    """One kind of object that is served.

    Attributes:
        api_version: group and version, such as `apps/v1`.
        kind: such as `Deployment`.
        plural: as paths have it.
        namespaced: whether its objects live in namespaces.
        scalable: whether it has the `scale` subresource.
    """

    api_version: str
    kind: str
    plural: str
    namespaced: bool = True
    scalable: bool = False

    @property
    def root(self) -> str:
        """The path below which it is served."""
        return (
            f"/apis/{self.api_version}" if "/" in self.api_version else f"/api/{self.api_version}"
        )

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """The path of its collection, of one object, or of a part of one."""
        scope = f"namespaces/{namespace}/" if namespace else ""
        return f"{self.root}/{scope}{self.plural}/{name}/{subresource}".rstrip("/")


RESOURCES = (
    Resource("v1", "Namespace", "namespaces", namespaced=False),
    Resource("v1", "Node", "nodes", namespaced=False),
    Resource("v1", "Pod", "pods"),
    Resource("v1", "Event", "events"),
    Resource("v1", "ConfigMap", "configmaps"),
    Resource("v1", "Secret", "secrets"),
    Resource("v1", "PodTemplate", "podtemplates"),
    Resource("apps/v1", "Deployment", "deployments", scalable=True),
    Resource("apps/v1", "StatefulSet", "statefulsets", scalable=True),
    Resource("batch/v1", "Job", "jobs"),
    Resource("batch/v1", "CronJob", "cronjobs"),
    Resource("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets"),
    Resource("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", namespaced=False),
    Resource("coordination.k8s.io/v1", "Lease", "leases"),
    Resource("autoscaling.x-k8s.io/v1beta1", "CapacityBuffer", "capacitybuffers", scalable=True),
    Resource("cluster.x-k8s.io/v1beta1", "MachineDeployment", "machinedeployments", scalable=True),
    Resource("karpenter.sh/v1", "NodePool", "nodepools", namespaced=False, scalable=True),
)


class Refused(Exception):
    """An answer that is not a success, as the API words it."""

    def __init__(self, status: int, reason: str, message: str, causes: list[Json] | None = None):
        super().__init__(message)
        self.status, self.reason, self.message = status, reason, message
        self.causes = causes or []


@dataclass(frozen=True)
class Target:
    """What a path means."""

    resource: Resource
    namespace: str = ""
    name: str = ""
    subresource: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Namespace and name."""
        return self.namespace, self.name


def target_of(resources: list[Resource], path: str) -> Target | Json:
    """What a path means; a dictionary is the answer itself, where it asks what is served."""
    for resource in resources:
        if path.rstrip("/") == resource.root:
            return _served(resources, resource.api_version)
        parts = path.removeprefix(resource.root + "/").strip("/").split("/")
        if not path.startswith(resource.root + "/"):
            continue
        namespace = ""
        if resource.namespaced and parts[0] == "namespaces" and len(parts) > 2:
            namespace, parts = parts[1], parts[2:]
        if parts[0] != resource.plural or (parts[1:] and resource.namespaced and not namespace):
            continue
        name, subresource, *more = [*parts[1:], "", ""]
        served = {"", "status"} | ({"scale"} if resource.scalable else set())
        served |= {"eviction"} if resource.kind == "Pod" else set()
        if subresource in served and not any(more):
            return Target(resource, namespace, name, subresource)
    raise Refused(404, "NotFound", "the server could not find the requested resource")


def _served(resources: list[Resource], api_version: str) -> Json:
    served = [one for one in resources if one.api_version == api_version]
    items = [{"name": one.plural, "kind": one.kind, "namespaced": one.namespaced} for one in served]
    return {"kind": "APIResourceList", "groupVersion": api_version, "resources": items}


def listed(resource: Resource, items: list[Json], version: int, token: str, rest: int) -> Json:
    """A list, or a part of one, as it is sent."""
    metadata: Json = {"resourceVersion": str(version)}
    if token:
        metadata |= {"continue": token, "remainingItemCount": rest}
    return {
        "apiVersion": resource.api_version,
        "kind": f"{resource.kind}List",
        "metadata": metadata,
        "items": items,
    }


def bookmark(resource: Resource, version: int) -> Json:
    """The event that says how far a watch has come."""
    shown = {"apiVersion": resource.api_version, "kind": resource.kind}
    return {"type": "BOOKMARK", "object": shown | {"metadata": {"resourceVersion": str(version)}}}


def scale_of(parent: Json) -> Json:
    """The `scale` subresource of an object."""
    metadata = parent["metadata"]
    shown = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    return {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {name: metadata[name] for name in shown if name in metadata},
        "spec": {"replicas": parent.get("spec", {}).get("replicas", 0)},
        "status": {"replicas": parent.get("status", {}).get("replicas", 0)},
    }


def status_of(refused: Refused) -> Json:
    """A refusal as it is sent."""
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "reason": refused.reason,
        "message": refused.message,
        "code": refused.status,
        "details": {"causes": refused.causes},
    }
