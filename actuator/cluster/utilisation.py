"""How busy each node's GPUs are, from Prometheus, laid over a state of the cluster.

A node without a job may still be used, by a notebook on the host or a job that another scheduler
placed. What Prometheus does not say stays unknown, and an unknown node is not idle.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from actuator.cluster.protocol import Cluster
from actuator.state import ClusterState
from features.errors import TidecastError
from features.sources.prometheus_http import PrometheusServer

NODE_LABELS = ("node", "Hostname", "kubernetes_node", "instance")
DEFAULT_QUERY = "max by (Hostname) (DCGM_FI_DEV_GPU_UTIL) / 100"


@dataclass(frozen=True)
class ClusterWithUtilisation:
    """A cluster whose nodes carry the utilisation of their GPUs.

    Attributes:
        cluster: says everything else.
        server: the Prometheus that knows.
        query: PromQL that gives a share from 0 to 1 per node, named by one of `NODE_LABELS`.
    """

    cluster: Cluster
    server: PrometheusServer
    query: str = DEFAULT_QUERY

    def state(self, now_seconds: int) -> ClusterState:
        """The cluster now; without an answer every node's utilisation is unknown."""
        state = self.cluster.state(now_seconds)
        shares = self._shares(now_seconds)
        nodes = tuple(replace(node, gpu_utilisation=shares.get(node.name)) for node in state.nodes)
        return replace(state, nodes=nodes)

    def _shares(self, now_seconds: int) -> dict[str, float]:
        try:
            answer = self.server.at(self.query, now_seconds)
        except TidecastError:
            return {}
        return {
            name: share
            for labels, share in answer
            if (name := _node_name(labels)) is not None and 0 <= share <= 1
        }


def _node_name(labels: Mapping[str, str]) -> str | None:
    """The node that a series is about; None where no label says."""
    return next((labels[name] for name in NODE_LABELS if name in labels), None)
