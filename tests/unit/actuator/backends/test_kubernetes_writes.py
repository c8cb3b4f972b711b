"""What writes to Kubernetes have in common: names, paths, comparison, convergence."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actuator.backends.back_end import Outcome, Standing
from actuator.backends.kubernetes_writes import ATTEMPTS, agrees, fixed_name, path_of, settled
from actuator.cluster.api_errors import Conflict, NotWell
from features.errors import BadInput

DONE = Outcome(Standing.DONE, "asked for 3", 3)


def test_paths_are_those_of_the_api() -> None:
    """With and without group, namespace, name and subresource."""
    assert "/api/v1/nodes" == path_of("v1", "nodes")
    assert "/api/v1/nodes/gpu-1" == path_of("v1", "nodes", "", "gpu-1")
    assert "/apis/apps/v1/namespaces/a/deployments/b/scale" == path_of(
        "apps/v1", "deployments", "a", "b", "scale"
    )


def test_a_name_stays_in_its_place_in_a_path() -> None:
    """It comes from a policy, and may not lead elsewhere."""
    assert "/api/v1/namespaces/a%2F..%2Fb/pods/c%3Fd" == path_of("v1", "pods", "a/../b", "c?d")


@given(st.text(min_size=1), st.text(min_size=1))
def test_a_fixed_name_is_a_name_that_kubernetes_takes(pool: str, node_pool: str) -> None:
    """Short, in lower case, always the same."""
    name = fixed_name(pool, node_pool)
    assert name == fixed_name(pool, node_pool)
    assert len(name) <= 52
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert name[0].isalnum()
    assert name[-1].isalnum()


def test_different_things_have_different_names() -> None:
    """Also where what is readable of them is the same, or cut off."""
    names = [("a100/x", "p"), ("a100-x", "p"), ("a100", "x-p"), ("l" * 60, "1"), ("l" * 60, "2")]
    assert len(names) == len({fixed_name(*one) for one in names})
    assert fixed_name("a100/whole-node", "gpu-a").startswith("tidecast-a100-whole-node-gpu-a-")


@pytest.mark.parametrize(
    ("there", "expected"),
    [
        ({"a": 1, "b": [{"c": 2}]}, True),
        ({"a": 1, "b": [{"c": 2, "default": 3}], "status": {}}, True),
        ({"a": 2, "b": [{"c": 2}]}, False),
        ({"b": [{"c": 2}]}, False),
        ({"a": 1, "b": [{"c": 2}, {"c": 3}]}, False),
        ({"a": 1, "b": {"c": 2}}, False),
        (None, False),
    ],
)
def test_what_the_server_adds_is_no_difference(there: Any, expected: bool) -> None:
    """What is missing, differs or is more in a list is one."""
    assert expected is agrees(there, {"a": 1, "b": [{"c": 2}]})


def test_an_empty_map_or_list_is_not_met_by_nothing() -> None:
    """The wish for none of something is a wish too."""
    assert not agrees({}, {"taints": []})
    assert not agrees({"taints": None}, {"taints": []})


def failing(error: Exception, times: int) -> Callable[[], Outcome]:
    """An attempt that fails so many times."""
    left = [error] * times

    def attempt() -> Outcome:
        if left:
            raise left.pop()
        return DONE

    return attempt


def test_a_conflict_is_looked_at_again_a_few_times() -> None:
    """Then the next cycle has its turn."""
    assert DONE == settled(failing(Conflict("it was not changed"), ATTEMPTS - 1))
    outcome = settled(failing(Conflict("it was not changed"), ATTEMPTS))
    assert Standing.FAILED is outcome.standing
    assert "others wrote 4 times in between: it was not changed" == outcome.detail


@pytest.mark.parametrize("error", [NotWell("it fails"), BadInput("it fails")])
def test_any_other_failure_is_an_outcome_at_once(error: Exception) -> None:
    """With its one line."""
    assert Outcome(Standing.FAILED, "it fails") == settled(failing(error, 1))
