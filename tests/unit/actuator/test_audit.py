"""A decision on record is found again by a cycle that is repeated, and closed as what it became."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actuator.audit import (
    EventStanding,
    abandoned,
    closed,
    event_identifier,
    is_recorded,
    opened,
    shadowed,
    thresholds,
)
from actuator.plan import NodePoolTarget
from actuator.policy import COST
from tests.fakes.decisions import DONE, POOL, START_SECONDS, event, plan, policy


@given(
    one=st.tuples(st.integers(0, 2**40), st.text(), st.integers(0, 2**31)),
    other=st.tuples(st.integers(0, 2**40), st.text(), st.integers(0, 2**31)),
)
def test_the_same_decision_has_the_same_identifier_and_no_other_has(
    one: tuple[int, str, int], other: tuple[int, str, int]
) -> None:
    """Time, pool and policy version make it, and nothing else."""
    assert (one == other) == (event_identifier(*one) == event_identifier(*other))


def test_an_identifier_fits_into_an_address_and_names_its_time() -> None:
    """Whatever the pool is called."""
    identifier = event_identifier(START_SECONDS, "a/b c?&\n", 3)
    time, digest = identifier.split("-")
    assert START_SECONDS == int(time)
    assert digest.isalnum()


def test_what_changes_something_or_is_held_back_is_recorded() -> None:
    """A plan that leaves all as it is, by its own will, is not."""
    still = plan(desired_nodes=5, targets=(NodePoolTarget("a100-spot", 5, 5),), held_back=False)
    assert not is_recorded(still)
    assert is_recorded(replace(still, held_back=True))
    assert is_recorded(replace(still, desired_nodes=4))
    moved = (NodePoolTarget("a100-spot", 5, 4), NodePoolTarget("a100-on-demand", 0, 1))
    assert is_recorded(replace(still, targets=moved))


def test_an_event_is_open_until_it_is_known_what_became_of_it() -> None:
    """Closing and abandoning keep everything else."""
    made = event()
    assert (EventStanding.OPEN, None, ()) == (made.standing, made.closed_seconds, made.outcomes)
    done = closed(made, (DONE,), START_SECONDS + 9)
    assert (EventStanding.CLOSED, START_SECONDS + 9, (DONE,)) == (
        done.standing,
        done.closed_seconds,
        done.outcomes,
    )
    left = abandoned(made, START_SECONDS + 9)
    assert (EventStanding.ABANDONED, START_SECONDS + 9) == (left.standing, left.closed_seconds)
    assert made == replace(done, standing=made.standing, closed_seconds=None, outcomes=())
    assert made == replace(left, standing=made.standing, closed_seconds=None)


def test_without_an_action_there_is_nothing_to_wait_for() -> None:
    """A decision that was held back, and one of a shadow policy, are closed at once."""
    held = opened(plan(), policy(), (), START_SECONDS)
    assert (EventStanding.CLOSED, START_SECONDS) == (held.standing, held.closed_seconds)
    tried = shadowed(plan(), policy(4), START_SECONDS)
    assert (True, EventStanding.CLOSED, ()) == (tried.shadow, tried.standing, tried.actions)
    assert tried.identifier != held.identifier


@pytest.mark.parametrize("unknown", [float("nan"), float("inf"), None])
def test_what_is_not_known_is_null_on_record(unknown: float | None) -> None:
    """It is neither a number nor left out."""
    made = opened(plan(seen={"demand_gpus": unknown, "lead_seconds": 0}), policy(), (), 0)
    assert {"demand_gpus": None, "lead_seconds": 0} == made.seen


def test_an_event_names_its_forecast_or_says_that_there_was_none() -> None:
    """As the plan has it."""
    assert f"{POOL} by persistence 1" == event().forecast_reference
    assert event(seen={"forecast": None}).forecast_reference is None
    assert event(seen={}).forecast_reference is None


def test_thresholds_are_those_of_the_pool() -> None:
    """Strategy, bounds, budget, queue and guards, under names that carry their units."""
    (pool,) = policy().pools
    tuned = replace(policy(), pools=(replace(pool, strategy=COST, ceiling_nodes=17),))
    found = thresholds(tuned, POOL)
    assert ("cost", 0.75, 17, None) == (
        found["strategy"],
        found["quantile"],
        found["ceiling_nodes"],
        found["most_gpus"],
    )
    assert (0.3, 120) == (found["step_limit_share"], found["arm_after_seconds"])
    with pytest.raises(KeyError):
        thresholds(tuned, "h100")
