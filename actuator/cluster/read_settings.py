"""What a cluster calls its GPUs and its node pools, as values for whoever reads its objects."""

from dataclasses import dataclass

from features.sources.pod_settings import MIG_RESOURCES, SharedResource

NODE_POOL_LABELS = (
    "karpenter.sh/nodepool",
    "eks.amazonaws.com/nodegroup",
    "alpha.eksctl.io/nodegroup-name",
    "cloud.google.com/gke-nodepool",
    "kubernetes.azure.com/agentpool",
    "cluster.x-k8s.io/deployment-name",
    "node.kubernetes.io/instance-type",
)


@dataclass(frozen=True)
class ReadSettings:
    """How nodes and pods are read.

    Names of resources and GPU type labels may be written as Kubernetes or as kube-state-metrics
    writes them, so that the settings of the Prometheus source hold here too.

    Attributes:
        gpu_resources: resources whose unit is a GPU.
        shared_resources: resources whose unit is a part of a GPU; the first that fits counts.
        type_labels: labels that hold the GPU type, in node selectors and on pods.
        node_pool_labels: node labels that hold the node pool; the first that is there counts.
    """

    gpu_resources: tuple[str, ...] = ("nvidia.com/gpu",)
    shared_resources: tuple[SharedResource, ...] = MIG_RESOURCES
    type_labels: tuple[str, ...] = ("nvidia.com/gpu.product",)
    node_pool_labels: tuple[str, ...] = NODE_POOL_LABELS
