"""Whether any node pool has what a pod requires; in doubt one has."""

from typing import Any

import pytest

from actuator.cluster.requirements import fits_any, requirement

POOL = {
    "type": frozenset({"A100"}),
    "zone": frozenset({"a", "b"}),
    "memory": frozenset({"80"}),
}


def spec(*terms: list[tuple[str, str, list[str]]], **selector: str) -> dict[str, Any]:
    """A pod's spec with a node selector and the terms of a required affinity."""
    made = [
        {"matchExpressions": [{"key": k, "operator": o, "values": v} for k, o, v in term]}
        for term in terms
    ]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": made}}
    return {"nodeSelector": selector, "affinity": {"nodeAffinity": required}}


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({}, True),
        (spec(type="A100"), True),
        (spec(type="H100"), False),
        (spec(type="A100", zone="c"), False),
        (spec(type="A100", zone="b"), True),
        (spec([("type", "In", ["H100", "A100"])]), True),
        (spec([("type", "NotIn", ["A100"])]), False),
        (spec([("zone", "NotIn", ["a"])]), True),
        (spec([("team", "NotIn", ["x"])]), True),
        (spec([("team", "Exists", [])]), False),
        (spec([("type", "Exists", [])]), True),
        (spec([("team", "DoesNotExist", [])]), True),
        (spec([("type", "DoesNotExist", [])]), False),
        (spec([("memory", "Gt", ["40"])]), True),
        (spec([("memory", "Gt", ["80"])]), False),
        (spec([("memory", "Lt", ["80"])]), False),
        (spec([("memory", "Lt", ["81"])]), True),
        (spec([("type", "Gt", ["1"])]), False),
        (spec([("type", "Unheard", ["1"])]), True),
        (spec([("type", "In", ["H100"])], [("type", "In", ["A100"])]), True),
        (spec([("type", "In", ["A100"])], zone="c"), False),
        (spec([("type", "In", ["A100"]), ("zone", "In", ["c"])]), False),
    ],
)
def test_a_requirement_is_met_or_not(wanted: dict[str, Any], expected: bool) -> None:
    """Selector and one term must hold together; labels that differ may be any of their values."""
    assert expected == fits_any(requirement(wanted), [POOL])


def test_what_is_not_known_may_fit() -> None:
    """That nothing will ever come has to be certain."""
    wanted = requirement(spec(type="H100"))
    assert not fits_any(wanted, [POOL])
    assert fits_any(wanted, [])
    assert fits_any(wanted, [POOL, {}])
