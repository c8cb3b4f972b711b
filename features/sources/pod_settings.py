"""What a cluster calls its GPUs, and which of its pods are no demand."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from features.errors import BadInput


@dataclass(frozen=True)
class SharedResource:
    """A resource whose unit is a part of a GPU.

    Attributes:
        name_pattern: regular expression on the resource as kube-state-metrics writes it.
        gpus: the part of a GPU that one unit is.
    """

    name_pattern: str
    gpus: float

    def __post_init__(self) -> None:
        if not 0 < self.gpus <= 1:
            raise BadInput(
                f"resource '{self.name_pattern}' stands for {self.gpus} GPUs; a part of a GPU is "
                "above 0 and at most 1"
            )


MIG_RESOURCES = (
    # An A30 and an RTX PRO 6000 are cut into four slices, every other type into seven.
    SharedResource("nvidia_com_mig_1g_6gb.*", 1 / 4),
    SharedResource("nvidia_com_mig_2g_(12|48)gb.*", 2 / 4),
    SharedResource("nvidia_com_mig_4g_(24|96)gb.*", 4 / 4),
    SharedResource("nvidia_com_mig_1g_.+", 1 / 7),
    SharedResource("nvidia_com_mig_2g_.+", 2 / 7),
    SharedResource("nvidia_com_mig_3g_.+", 3 / 7),
    SharedResource("nvidia_com_mig_4g_.+", 4 / 7),
    SharedResource("nvidia_com_mig_7g_.+", 7 / 7),
)
"""Which part of a GPU a MIG slice is: its share of the compute slices."""


@dataclass(frozen=True)
class PodSettings:
    """How GPUs, GPU types and placeholders of one cluster are told from its metrics.

    Attributes:
        selector: label matchers that every series must fit, such as `cluster="prod"`, where one
            Prometheus holds several clusters.
        gpu_resources: resources whose unit is a GPU, as kube-state-metrics writes them.
        shared_resources: resources whose unit is a part of a GPU; the first that fits counts.
        type_labels: Kubernetes labels that hold the GPU type, as Prometheus writes them; looked
            for on nodes, in node selectors and on pods, in this order.
        dcgm_metric: DCGM series whose `modelName` names the type of nodes without such a label.
        default_gpu_type: type of pending pods that do not say; empty for the type of which the
            cluster has most nodes.
        gpus_per_node: GPUs of a node by type, where the cluster's nodes do not show it.
        default_gpus_per_node: GPUs of a node of a type that has no node at the time.
        node_shape_label: node label that holds `whole-node` or `fragment`, as Prometheus writes
            it, where nodes are kept apart; empty where every node serves both shapes, and the
            capacity of a type is that of both.
        placeholder_pods: regular expression on the names of pods that only hold nodes ready.
        placeholder_priority_classes: the same on the names of their priority classes.
    """

    selector: str = ""
    gpu_resources: tuple[str, ...] = ("nvidia_com_gpu",)
    shared_resources: tuple[SharedResource, ...] = MIG_RESOURCES
    type_labels: tuple[str, ...] = ("nvidia_com_gpu_product",)
    dcgm_metric: str = "DCGM_FI_DEV_GPU_UTIL"
    default_gpu_type: str = ""
    gpus_per_node: Mapping[str, int] = field(default_factory=dict)
    default_gpus_per_node: int = 8
    node_shape_label: str = ""
    placeholder_pods: str = "tidecast-placeholder-.+"
    placeholder_priority_classes: str = "tidecast-placeholder.*"
