"""All pools together stay within GPUs and money."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actuator.guards.budget import Asked, within_budget
from actuator.plan import Proposal
from actuator.policy import Budget, NodePoolPolicy, PoolPolicy
from actuator.view import NodePoolView, PoolView
from tests.fakes.situations import proposed


def asked(
    current: int,
    desired: int,
    *,
    floor: int = 0,
    node_gpus: int = 8,
    prices: tuple[float | None, ...] = (10.0,),
) -> Asked:
    """A pool whose nodes all belong to its first node pool."""
    node_pools = tuple(
        NodePoolPolicy(f"node-pool-{at}", node_hour_price=price) for at, price in enumerate(prices)
    )
    pool = PoolPolicy("a100/whole-node", node_gpus, node_pools, floor_nodes=floor)
    view = PoolView(
        pool=pool.pool,
        node_gpus=node_gpus,
        node_pools=tuple(
            NodePoolView(one.name, current if one is node_pools[0] else 0) for one in node_pools
        ),
        capacity_nodes=current,
        arriving_nodes=0,
        unready_nodes=0,
        capacity_gpus=float(current * node_gpus),
        used_gpus=0.0,
    )
    return pool, view, proposed(current, desired)


def nodes(proposals: list[Proposal]) -> list[int]:
    """Their desired nodes."""
    return [one.desired_nodes for one in proposals]


def test_without_a_budget_nothing_changes() -> None:
    """None is no limit."""
    pools = [asked(1, 50), asked(0, 50)]
    assert [one[2] for one in pools] == within_budget(pools, Budget())


def test_the_first_pool_of_the_policy_is_served_first() -> None:
    """Of 80 GPUs 16 are taken: eight more nodes, six for the first, two for the second."""
    pools = [asked(1, 7), asked(1, 7), asked(0, 2)]
    after = within_budget(pools, Budget(most_gpus=80))
    assert [7, 3, 0] == nodes(after)
    assert [False, True, True] == [one.held_back for one in after]
    text = "3 nodes instead of 7: all pools together may take 80 GPUs"
    assert [("budget", text)] == [(one.code, one.text) for one in after[1].reasons]


def test_every_pool_s_own_floor_comes_before_any_pool_s_wish() -> None:
    """The last pool's floor of 3 leaves 7 nodes to the first."""
    pools = [asked(0, 10), asked(0, 5, floor=3)]
    assert [7, 3] == nodes(within_budget(pools, Budget(most_gpus=80)))


def test_what_is_there_is_never_taken_away() -> None:
    """Pools over the budget stay as they are, and may shrink."""
    pools = [asked(20, 25), asked(20, 12)]
    assert [20, 12] == nodes(within_budget(pools, Budget(most_gpus=8)))


def test_what_is_given_back_is_not_spent_before_it_is_gone() -> None:
    """The nodes still stand while the others would come."""
    pools = [asked(10, 0), asked(0, 5)]
    assert [0, 0] == nodes(within_budget(pools, Budget(most_gpus=80)))


def test_money_limits_by_the_dearest_node_pool_that_may_be_asked() -> None:
    """100 an hour less 20 for what is there are two nodes at 30, whoever will serve them."""
    pools = [asked(2, 9, prices=(10.0, 30.0))]
    after = within_budget(pools, Budget(most_per_hour=100.0))
    assert [4] == nodes(after)
    text = "4 nodes instead of 9: all pools together may cost 100 an hour"
    assert text == after[0].reasons[0].text


@pytest.mark.parametrize(
    ("prices", "allowed"), [((None, 20.0), 4), ((20.0, None), 4), ((None, None), 2)]
)
def test_an_unknown_price_counts_as_the_dearest_known(
    prices: tuple[float | None, ...], allowed: int
) -> None:
    """The dearest of its pool, or of all pools where its own knows none: here 40."""
    pools = [asked(0, 9, prices=prices), asked(0, 0, prices=(40.0,))]
    assert [allowed, 0] == nodes(within_budget(pools, Budget(most_per_hour=80.0)))


def test_an_unknown_price_of_what_is_there_is_not_nothing() -> None:
    """Two nodes at an unknown price are taken to cost 40 each."""
    pools = [asked(2, 2, prices=(None,)), asked(0, 9, prices=(40.0,))]
    assert [2, 1] == nodes(within_budget(pools, Budget(most_per_hour=120.0)))


def test_where_no_price_is_known_scale_ups_are_held_and_say_so() -> None:
    """Money cannot be kept to without any price; a scale-down is free."""
    pools = [asked(2, 9, prices=(None,)), asked(5, 3, prices=(None,))]
    after = within_budget(pools, Budget(most_per_hour=100.0))
    assert [2, 3] == nodes(after)
    assert "no node pool's price is known" in after[0].reasons[0].text


def test_nodes_that_cost_nothing_are_limited_by_gpus_alone() -> None:
    """A price of zero is a known price."""
    pools = [asked(0, 9, prices=(0.0,))]
    assert [9] == nodes(within_budget(pools, Budget(most_per_hour=0.0)))
    assert [5] == nodes(within_budget(pools, Budget(most_gpus=40, most_per_hour=0.0)))


def test_both_limits_are_named_where_both_bind() -> None:
    """Five nodes are 40 GPUs and 50 an hour."""
    after = within_budget([asked(0, 9)], Budget(most_gpus=40, most_per_hour=50.0))
    assert [5] == nodes(after)
    assert "40 GPUs; all pools together may cost 50" in after[0].reasons[0].text


POOLS = st.lists(
    st.builds(
        asked,
        st.integers(0, 10),
        st.integers(0, 20),
        floor=st.integers(0, 5),
        node_gpus=st.sampled_from([1, 8]),
        prices=st.lists(st.none() | st.floats(0, 50), min_size=1, max_size=3).map(tuple),
    ),
    min_size=1,
    max_size=5,
)
BUDGETS = st.builds(Budget, st.none() | st.integers(0, 400), st.none() | st.floats(0, 2000))


@given(pools=POOLS, budget=BUDGETS)
def test_a_budget_is_never_riskier_and_only_cuts_scale_ups(
    pools: list[Asked], budget: Budget
) -> None:
    """Between current and desired; untouched, or cut with its reason."""
    for (_, _, before), after in zip(pools, within_budget(pools, budget), strict=True):
        if after != before:
            assert before.current_nodes <= after.desired_nodes < before.desired_nodes
            assert ["budget"] == [one.code for one in after.reasons]


@given(pools=POOLS, budget=BUDGETS)
def test_what_is_added_fits_into_the_gpus(pools: list[Asked], budget: Budget) -> None:
    """Counting again what is there and what is added."""
    after = within_budget(pools, budget)
    if budget.most_gpus is not None and any(one.scales_up for one in after):
        total = [max(one.current_nodes, one.desired_nodes) for one in after]
        gpus = [pool.node_gpus * count for (pool, _, _), count in zip(pools, total, strict=True)]
        assert sum(gpus) <= budget.most_gpus


@given(pools=POOLS, most_per_hour=st.floats(0, 2000))
def test_what_is_added_fits_into_the_money(pools: list[Asked], most_per_hour: float) -> None:
    """Even the new nodes alone, counted at the dearest price that their own pool knows."""
    cost = 0.0
    for (pool, _, before), after in zip(
        pools, within_budget(pools, Budget(most_per_hour=most_per_hour)), strict=True
    ):
        known = [one.node_hour_price for one in pool.node_pools if one.node_hour_price is not None]
        added = max(0, after.desired_nodes - before.current_nodes)
        cost += added * max(known, default=0.0)
    assert cost <= most_per_hour + 1e-6


@given(pools=POOLS, budget=BUDGETS)
def test_a_second_time_changes_nothing_more(pools: list[Asked], budget: Budget) -> None:
    """What fits, fits again."""
    once = within_budget(pools, budget)
    again = [(pool, view, one) for (pool, view, _), one in zip(pools, once, strict=True)]
    assert once == within_budget(again, budget)


def test_a_cut_keeps_the_reasons_before_it() -> None:
    """In the order in which it was decided."""
    pool, view, proposal = asked(0, 9)
    earlier = within_budget([(pool, view, proposal)], Budget(most_gpus=48))[0]
    after = within_budget([(pool, view, replace(earlier))], Budget(most_gpus=40))[0]
    assert [6, 5] == [int(one.text.split()[0]) for one in after.reasons]
