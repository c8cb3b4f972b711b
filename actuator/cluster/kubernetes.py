"""The state of a cluster from its Kubernetes API, kept by two threads that list and watch.

A state is `synced` only while nodes and pods were both listed in full and both watches have been
heard of lately: a cluster whose pods are not listed yet looks empty, and must not be taken for it.
"""

from collections.abc import Callable, Mapping
from time import monotonic
from types import TracebackType

from actuator.cluster.connection import KubernetesConnection
from actuator.cluster.following import Following, FollowSettings
from actuator.cluster.inventory import HeldNodes, HeldPods
from actuator.cluster.objects import ObjectReader
from actuator.cluster.read_settings import ReadSettings
from actuator.cluster.requirements import PoolLabels
from actuator.state import ClusterState

UNFINISHED = "status.phase!=Succeeded,status.phase!=Failed"


class KubernetesCluster:
    """One cluster, followed from `start` to `stop`."""

    def __init__(
        self,
        connection: KubernetesConnection,
        reading: ReadSettings | None = None,
        following: FollowSettings | None = None,
        *,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Nothing is asked before `start`.

        Args:
            connection: the API server; `stop` closes it.
            reading: what the cluster calls its GPUs and node pools.
            following: how its objects are followed.
            clock: seconds that only ever grow.
        """
        reader = ObjectReader(reading or ReadSettings())
        settings = following or FollowSettings()
        self._connection = connection
        self._nodes = Following(
            "/api/v1/nodes",
            lambda before: HeldNodes(reader, before.pool_labels() if before else {}),
            connection=connection,
            settings=settings,
            clock=clock,
        )
        self._pods = Following(
            "/api/v1/pods",
            lambda before: HeldPods(reader, before.pools if before else ()),
            selector=UNFINISHED,
            connection=connection,
            settings=settings,
            clock=clock,
        )
        self._expected: Mapping[str, PoolLabels] = {}

    def __enter__(self) -> "KubernetesCluster":
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Begin to follow nodes and pods."""
        self._nodes.start()
        self._pods.start()

    def stop(self) -> None:
        """End both watches and close the connection."""
        self._connection.close()
        for one in (self._nodes, self._pods):
            one.join(2 * self._connection.access.request_timeout_seconds)

    def expect(self, node_pools: Mapping[str, Mapping[str, str]]) -> None:
        """Say which node pools there are besides those that have nodes.

        A pod that one of them may serve waits for room, although no node fits it.

        Args:
            node_pools: labels of their nodes by name; empty where they are not known.
        """
        self._expected = {
            name: {label: frozenset({value}) for label, value in labels.items()}
            for name, labels in node_pools.items()
        }

    @property
    def waiting_without_gpus(self) -> int:
        """Pods that wait for a node and request no GPUs; no state holds them."""
        with self._pods.lock:
            return self._pods.held.waiting_without_gpus

    def state(self, now_seconds: int) -> ClusterState:
        """The cluster as last heard of; not synced, with the reason, while that is doubtful."""
        silent = tuple(filter(None, (self._nodes.problem(), self._pods.problem())))
        with self._nodes.lock:
            nodes = self._nodes.held.all()
            pools = {**self._expected, **self._nodes.held.pool_labels()}
            problems = self._nodes.held.problems()
        with self._pods.lock:
            pods = self._pods.held.all(pools.values())
            problems += self._pods.held.problems()
        return ClusterState(now_seconds, nodes, pods, not silent, silent + problems)
