"""What a cluster holds as far as we were told, each object read once and then kept as ours.

Here is added what an object cannot tell alone: how many pods its job has, and whether any node pool
fits what it requires. Whoever uses it sees to it that only one thread does at a time.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from actuator.cluster.objects import ObjectReader, ReadPod, waits_without_gpus
from actuator.cluster.requirements import PoolLabels, fits_any
from actuator.state import Node, Pod, Waiting

Json = Mapping[str, Any]
OF_ONE_NODE = "kubernetes.io/hostname"
MOST_NAMED = 3


class Held(Protocol):
    """All objects of one kind."""

    def put(self, body: Json) -> None:
        """Take in an object that is new or has changed."""
        ...

    def drop(self, body: Json) -> None:
        """Forget an object that is gone."""
        ...

    def settle(self) -> None:
        """Do now what the first reader would have to wait for."""
        ...


class HeldNodes:
    """Every node, and the labels that each node pool's nodes have had."""

    def __init__(self, reader: ObjectReader, known: Mapping[str, PoolLabels]) -> None:
        """Start without nodes.

        Args:
            reader: how objects are read.
            known: labels of node pools that may have no node any more.
        """
        self._reader = reader
        self._known = known
        self._seen: dict[str, dict[str, set[str]]] = {}
        self._nodes: dict[str, Node] = {}
        self._unreadable: dict[str, str] = {}
        self._all: tuple[Node, ...] | None = None
        self._pool_labels: Mapping[str, PoolLabels] | None = None

    def put(self, body: Json) -> None:
        """Take in a node that is new or has changed."""
        try:
            read = self._reader.node(body)
        except ValueError as error:
            self.drop(body)
            self._unreadable[_name(body)] = str(error)
            return
        self._unreadable.pop(_name(body), None)
        self._nodes[_name(body)] = read.node
        self._all = None
        # A node gets labels until it advertises GPUs; before, what it lacks says nothing.
        if read.node.gpus > 0 and read.node.node_pool:
            self._learn(read.node.node_pool, read.labels)

    def drop(self, body: Json) -> None:
        """Forget a node that is gone."""
        self._nodes.pop(_name(body), None)
        self._unreadable.pop(_name(body), None)
        self._all = None

    def settle(self) -> None:
        """Do now what the first reader would have to wait for."""
        self.all()
        self.pool_labels()

    def all(self) -> tuple[Node, ...]:
        """Every node that could be read."""
        if self._all is None:
            self._all = tuple(self._nodes.values())
        return self._all

    def pool_labels(self) -> Mapping[str, PoolLabels]:
        """By node pool, the values of each label that its nodes have had."""
        if self._pool_labels is None:
            seen = {
                name: {label: frozenset(values) for label, values in labels.items()}
                for name, labels in self._seen.items()
            }
            self._pool_labels = {**self._known, **seen}
        return self._pool_labels

    def _learn(self, node_pool: str, labels: Mapping[str, str]) -> None:
        of_pool = self._seen.setdefault(node_pool, {})
        for label, value in labels.items():
            values = of_pool.setdefault(label, set())
            if value not in values and label != OF_ONE_NODE:
                values.add(value)
                self._pool_labels = None

    def problems(self) -> tuple[str, ...]:
        """What could not be read."""
        return _few(self._unreadable.values())


class HeldPods:
    """Every unfinished pod that requests GPUs."""

    def __init__(self, reader: ObjectReader, pools: tuple[PoolLabels, ...] = ()) -> None:
        """Start without pods.

        Args:
            reader: how objects are read.
            pools: labels of each node pool, as far as they are known.
        """
        self._reader = reader
        self.pools = pools
        self._read: dict[str, ReadPod] = {}
        self._jobs: dict[str, set[str]] = {}
        self._pods: dict[str, Pod] = {}
        self._changed: set[str] = set()
        self._changed_jobs: set[str] = set()
        self._gpuless: set[str] = set()
        self._unreadable: dict[str, str] = {}
        self._all: tuple[Pod, ...] = ()

    @property
    def waiting_without_gpus(self) -> int:
        """Pods that wait for a node and request no GPUs."""
        return len(self._gpuless)

    def put(self, body: Json) -> None:
        """Take in a pod that is new or has changed."""
        name = _name(body)
        self.drop(body)
        try:
            read = self._reader.pod(body)
        except ValueError as error:
            self._unreadable[name] = str(error)
            return
        if read is None:
            if waits_without_gpus(body):
                self._gpuless.add(name)
            return
        self._read[name] = read
        self._changed.add(name)
        if read.is_counted:
            self._jobs.setdefault(read.pod.job, set()).add(name)
            self._changed_jobs.add(read.pod.job)

    def drop(self, body: Json) -> None:
        """Forget a pod that is gone."""
        name = _name(body)
        self._gpuless.discard(name)
        self._unreadable.pop(name, None)
        read = self._read.pop(name, None)
        if read is None:
            return
        self._changed.add(name)
        if read.is_counted:
            job = read.pod.job
            self._jobs[job].discard(name)
            self._changed_jobs.add(job)

    def settle(self) -> None:
        """Do now what the first reader would have to wait for."""
        self.all(self.pools)

    def all(self, pools: Collection[PoolLabels]) -> tuple[Pod, ...]:
        """Every pod, what waits for no node pool at all told apart.

        Args:
            pools: labels of each node pool.
        """
        pools = tuple(pools)
        if pools != self.pools:
            self.pools = pools
            self._changed.update(name for name, read in self._read.items() if read.requirement)
        for job in self._changed_jobs:
            self._changed |= self._jobs[job]
            if not self._jobs[job]:
                del self._jobs[job]
        if not self._changed:
            return self._all
        for name in self._changed:
            if read := self._read.get(name):
                self._pods[name] = self._complete(read)
            else:
                self._pods.pop(name, None)
        self._changed.clear()
        self._changed_jobs.clear()
        self._all = tuple(self._pods[name] for name in self._read)
        return self._all

    def problems(self) -> tuple[str, ...]:
        """What could not be read."""
        return _few(self._unreadable.values())

    def _complete(self, read: ReadPod) -> Pod:
        pod = read.pod
        siblings = len(self._jobs[pod.job]) if read.is_counted else pod.job_pods
        fits = pod.waiting is not Waiting.FOR_ROOM or fits_any(read.requirement, self.pools)
        if fits and siblings == pod.job_pods:
            return pod
        return replace(
            pod, job_pods=siblings, waiting=pod.waiting if fits else Waiting.NO_SUCH_NODE
        )


def _name(body: Json) -> str:
    metadata = body["metadata"]
    return f"{metadata.get('namespace', '')}/{metadata['name']}"


def _few(lines: Iterable[str]) -> tuple[str, ...]:
    """The first lines, and how many more there are."""
    every = tuple(lines)
    rest = len(every) - MOST_NAMED
    return (*every[:MOST_NAMED], f"and {rest} more like it") if rest > 0 else every
