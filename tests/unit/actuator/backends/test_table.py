"""The table of back ends: chosen by name, connected only if needed, checked before they act."""

import pytest

from actuator.backends.table import BACK_ENDS, BackEndsOnDemand, check_node_pool
from actuator.cluster.connection import KubernetesConnection
from actuator.policy import NodePoolPolicy
from features.errors import BadInput


def no_cluster() -> KubernetesConnection:
    """Nobody should connect."""
    raise AssertionError("connected to a cluster that nobody needs")


def test_every_row_makes_a_back_end_of_its_name(connection: KubernetesConnection) -> None:
    """It is what a policy calls it."""
    made = BackEndsOnDemand(lambda: connection)
    assert {name: name for name in BACK_ENDS} == {name: one.name for name, one in made.items()}


def test_only_what_is_asked_for_is_made_and_once() -> None:
    """A policy without Kubernetes needs no cluster, and one back end serves many node pools."""
    made = BackEndsOnDemand(no_cluster)
    assert made["aws_asg"] is made["aws_asg"]
    assert ("placeholder" in made, "unknown" in made) == (True, False)


def test_a_node_pool_of_an_unknown_back_end_is_refused() -> None:
    """With the names there are."""
    with pytest.raises(BadInput, match=r"no back end 'asg'; choose from dry_run, placeholder, "):
        check_node_pool(NodePoolPolicy("gpu-a", "asg"))


@pytest.mark.parametrize("name", [one for one in BACK_ENDS if one != "dry_run"])
def test_options_are_checked_by_the_back_end(name: str) -> None:
    """Each of them needs some, and says which."""
    with pytest.raises(BadInput, match=f"'gpu-a', back end {name}: option '.+' is missing"):
        check_node_pool(NodePoolPolicy("gpu-a", name))
    check_node_pool(NodePoolPolicy("gpu-a", "dry_run"))
