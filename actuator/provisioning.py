"""Measures how long each node pool takes from asking for a node until a pod can run on it.

Only what was seen to happen is measured: of a node that became usable while nobody looked the time
is not known, and it must never count as a quick one. Moments are those at which they were seen, so
that a time is too long by a cycle at most. Pure: a record goes in and a record comes out.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from actuator.state import ClusterState, Node, NodePhase

LONGEST_PAUSE_SECONDS = 300
CLOCK_SKEW_SECONDS = 300
ORDER_EXPIRES_SECONDS = 1800
ARRIVAL_EXPIRES_SECONDS = 7200
LEAST_MEASUREMENTS = 5
MOST_MEASUREMENTS = 100
MOST_ORDERS = 100


@dataclass(frozen=True, slots=True)
class Order:
    """Nodes that were asked for and do not exist yet.

    Attributes:
        at_seconds: Unix time at which they were asked for.
        nodes: how many.
    """

    at_seconds: int
    nodes: int


@dataclass(frozen=True, slots=True)
class Arrival:
    """One node from the moment it was asked for; what has not happened yet is None.

    Attributes:
        node: its name.
        asked_seconds: Unix time at which it was asked for; of its creation if nobody here asked.
        created_seconds: at which it was created.
        ready_seconds: at which it was seen Ready.
        gpus_seconds: at which it was seen to advertise GPUs.
        usable_seconds: at which a pod could run on it.
        first_pod_seconds: at which one was seen on it.
    """

    node: str
    asked_seconds: int
    created_seconds: int
    ready_seconds: int | None = None
    gpus_seconds: int | None = None
    usable_seconds: int | None = None
    first_pod_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class NodePoolRecord:
    """What is known of one node pool's provisioning.

    Attributes:
        orders: what was asked for and does not exist yet, oldest first.
        coming: nodes that exist and are not usable yet.
        measured: nodes that became usable, oldest first, the latest `MOST_MEASUREMENTS`.
        settled: names of young nodes that are not new any more, however clocks differ.
    """

    orders: tuple[Order, ...] = ()
    coming: tuple[Arrival, ...] = ()
    measured: tuple[Arrival, ...] = ()
    settled: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProvisioningRecord:
    """What is known of every node pool's provisioning.

    Attributes:
        observed_seconds: Unix time of the last state taken in; None before the first.
        node_pools: by node pool name.
    """

    observed_seconds: int | None = None
    node_pools: Mapping[str, NodePoolRecord] = field(default_factory=dict)


def ordered(
    record: ProvisioningRecord, node_pool: str, nodes: int, now_seconds: int
) -> ProvisioningRecord:
    """Note that so many more nodes were asked of a node pool."""
    known = record.node_pools.get(node_pool, NodePoolRecord())
    orders = (*known.orders, Order(now_seconds, nodes))[-MOST_ORDERS:]
    return replace(
        record, node_pools={**record.node_pools, node_pool: replace(known, orders=orders)}
    )


def observed(
    record: ProvisioningRecord, state: ClusterState, now_seconds: int
) -> ProvisioningRecord:
    """Take in what has happened since the last state; one that is not synced changes nothing."""
    if not state.synced:
        return record
    moment = _Moment(now_seconds, record.observed_seconds)
    busy = frozenset(pod.node for pod in state.pods if pod.node)
    nodes: defaultdict[str, list[Node]] = defaultdict(list)
    for node in state.nodes:
        nodes[node.node_pool].append(node)
    pools = {
        name: _observed_pool(record.node_pools.get(name, NodePoolRecord()), nodes[name], moment)
        for name in record.node_pools.keys() | nodes.keys()
    }
    return ProvisioningRecord(
        now_seconds,
        {
            name: replace(pool, measured=_with_pods(pool.measured, busy, now_seconds))
            for name, pool in sorted(pools.items())
            if pool != NodePoolRecord()
        },
    )


def p95_seconds(record: ProvisioningRecord, node_pool: str) -> float | None:
    """The 95th percentile of a node pool's provisioning times; None while too few are measured.

    It is the smallest time that at least 95 % of them do not exceed (nearest rank; definition 1 of
    Hyndman and Fan, 1996, 'Sample quantiles in statistical packages'), so that few measurements
    give the longest of them.
    """
    known = record.node_pools.get(node_pool, NodePoolRecord())
    times = sorted(
        one.usable_seconds - one.asked_seconds
        for one in known.measured
        if one.usable_seconds is not None
    )
    if len(times) < LEAST_MEASUREMENTS:
        return None
    return float(times[math.ceil(0.95 * len(times)) - 1])


@dataclass(frozen=True, slots=True)
class _Moment:
    """When we look, and when we looked last."""

    now_seconds: int
    last_seconds: int | None

    @property
    def is_after_pause(self) -> bool:
        """Whether things may have happened at a time that nobody knows."""
        return (
            self.last_seconds is None
            or self.now_seconds - self.last_seconds > LONGEST_PAUSE_SECONDS
        )

    def is_new(self, node: Node) -> bool:
        """Whether a node may have been created since we looked last, clocks being as they are."""
        since = self.now_seconds if self.last_seconds is None else self.last_seconds
        return node.created_seconds >= since - CLOCK_SKEW_SECONDS

    def is_young(self, node: Node) -> bool:
        """Whether it may look new when we look next."""
        return node.created_seconds >= self.now_seconds - CLOCK_SKEW_SECONDS

    def is_fresh(self, at_seconds: int, expires_seconds: int) -> bool:
        """Whether something is not older than this."""
        return self.now_seconds - at_seconds <= expires_seconds


def _observed_pool(known: NodePoolRecord, nodes: Iterable[Node], moment: _Moment) -> NodePoolRecord:
    orders = [one for one in known.orders if moment.is_fresh(one.at_seconds, ORDER_EXPIRES_SECONDS)]
    expected = {one.node: one for one in known.coming}
    known_names = frozenset(known.settled)
    coming: list[Arrival] = []
    came: list[Arrival] = []
    settled: list[str] = []
    for node in sorted(nodes, key=lambda one: (one.created_seconds, one.name)):
        arrival = expected.get(node.name)
        if arrival is None and moment.is_new(node) and node.name not in known_names:
            arrival = _arrival(node, orders)
        if arrival is not None and _is_followed(arrival, node, moment):
            arrival = _seen(arrival, node, moment.now_seconds)
            if arrival.usable_seconds is None:
                coming.append(arrival)
                continue
            came.append(arrival)
        if moment.is_young(node):
            settled.append(node.name)
    measured = (*known.measured, *came)[-MOST_MEASUREMENTS:]
    return NodePoolRecord(tuple(orders), tuple(coming), measured, tuple(settled))


def _is_followed(arrival: Arrival, node: Node, moment: _Moment) -> bool:
    """Whether the time at which it becomes usable can still be seen."""
    is_missed = moment.is_after_pause and _is_usable(node)
    is_late = not moment.is_fresh(arrival.created_seconds, ARRIVAL_EXPIRES_SECONDS)
    return not (node.leaving or is_missed or is_late)


def _arrival(node: Node, orders: list[Order]) -> Arrival:
    """A node that has just been created; it takes its place out of the oldest order before it."""
    asked_seconds = node.created_seconds
    if orders and orders[0].at_seconds <= node.created_seconds + CLOCK_SKEW_SECONDS:
        oldest = orders.pop(0)
        asked_seconds = oldest.at_seconds
        if oldest.nodes > 1:
            orders.insert(0, replace(oldest, nodes=oldest.nodes - 1))
    return Arrival(node.name, asked_seconds, node.created_seconds)


def _seen(arrival: Arrival, node: Node, now_seconds: int) -> Arrival:
    """What has happened to it by now."""
    return replace(
        arrival,
        ready_seconds=arrival.ready_seconds or (now_seconds if node.ready else None),
        gpus_seconds=arrival.gpus_seconds or (now_seconds if node.gpus > 0 else None),
        usable_seconds=now_seconds if _is_usable(node) else None,
    )


def _is_usable(node: Node) -> bool:
    return node.phase is NodePhase.CAPACITY and node.schedulable


def _with_pods(
    measured: tuple[Arrival, ...], busy: frozenset[str], now_seconds: int
) -> tuple[Arrival, ...]:
    """Note the first pod of each node that has one by now."""
    return tuple(
        replace(one, first_pod_seconds=now_seconds)
        if one.first_pod_seconds is None and one.node in busy
        else one
        for one in measured
    )
