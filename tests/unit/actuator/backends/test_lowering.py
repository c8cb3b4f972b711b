"""How far a group may be lowered: never below those that must stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actuator.backends.lowering import Lowering, left_to_somebody_else, lowering
from tests.fakes.requests import request

members = st.lists(st.sampled_from("abcdefgh"), unique=True)


def test_those_that_may_go_go_in_their_order() -> None:
    """As many as are wanted, or as many as there are."""
    assert Lowering(3, ("d",)) == lowering(3, "abcd", "da")
    assert Lowering(2, ("d", "a")) == lowering(0, "abcd", "da")
    assert Lowering(4, ()) == lowering(0, "abcd", "xyz")
    assert Lowering(9, ()) == lowering(9, "abcd", "da")


@given(st.integers(0, 9), members, st.lists(st.sampled_from("abcdefghxyz")))
def test_a_member_that_must_stay_stays(wanted: int, there: list[str], may: list[str]) -> None:
    """And the same again, before or after they have gone, removes nobody else."""
    first = lowering(wanted, there, may)
    assert set(first.going) <= set(may) & set(there)
    assert max(len(there) - len(first.going), first.target) == first.target
    left = [one for one in there if one not in first.going]
    assert first == lowering(wanted, there, may)
    assert wanted <= first.target <= lowering(first.target, left, may).target
    assert () == lowering(first.target, left, may).going


@pytest.mark.parametrize(
    ("current", "desired", "found", "is_left"),
    [(3, 4, 6, True), (3, 3, 6, True), (3, 4, 4, False), (3, 4, 3, False), (3, 2, 6, False)],
)
def test_only_a_decision_for_fewer_lowers(
    current: int, desired: int, found: int, is_left: bool
) -> None:
    """What somebody else asked for on top stays, and is told."""
    one = request("scale", {}, current_nodes=current, desired_nodes=desired)
    assert is_left is (left_to_somebody_else(one, found) is not None)
