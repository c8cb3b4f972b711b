"""Need must stay well below what a scale-down leaves."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actuator.guards.hysteresis import hysteresis
from actuator.plan import Mode
from tests.fakes.situations import calm, proposed, seen


@pytest.mark.parametrize(
    ("need_gpus", "allowed"),
    [(0.0, 1), (4.7, 1), (4.8, 2), (23.9, 5), (24.0, 6), (47.9, 10), (48.0, 10), (90.0, 10)],
)
def test_need_stays_below_the_share_of_what_is_left(need_gpus: float, allowed: int) -> None:
    """60 % of 5 nodes of 8 GPUs are 24: a need of 24 keeps a sixth node."""
    situation = replace(calm(10, idle=10), need_gpus=need_gpus)
    assert allowed == hysteresis(proposed(10, 1), situation).desired_nodes


@given(need_gpus=st.floats(0, 200), nodes=st.integers(1, 20), desired=st.integers(0, 19))
def test_no_more_and_no_fewer_nodes_go_than_need_allows(
    need_gpus: float, nodes: int, desired: int
) -> None:
    """Trying every number of nodes, one by one, gives the same, but for rounding at the edge."""
    situation = replace(calm(nodes), need_gpus=need_gpus)
    proposal = proposed(nodes, min(desired, nodes))
    after = hysteresis(proposal, situation).desired_nodes

    def tried(need: float) -> int:
        rest = range(proposal.desired_nodes, nodes)
        return next((left for left in rest if need < 0.6 * 8 * left or need == left == 0), nodes)

    assert tried(need_gpus * (1 - 1e-9)) <= after <= tried(need_gpus * (1 + 1e-9) + 1e-9)


def test_a_pool_that_nobody_needs_gives_back_its_last_node() -> None:
    """Its floor is another guard's."""
    situation = replace(calm(3, idle=3), need_gpus=0.0)
    assert 0 == hysteresis(proposed(3, 0), situation).desired_nodes


def test_demand_now_counts_where_it_is_higher() -> None:
    """A forecast below what runs gives back nothing that runs."""
    situation = seen(replace(calm(10, idle=10), need_gpus=0.0), used_gpus=40.0)
    assert 9 == hysteresis(proposed(10, 1), situation).desired_nodes


def test_only_ready_capacity_counts_as_left() -> None:
    """Nodes that are on their way or unready serve nobody yet."""
    situation = seen(replace(calm(10, idle=10), need_gpus=24.0), capacity_gpus=56.0)
    assert 9 == hysteresis(proposed(10, 1), situation).desired_nodes


@pytest.mark.parametrize("need_gpus", [None, float("nan"), float("inf")])
@pytest.mark.parametrize("mode", list(Mode))
def test_an_unknown_need_gives_nothing_back(need_gpus: float | None, mode: Mode) -> None:
    """Whatever led to the proposal."""
    situation = replace(calm(10, idle=10), need_gpus=need_gpus)
    after = hysteresis(replace(proposed(10, 1), mode=mode), situation)
    assert 10 == after.desired_nodes
    assert "not known" in after.reasons[0].text


@pytest.mark.parametrize("figure", ["used_gpus", "capacity_gpus"])
def test_an_unknown_demand_or_capacity_gives_nothing_back(figure: str) -> None:
    """NaN compares as nothing at all, so it is looked for."""
    situation = seen(calm(10, idle=10), **{figure: float("nan")})
    assert 10 == hysteresis(proposed(10, 1), situation).desired_nodes


def test_a_share_of_zero_allows_no_scale_down() -> None:
    """Nothing is below nothing."""
    situation = calm(10, idle=10)
    situation = replace(situation, policy=replace(situation.policy, scale_down_below_share=0.0))
    assert 10 == hysteresis(proposed(10, 1), situation).desired_nodes


def test_a_scale_up_passes() -> None:
    """The other threshold is the sizing's."""
    assert 12 == hysteresis(proposed(10, 12), replace(calm(10), need_gpus=None)).desired_nodes
