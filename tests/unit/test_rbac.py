"""The roles that Tidecast ships: no more than it needs, and draining apart from the rest."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

KUBERNETES = Path(__file__).parents[2] / "deploy" / "kubernetes"
READS = {"get", "list", "watch"}


def objects(name: str, *, opted_in: bool = False) -> list[dict[str, Any]]:
    """The objects of a file, with or without the rules that are commented out."""
    text = (KUBERNETES / name).read_text(encoding="utf-8")
    if opted_in:
        text = re.sub(r"^  # (- |  )", r"  \1", text, flags=re.MULTILINE)
    return [one for one in yaml.safe_load_all(text) if one]


def granted(roles: list[dict[str, Any]], kind: str) -> set[tuple[str, str]]:
    """Resource and verb of every rule of the roles of a kind."""
    return {
        (resource, verb)
        for role in roles
        if role["kind"] == kind
        for rule in role["rules"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def test_beyond_its_namespace_it_only_reads_nodes_and_pods() -> None:
    """All else is for whoever opts in."""
    assert {(one, verb) for one in ("nodes", "pods") for verb in READS} == (
        granted(objects("rbac.yaml"), "ClusterRole")
    )


def test_in_its_namespace_it_has_leases_events_and_deployments() -> None:
    """And their scale."""
    found = {resource for resource, _ in granted(objects("rbac.yaml"), "Role")}
    assert {"leases", "events", "deployments", "deployments/scale"} == found


def test_what_is_commented_out_can_be_opted_into() -> None:
    """The rules are valid once the comment signs go."""
    roles = objects("rbac.yaml", opted_in=True)
    assert ("nodes", "patch") in granted(roles, "ClusterRole")
    assert ("capacitybuffers", "patch") in granted(roles, "Role")
    assert ("machines", "patch") in granted(roles, "Role")


def test_only_draining_may_evict() -> None:
    """In a file of its own."""
    rest = objects("rbac.yaml", opted_in=True)
    assert "pods/eviction" not in {one for one, _ in granted(rest, "ClusterRole")}
    assert {("nodes", "patch"), ("pods", "patch"), ("pods/eviction", "create")} == (
        granted(objects("drain-rbac.yaml"), "ClusterRole")
    )


@pytest.mark.parametrize("name", ["rbac.yaml", "drain-rbac.yaml"])
def test_nothing_may_be_deleted(name: str) -> None:
    """Nor may anything be done to everything."""
    for kind in ("ClusterRole", "Role"):
        for resource, verb in granted(objects(name, opted_in=True), kind):
            assert verb not in {"delete", "deletecollection", "*"}
            assert resource not in {"*", "secrets"}
