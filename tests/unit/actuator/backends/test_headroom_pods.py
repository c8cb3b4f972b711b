"""The pods that hold headroom: as many as there is of it, each the size of what it stands for."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actuator.backends.headroom_pods import POD_OPTIONS, HeadroomPods
from actuator.backends.options import Options
from features.errors import BadInput
from tests.fakes.requests import request

SELECTOR = {"node_selector": "karpenter.sh/nodepool=gpu-a"}
MIG = "nvidia.com/mig-1g.10gb"
HEADROOM = st.floats(0, 1e4, allow_subnormal=False)


def pods(**options: str) -> HeadroomPods:
    """The pods that these options describe."""
    one = request("placeholder", SELECTOR | options)
    return HeadroomPods.of(Options.of(one.node_pool, "placeholder", POD_OPTIONS))


def container(template: dict[str, Any]) -> dict[str, Any]:
    """The only container of a template."""
    (only,) = template["spec"]["containers"]
    found: dict[str, Any] = only
    return found


def asked_for(made: HeadroomPods, shape: str) -> dict[str, str]:
    """What one of them requests."""
    template = made.template(request("placeholder", SELECTOR, shape=shape))
    resources: dict[str, dict[str, str]] = container(template)["resources"]
    assert resources["requests"] == resources["limits"]
    return resources["requests"]


@pytest.mark.parametrize("shape", ["whole-node", "mixed"])
def test_a_node_is_asked_for_whole(shape: str) -> None:
    """One pod for each node of headroom."""
    one = request("placeholder", SELECTOR, shape=shape, headroom_nodes=3, headroom_gpus=30.0)
    assert 3 == pods().count(one)
    assert {"nvidia.com/gpu": "8"} == asked_for(pods(slice_gpus="2"), shape)


@pytest.mark.parametrize(
    ("options", "gpus", "count", "quantity"),
    [
        ({}, 5.0, 5, {"nvidia.com/gpu": "1"}),
        ({}, 4.1, 5, {"nvidia.com/gpu": "1"}),
        ({"slice_gpus": "2"}, 5.0, 3, {"nvidia.com/gpu": "2"}),
        ({"slice_gpus": "0.125", "gpu_resource": MIG}, 1.0, 8, {MIG: "1"}),
        ({}, 0.0, 0, {"nvidia.com/gpu": "1"}),
    ],
)
def test_a_fragment_pool_asks_for_slices(
    options: dict[str, str], gpus: float, count: int, quantity: dict[str, str]
) -> None:
    """As many as fill the headroom, rounded up."""
    made = pods(**options)
    one = request("placeholder", SELECTOR, shape="fragment", headroom_gpus=gpus, headroom_nodes=9)
    assert count == made.count(one)
    assert quantity == asked_for(made, "fragment")


@given(HEADROOM, HEADROOM, st.sampled_from(["1", "2", "4"]))
def test_less_headroom_is_never_more_pods(less: float, more: float, size: str) -> None:
    """They shrink as demand lands, and together hold what was asked for."""
    less, more = sorted((less, more))
    made = pods(slice_gpus=size)
    fewer, many = (
        made.count(request("placeholder", SELECTOR, shape="fragment", headroom_gpus=gpus))
        for gpus in (less, more)
    )
    assert fewer <= many
    assert many * float(size) >= more
    assert many == 0 or (many - 1) * float(size) < more


def test_a_part_of_a_gpu_needs_a_resource_of_its_own() -> None:
    """Kubernetes knows no half of one."""
    with pytest.raises(BadInput, match=r"0.5 of nvidia.com/gpu cannot be asked for"):
        pods(slice_gpus="0.5")


def test_they_bear_the_taints_of_gpu_nodes_and_of_warming_ones() -> None:
    """A node that warms up would otherwise be ordered twice."""
    template = pods(tolerations="team=ml:NoSchedule").template(request("placeholder", SELECTOR))
    assert ["nvidia.com/gpu", "tidecast.io/warming", "team"] == [
        one["key"] for one in template["spec"]["tolerations"]
    ]
    assert {"karpenter.sh/nodepool": "gpu-a"} == template["spec"]["nodeSelector"]


def test_they_go_at_once_and_may_do_nothing() -> None:
    """Whoever needs the node does not wait for them."""
    template = pods().template(request("placeholder", SELECTOR), "tidecast-placeholder")
    spec = template["spec"]
    assert 0 == spec["terminationGracePeriodSeconds"]
    assert not spec["automountServiceAccountToken"]
    assert spec["securityContext"]["runAsNonRoot"]
    assert "tidecast-placeholder" == spec["priorityClassName"]
    assert {"drop": ["ALL"]} == container(template)["securityContext"]["capabilities"]
    assert "tidecast" == template["metadata"]["labels"]["app.kubernetes.io/managed-by"]
