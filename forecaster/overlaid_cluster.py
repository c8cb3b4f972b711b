"""What people and sites say of a cluster, laid over what its API says: protections and lost nodes.

It only ever makes a plan more careful: a mark protects, and a node that is said to be lost is no
capacity any more although the API may still show it for minutes. Its jobs count as waiting.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from actuator.cluster.protocol import Cluster
from actuator.state import ClusterState, Node, Pod, Protection, Waiting

OWN_MARK = "tidecast"


@dataclass(frozen=True)
class Overlay:
    """What is said beside the API.

    Attributes:
        nodes: marks on nodes by name.
        pods: marks on pods by `namespace/name`.
        lost_seconds: Unix times at which nodes were said to be lost, by name.
    """

    nodes: Mapping[str, Protection]
    pods: Mapping[str, Protection]
    lost_seconds: Mapping[str, int]


@dataclass(frozen=True)
class OverlaidCluster:
    """A cluster with what is said beside it.

    Attributes:
        cluster: what its API says.
        overlay: what is said beside it at a moment.
    """

    cluster: Cluster
    overlay: Callable[[int], Overlay]

    def state(self, now_seconds: int) -> ClusterState:
        """The cluster now."""
        state, overlay = self.cluster.state(now_seconds), self.overlay(now_seconds)
        lost = {
            node.name
            for node in state.nodes
            if overlay.lost_seconds.get(node.name, -1) >= node.created_seconds
        }
        return replace(
            state,
            nodes=tuple(_marked(node, overlay) for node in state.nodes if node.name not in lost),
            pods=tuple(_placed(pod, overlay, lost) for pod in state.pods),
        )


def _marked(node: Node, overlay: Overlay) -> Node:
    mark = overlay.nodes.get(node.name)
    return node if mark is None else replace(node, protections=(*node.protections, mark))


def _placed(pod: Pod, overlay: Overlay, lost: set[str]) -> Pod:
    mark = overlay.pods.get(pod.name)
    if mark is not None:
        pod = replace(pod, protections=(*pod.protections, mark))
    if pod.node in lost:
        pod = replace(pod, node=None, waiting=Waiting.FOR_ROOM)
    return pod
