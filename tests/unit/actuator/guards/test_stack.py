"""What every guard promises, and what all of them together do."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actuator.guards import GUARDS, guarded
from actuator.guards.guard import Situation
from actuator.plan import Proposal
from tests.fakes.situations import calm, judged, proposed, seen, situations

ROOT = Path(__file__).parents[4]
STACKED = {**GUARDS, "stack": guarded}


@given(case=judged())
def test_the_result_lies_between_the_current_nodes_and_the_desired(
    case: tuple[Proposal, Situation],
) -> None:
    """No guard makes a plan riskier or turns it about."""
    before, situation = case
    low, high = sorted((before.current_nodes, before.desired_nodes))
    for code, guard in STACKED.items():
        after = guard(before, situation)
        assert low <= after.desired_nodes <= high, code
        assert before.current_nodes == after.current_nodes, code


@given(case=judged())
def test_a_second_time_changes_nothing(case: tuple[Proposal, Situation]) -> None:
    """What a guard has let pass, it lets pass again."""
    for code, guard in STACKED.items():
        once = guard(*case)
        assert once == guard(once, case[1]), code


@given(situation=situations(), desired=st.tuples(st.integers(0, 60), st.integers(0, 60)))
def test_asking_for_more_never_gives_less(situation: Situation, desired: tuple[int, int]) -> None:
    """Guards are monotone in what is asked for."""
    for code, guard in STACKED.items():
        fewer, more = (
            guard(proposed(situation.view.current_nodes, nodes), situation).desired_nodes
            for nodes in sorted(desired)
        )
        assert fewer <= more, code


@given(case=judged())
def test_a_reason_is_given_exactly_when_something_changes(
    case: tuple[Proposal, Situation],
) -> None:
    """The reason's code is the guard's row in the table."""
    before, situation = case
    for code, guard in GUARDS.items():
        after = guard(before, situation)
        if after.desired_nodes == before.desired_nodes:
            assert before is after, code
        else:
            assert [code] == [reason.code for reason in after.reasons]
            assert (code, True) == (after.bound_by, after.held_back)


@given(case=judged())
def test_the_order_of_the_guards_changes_no_number(case: tuple[Proposal, Situation]) -> None:
    """Guards know nothing of each other."""
    proposal, situation = case
    backwards = proposal
    for guard in reversed(GUARDS.values()):
        backwards = guard(backwards, situation)
    assert guarded(proposal, situation).desired_nodes == backwards.desired_nodes


@given(case=judged())
def test_nothing_is_scaled_past_floor_or_ceiling(case: tuple[Proposal, Situation]) -> None:
    """A scale-down stops at the floor, a scale-up at the ceiling."""
    after = guarded(*case)
    assert not after.scales_down or after.desired_nodes >= case[1].floor_nodes
    assert not after.scales_up or after.desired_nodes <= case[1].pool.ceiling_nodes


@given(case=judged())
def test_what_is_not_known_never_gives_nodes_back(case: tuple[Proposal, Situation]) -> None:
    """Doubt, a missing need, and NaN in any figure, in any mixture."""
    proposal, situation = case
    view, need_gpus = situation.view, situation.need_gpus
    figures = (need_gpus, view.capacity_gpus, view.demand_gpus)
    unknown = any(one is None or math.isnan(one) for one in figures)
    after = guarded(proposal, situation)
    assert not after.scales_down or not (unknown or view.doubtful)


@given(case=judged(), more_gpus=st.floats(0, 320))
def test_a_higher_need_never_leaves_fewer_nodes(
    case: tuple[Proposal, Situation], more_gpus: float
) -> None:
    """Guards are monotone in the need that is foreseen."""
    proposal, situation = case
    if situation.need_gpus is not None:
        needier = replace(situation, need_gpus=situation.need_gpus + more_gpus)
        less = guarded(proposal, situation).desired_nodes
        assert less <= guarded(proposal, needier).desired_nodes


def test_in_a_calm_pool_idle_nodes_go() -> None:
    """The guards are no wall: where nothing speaks against it a scale-down passes untouched."""
    proposal = proposed(10, 4)
    assert proposal is guarded(proposal, calm(10, idle=6))


def test_every_guard_that_objects_is_named() -> None:
    """Doubt holds the nodes; nobody after it has anything left to object to."""
    after = guarded(proposed(10, 45), seen(calm(10), doubtful=("not synced",)))
    assert ["unknown-state"] == [reason.code for reason in after.reasons]
    after = guarded(proposed(10, 45), calm(10))
    assert ["step-limit"] == [reason.code for reason in after.reasons]
    after = guarded(proposed(39, 60), calm(39))
    assert ["step-limit", "ceiling"] == [reason.code for reason in after.reasons]
    assert (40, "ceiling") == (after.desired_nodes, after.bound_by)


@pytest.mark.parametrize("code", list(GUARDS))
def test_a_guard_has_its_file_and_its_test(code: str) -> None:
    """Row, function, file and test file agree."""
    name = code.replace("-", "_")
    assert f"actuator.guards.{name}" == GUARDS[code].__module__
    assert (ROOT / "actuator" / "guards" / f"{name}.py").is_file()
    assert (ROOT / "tests" / "unit" / "actuator" / "guards" / f"test_{name}.py").is_file()


def test_no_file_of_a_guard_is_missing_in_the_table() -> None:
    """A guard that nobody stacks guards nothing."""
    files = {path.stem for path in (ROOT / "actuator" / "guards").glob("*.py")}
    rows = {code.replace("-", "_") for code in GUARDS}
    assert rows == files - {"__init__", "guard", "budget"}
