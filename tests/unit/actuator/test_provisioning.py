"""Provisioning time is what was seen to happen, and nothing is made up for what was not."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from actuator.provisioning import (
    LEAST_MEASUREMENTS,
    MOST_MEASUREMENTS,
    MOST_ORDERS,
    Arrival,
    NodePoolRecord,
    ProvisioningRecord,
    observed,
    ordered,
    p95_seconds,
)
from actuator.state import CapacityType, ClusterState, Node, Pod

START = 1_000_000
CYCLE = 60


def node(name: str, created_seconds: int, **more: object) -> Node:
    """A node that has only been created."""
    made = Node(name, "spot", "", CapacityType.SPOT, created_seconds, gpus=0.0, ready=False)
    return replace(made, **more)  # type: ignore[arg-type]


def usable(name: str, created_seconds: int) -> Node:
    """A node on which pods run."""
    return node(name, created_seconds, gpus=8.0, ready=True)


def pod_on(name: str) -> Pod:
    """A pod that runs on a node."""
    return Pod(f"ns/on-{name}", "ns/job", 1, 1.0, "", name, START)


def seen(
    record: ProvisioningRecord,
    now_seconds: int,
    *nodes: Node,
    pods: tuple[Pod, ...] = (),
    synced: bool = True,
) -> ProvisioningRecord:
    """The record after one more look."""
    return observed(record, ClusterState(now_seconds, nodes, pods, synced), now_seconds)


def watching() -> ProvisioningRecord:
    """A record that has begun to look."""
    return seen(ProvisioningRecord(), START)


def test_a_nodes_way_is_measured_step_by_step() -> None:
    """From when it was asked for, by when each step was seen."""
    record = ordered(watching(), "spot", 1, START + 10)
    record = seen(record, START + 60, node("a", START + 40))
    record = seen(record, START + 120, node("a", START + 40, ready=True))
    record = seen(record, START + 180, node("a", START + 40, ready=True, gpus=8.0, warmed=False))
    record = seen(record, START + 240, usable("a", START + 40))
    record = seen(record, START + 300, usable("a", START + 40), pods=(pod_on("a"),))
    record = seen(record, START + 360, usable("a", START + 40), pods=(pod_on("a"),))
    expected = Arrival(
        "a",
        asked_seconds=START + 10,
        created_seconds=START + 40,
        ready_seconds=START + 120,
        gpus_seconds=START + 180,
        usable_seconds=START + 240,
        first_pod_seconds=START + 300,
    )
    assert (expected,) == record.node_pools["spot"].measured
    assert () == record.node_pools["spot"].orders + record.node_pools["spot"].coming


def test_a_node_nobody_asked_for_counts_from_its_creation() -> None:
    """An autoscaler may act by itself."""
    record = seen(watching(), START + 60, node("a", START + 40))
    record = seen(record, START + 120, usable("a", START + 40))
    assert [START + 40] == [one.asked_seconds for one in record.node_pools["spot"].measured]


def test_each_node_takes_its_place_out_of_the_oldest_order() -> None:
    """Two orders of one and two nodes are three nodes."""
    record = ordered(ordered(watching(), "spot", 1, START), "spot", 2, START + 30)
    record = seen(record, START + 60, *(node(name, START + 50) for name in "abc"))
    known = record.node_pools["spot"]
    assert [START, START + 30, START + 30] == [one.asked_seconds for one in known.coming]
    assert () == known.orders


def test_a_node_created_before_an_order_is_not_its_answer() -> None:
    """Beyond what clocks may differ."""
    record = ordered(watching(), "spot", 1, START + 340)
    record = seen(record, START + 350, node("a", START + 10))
    known = record.node_pools["spot"]
    assert ([START + 10], 1) == ([one.asked_seconds for one in known.coming], len(known.orders))


def test_nodes_that_were_there_are_not_measured() -> None:
    """When they came nobody saw."""
    record = seen(ProvisioningRecord(), START, usable("a", START - 100), node("b", START - 90))
    record = seen(record, START + 60, usable("a", START - 100), usable("b", START - 90))
    assert ["b"] == [one.node for one in record.node_pools["spot"].measured]


def test_what_became_usable_during_a_pause_is_not_measured() -> None:
    """It may have been so for most of the pause."""
    record = seen(watching(), START + 60, node("a", START + 40), node("b", START + 40))
    record = seen(record, START + 3660, usable("a", START + 40), node("b", START + 40))
    record = seen(record, START + 3720, usable("a", START + 40), usable("b", START + 40))
    assert ["b"] == [one.node for one in record.node_pools["spot"].measured]


def test_a_state_that_is_not_synced_changes_nothing() -> None:
    """And makes a pause of the time until the next one that is."""
    record = watching()
    assert record == seen(record, START + 60, usable("a", START + 40), synced=False)


def test_a_node_is_measured_once() -> None:
    """Even while its young age, or a failing device plugin, makes it look new."""
    record = seen(watching(), START + 60, usable("a", START + 40))
    record = seen(record, START + 120, node("a", START + 40))
    record = seen(record, START + 180, usable("a", START + 40))
    assert [START + 60] == [one.usable_seconds for one in record.node_pools["spot"].measured]


def test_a_node_that_never_comes_is_forgotten() -> None:
    """It leaves no trace that grows."""
    record = seen(watching(), START + 60, node("a", START + 40), node("b", START + 40))
    record = seen(record, START + 120, node("a", START + 40, leaving=True))
    assert () == record.node_pools["spot"].coming
    assert {} == seen(record, START + 180).node_pools


def test_old_orders_and_nodes_without_gpus_are_forgotten() -> None:
    """A node of another kind never advertises any."""
    record = ordered(watching(), "other", 1, START)
    for now_seconds in range(START + 60, START + 7400, 240):
        record = seen(record, now_seconds, node("cpu", START + 40, ready=True))
    assert {} == record.node_pools


def test_a_cordoned_node_is_not_usable_yet() -> None:
    """No pod can run on it."""
    closed = replace(usable("a", START + 40), schedulable=False)
    record = seen(watching(), START + 60, closed)
    assert (1, 0) == (
        len(record.node_pools["spot"].coming),
        len(record.node_pools["spot"].measured),
    )


def measured(*times: int) -> ProvisioningRecord:
    """A record of nodes that took so long."""
    arrivals = tuple(
        Arrival(f"n-{number}", START, START, usable_seconds=START + time)
        for number, time in enumerate(times)
    )
    return ProvisioningRecord(START, {"spot": NodePoolRecord(measured=arrivals)})


@pytest.mark.parametrize("count", range(LEAST_MEASUREMENTS))
def test_too_few_measurements_say_nothing(count: int) -> None:
    """Nor does a node pool that nobody has seen."""
    assert p95_seconds(measured(*[300] * count), "spot") is None
    assert p95_seconds(measured(*[300] * 9), "elsewhere") is None


@given(st.lists(st.integers(1, 3600), min_size=LEAST_MEASUREMENTS, max_size=MOST_MEASUREMENTS))
def test_the_p95_is_the_smallest_that_covers(times: list[int]) -> None:
    """Against the definition, measurement by measurement."""
    covering = [t for t in times if sum(one <= t for one in times) >= 0.95 * len(times) - 1e-9]
    assert float(min(covering)) == p95_seconds(measured(*times), "spot")


def test_a_record_does_not_grow_without_end() -> None:
    """The latest measurements are kept, and the latest orders."""
    record = watching()
    for number in range(MOST_MEASUREMENTS + 10):
        now_seconds = START + CYCLE * (number + 1)
        record = ordered(record, "busy", 1, now_seconds)
        record = ordered(record, "busy", 1, now_seconds)
        record = ordered(record, "busy", 1, now_seconds)
        record = ordered(record, "busy", 1, now_seconds)
        record = seen(record, now_seconds, usable(f"n-{number}", now_seconds - 10))
    known = record.node_pools["spot"].measured
    assert (MOST_MEASUREMENTS, "n-109") == (len(known), known[-1].node)
    assert MOST_ORDERS >= len(record.node_pools["busy"].orders)


def test_a_record_survives_json() -> None:
    """The store keeps it so."""
    record = ordered(watching(), "spot", 2, START + 10)
    record = seen(record, START + 60, node("a", START + 40), usable("b", START + 41))
    adapter = TypeAdapter(ProvisioningRecord)
    assert record == adapter.validate_json(adapter.dump_json(record))
