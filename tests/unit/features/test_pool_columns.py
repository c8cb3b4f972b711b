"""Counts of pods by size become columns; a loop over each pod and minute says what they must be."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from features.pool import Pool, Shape
from features.sources.pool_columns import PodTally, PoolColumn
from features.sources.prometheus_http import RangeSeries
from features.sources.query_plan import COUNTED, NodeSizes, PodCount, PodState, PodUnit

SIZES = NodeSizes({"a100": 8}, default_gpus=4)
STEPS, LOOKS = 3, 2
INSTANTS = {PodState.RUNNING: 7, PodState.PENDING: 7, PodState.ARRIVED: 3, PodState.HELD: 7}
WHOLE, PART = Pool("a100", Shape.WHOLE_NODE), Pool("a100", Shape.FRAGMENT)


def counted(
    tally: PodTally,
    state: PodState,
    gpus: str,
    pods: dict[int, int],
    unit: PodUnit = PodUnit.GPUS,
) -> None:
    answer = RangeSeries(
        {"gpu_type": "a100", "gpus": gpus},
        np.array(list(pods), dtype=np.int64),
        np.array(list(pods.values()), dtype=np.float64),
    )
    tally.add(PodCount(state, unit, ""), SIZES, answer)


def columns(tally: PodTally) -> dict[tuple[Pool, str], list[float]]:
    return {(pool, name): values.tolist() for pool, name, values in tally.columns()}


def test_pods_counted_by_hand() -> None:
    """Two fragments of two GPUs that meet one of three inside the second step, and whole nodes."""
    tally = PodTally(STEPS, LOOKS)
    counted(tally, PodState.RUNNING, "2", {2: 1, 3: 2})
    counted(tally, PodState.PENDING, "3", {3: 1, 4: 1})
    counted(tally, PodState.ARRIVED, "3", {1: 1})
    counted(tally, PodState.RUNNING, "8", dict.fromkeys(range(7), 2))
    counted(tally, PodState.PENDING, "0.5", {6: 3}, PodUnit.PARTS)
    made = columns(tally)
    assert {(pool, name) for pool in (WHOLE, PART) for name in COUNTED} == set(made)
    assert [2, 7, 3] == made[PART, "demand_gpus"]
    assert [2, 0, 0] == made[PART, "running_gpus"]
    assert [0, 3, 1.5] == made[PART, "pending_gpus"]
    assert [0, 1, 3] == made[PART, "queued_jobs"]
    assert [0, 1, 0] == made[PART, "submitted_jobs"]
    assert [0, 3, 0] == made[PART, "submitted_gpus"]
    assert [0, 0, 0] == made[PART, "capped"]
    assert [16, 16, 16] == made[WHOLE, "demand_gpus"]


def test_held_pods_cap_their_own_pool_and_make_no_demand() -> None:
    """Those seen at any look of a step count, its edges included; the other shape is free."""
    tally = PodTally(STEPS, LOOKS)
    counted(tally, PodState.RUNNING, "2", {0: 1})
    counted(tally, PodState.HELD, "8", {4: 1})
    counted(tally, PodState.HELD, "16", {4: 2, 5: 1})
    made = columns(tally)
    assert [0, 3, 3] == made[WHOLE, "capped"]
    assert [0, 0, 0] == made[PART, "capped"]
    assert [2, 0, 0] == made[PART, "demand_gpus"]
    assert (WHOLE, "demand_gpus") not in made


@given(
    st.lists(
        st.tuples(
            st.sampled_from(PodState),
            st.sampled_from(PodUnit),
            st.sampled_from([0.5, 1, 4, 8, 16]),
            st.dictionaries(st.integers(0, 6), st.integers(1, 5), max_size=7),
        ),
        max_size=8,
    )
)
def test_columns_are_what_a_loop_over_pods_gives(
    answers: list[tuple[PodState, PodUnit, float, dict[int, int]]],
) -> None:
    """Whatever is counted, each step's columns are the sums of the pods seen in it."""
    tally = PodTally(STEPS, LOOKS)
    seen: list[tuple[Pool, PodState, int, float, int]] = []
    for state, unit, gpus, pods in answers:
        kept = {at: pods[at] for at in pods if at < INSTANTS[state]}
        counted(tally, state, f"{gpus:g}", kept, unit)
        pool = WHOLE if unit is PodUnit.GPUS and gpus >= 8 else PART
        seen += [(pool, state, at, gpus, count) for at, count in kept.items()]
    made = columns(tally)

    def total(pool: Pool, states: set[PodState], at: int, by_gpus: int) -> float:
        fits = [one for one in seen if one[0] == pool and one[1] in states and one[2] == at]
        return sum(count * gpus**by_gpus for _, _, _, gpus, count in fits)

    levels = {PodState.RUNNING, PodState.PENDING}
    for pool in {pool for pool, name in made if name == "demand_gpus"}:
        for step in range(STEPS):
            inside, close = range(step * LOOKS, (step + 1) * LOOKS + 1), (step + 1) * LOOKS
            expected = {
                "demand_gpus": max(total(pool, levels, at, 1) for at in inside),
                "running_gpus": total(pool, {PodState.RUNNING}, close, 1),
                "pending_gpus": total(pool, {PodState.PENDING}, close, 1),
                "queued_jobs": total(pool, {PodState.PENDING}, close, 0),
                "submitted_jobs": total(pool, {PodState.ARRIVED}, step, 0),
                "submitted_gpus": total(pool, {PodState.ARRIVED}, step, 1),
                "capped": max(total(pool, {PodState.HELD}, at, 0) for at in inside),
            }
            assert expected == {name: made[pool, name][step] for name in COUNTED}


def test_a_copy_fills_what_the_other_missed() -> None:
    """NaN of one copy gives way to the number of the other; NaN of both stays."""
    column = PoolColumn.empty(4)
    column.lay(RangeSeries({}, np.array([0, 1, 2]), np.array([1.0, np.nan, np.nan])))
    column.lay(RangeSeries({}, np.array([0, 1, 2]), np.array([2.0, 3.0, np.nan])))
    np.testing.assert_array_equal([2, 3, np.nan, np.nan], column.values)
    assert [True, True, True, False] == column.present.tolist()
