"""The pods that hold headroom ready, the same for placeholders and for buffers.

Each asks for a whole node or, in a fragment pool, for a slice of one. There are only as many as
there is headroom, so that they give way as demand lands; they never stand for nodes in use.
"""

import math
from dataclasses import dataclass
from typing import Any

from actuator.backends.back_end import Request
from actuator.backends.kubernetes_writes import MANAGED_BY, fixed_name
from actuator.backends.options import Options
from actuator.warm_up import WARMING_TAINT
from features.errors import BadInput

POD_OPTIONS = ("namespace", "node_selector", "tolerations", "image", "gpu_resource", "slice_gpus")
GPU_RESOURCE = "nvidia.com/gpu"
PAUSE_IMAGE = "registry.k8s.io/pause:3.10"


@dataclass(frozen=True)
class HeadroomPods:
    """What the pods that hold headroom look like.

    Attributes:
        namespace: where they live.
        node_selector: labels of the node pool's nodes.
        tolerations: taints that they bear, those of GPU nodes and of warming nodes among them.
        image: what they run, which is nothing.
        gpu_resource: resource that they ask for.
        slice_gpus: GPUs that one of them stands for in a fragment pool.
    """

    namespace: str
    node_selector: dict[str, str]
    tolerations: list[dict[str, str]]
    image: str
    gpu_resource: str
    slice_gpus: float

    @classmethod
    def of(cls, options: Options) -> "HeadroomPods":
        """The pods that these options describe.

        Raises:
            BadInput: an option is missing or cannot be used.
        """
        borne = [{"key": key, "operator": "Exists"} for key in (GPU_RESOURCE, WARMING_TAINT)]
        made = cls(
            namespace=options.text("namespace", "tidecast"),
            node_selector=options.pairs("node_selector"),
            tolerations=borne + options.tolerations("tolerations"),
            image=options.text("image", PAUSE_IMAGE),
            gpu_resource=options.text("gpu_resource", GPU_RESOURCE),
            slice_gpus=options.positive("slice_gpus", 1.0),
        )
        if made.gpu_resource == GPU_RESOURCE and not made.slice_gpus.is_integer():
            raise BadInput(
                f"{options.where}: {made.slice_gpus:g} of {GPU_RESOURCE} cannot be asked for; "
                "name the slice's resource in 'gpu_resource'"
            )
        return made

    def count(self, request: Request) -> int:
        """How many of them hold the headroom of a request."""
        if request.shape == "fragment":
            return math.ceil(request.headroom_gpus / self.slice_gpus)
        return request.headroom_nodes

    def template(self, request: Request, priority_class: str | None = None) -> dict[str, Any]:
        """The template of one of them: it needs a node, does nothing and goes at once."""
        quantity = {self.gpu_resource: self._quantity(request)}
        spec: dict[str, Any] = {
            "nodeSelector": self.node_selector,
            "tolerations": self.tolerations,
            "terminationGracePeriodSeconds": 0,
            "automountServiceAccountToken": False,
            "securityContext": {"runAsNonRoot": True, "runAsUser": 65_535},
            "containers": [
                {
                    "name": "pause",
                    "image": self.image,
                    "resources": {"requests": quantity, "limits": quantity},
                    "securityContext": {
                        "allowPrivilegeEscalation": False,
                        "readOnlyRootFilesystem": True,
                        "capabilities": {"drop": ["ALL"]},
                    },
                }
            ],
        }
        if priority_class is not None:
            spec["priorityClassName"] = priority_class
        return {
            "metadata": {
                "labels": labels(request),
                "annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"},
            },
            "spec": spec,
        }

    def _quantity(self, request: Request) -> str:
        """How much of the resource; a slice that is no whole GPU is one of its resource."""
        if request.shape != "fragment":
            return str(request.node_gpus)
        return str(int(self.slice_gpus)) if self.slice_gpus.is_integer() else "1"


def object_name(request: Request) -> str:
    """The fixed name of the objects that serve this pool from this node pool."""
    return fixed_name(request.pool, request.node_pool.name)


def labels(request: Request) -> dict[str, str]:
    """What marks an object as ours, and as that of this request's node pool."""
    return MANAGED_BY | {"app.kubernetes.io/instance": object_name(request)}
