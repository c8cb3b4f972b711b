"""A cloud that fails to deliver: refusals, machines that never come, hours without stock."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random

from actuator.plan import NodePoolTarget
from actuator.state import CapacityType, ClusterState, Node


class Fate(StrEnum):
    """What becomes of a machine that is asked for."""

    COMES = "comes"
    REFUSED = "refused"
    NEVER_COMES = "never comes"
    NEVER_READY = "never ready"


@dataclass(frozen=True, slots=True)
class Machine:
    """One machine and its fate.

    Attributes:
        node: its node once it has become capacity.
        fate: what becomes of it.
        known_seconds: Unix time from which its node exists, or it is known to be refused.
        capacity_seconds: Unix time from which it would be capacity.
    """

    node: Node
    fate: Fate
    known_seconds: int
    capacity_seconds: int


@dataclass
class UnreliableCloud:
    """Gives each node pool the machines it is asked to have, or not.

    Attributes:
        random: its seeded chance.
        fail_share: how many of the machines fail.
        silent_share: how many of those fail without a word.
        without_stock: by node pool, from when to when it has nothing, in Unix time.
        machines: by node pool, what was asked for and is not refused.
    """

    random: Random
    fail_share: float
    silent_share: float
    without_stock: Mapping[str, Iterable[range]] = field(default_factory=dict)
    machines: dict[str, list[Machine]] = field(default_factory=dict)
    _made: int = 0

    def ask(self, targets: Iterable[NodePoolTarget], now_seconds: int) -> None:
        """Take absolute targets: launch what is missing, withdraw what does not exist yet."""
        for target in targets:
            here = self.machines.setdefault(target.node_pool, [])
            excess = len(here) - target.desired_nodes
            for machine in [one for one in here if not _exists(one, now_seconds)][: max(0, excess)]:
                here.remove(machine)
            for _ in range(-excess):
                here.append(self._launched(target.node_pool, now_seconds))

    def refused(self, now_seconds: int) -> dict[str, int]:
        """How many machines it has newly said it cannot give, by node pool."""
        told = {}
        for name, here in self.machines.items():
            gone = [
                one for one in here if one.fate is Fate.REFUSED and one.known_seconds <= now_seconds
            ]
            told[name] = len(gone)
            self.machines[name] = [one for one in here if one not in gone]
        return told

    def state(self, now_seconds: int) -> ClusterState:
        """The nodes there are."""
        nodes = tuple(
            one.node if self._is_capacity(one, now_seconds) else _booting(one.node)
            for here in self.machines.values()
            for one in here
            if _exists(one, now_seconds)
        )
        return ClusterState(now_seconds, nodes, (), synced=True)

    def capacity_nodes(self, now_seconds: int) -> int:
        """How many of them are capacity."""
        every = (one for here in self.machines.values() for one in here)
        return sum(self._is_capacity(one, now_seconds) for one in every)

    def clear(self) -> None:
        """All machines are given back."""
        self.machines.clear()

    def _is_capacity(self, machine: Machine, now_seconds: int) -> bool:
        return machine.fate is Fate.COMES and machine.capacity_seconds <= now_seconds

    def _launched(self, node_pool: str, now_seconds: int) -> Machine:
        self._made += 1
        known_seconds = now_seconds + self.random.randint(30, 180)
        node = Node(
            f"{node_pool}-{self._made}",
            node_pool,
            "zone-1",
            CapacityType.UNKNOWN,
            known_seconds,
            gpus=8.0,
            ready=True,
        )
        capacity_seconds = now_seconds + self.random.randint(300, 600)
        return Machine(node, self._fate(node_pool, now_seconds), known_seconds, capacity_seconds)

    def _fate(self, node_pool: str, now_seconds: int) -> Fate:
        """A machine fails by chance, or because there is none; most failures are told."""
        empty = any(now_seconds in hours for hours in self.without_stock.get(node_pool, ()))
        if not empty and self.random.random() >= self.fail_share:
            return Fate.COMES
        if self.random.random() >= self.silent_share:
            return Fate.REFUSED
        return self.random.choice([Fate.NEVER_COMES, Fate.NEVER_READY])


def _exists(machine: Machine, now_seconds: int) -> bool:
    exists = machine.fate in {Fate.COMES, Fate.NEVER_READY}
    return exists and machine.known_seconds <= now_seconds


def _booting(node: Node) -> Node:
    """The node before it advertises its GPUs."""
    return Node(
        node.name,
        node.node_pool,
        node.zone,
        node.capacity_type,
        node.created_seconds,
        gpus=0.0,
        ready=True,
    )
