"""The reactive fallback: arms, confirms, and asks once for all that waits and would fit."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actuator.memory import QueueTimers
from actuator.plan import Mode, Proposal
from actuator.policy import PoolPolicy, ReactivePolicy
from actuator.reactive import not_servable, queue_timers, reactive_nodes, wait_seconds
from actuator.state import Waiting
from actuator.view import PoolView
from tests.fakes.pool_views import FRAGMENT, NOW, WHOLE, pool_view, waiting_job

POLICY = ReactivePolicy()
CONFIRMED = QueueTimers(above_since_seconds=NOW - 420, armed_since_seconds=NOW - 300)
QUEUED = pool_view(waiting=[waiting_job(8.0)])
SIZES = st.sampled_from([0.5, 1.0, 2.0, 4.0, 8.0])


def requested(
    view: PoolView, pool: PoolPolicy = WHOLE, timers: QueueTimers = CONFIRMED
) -> Proposal | None:
    """What the queue asks for now."""
    return reactive_nodes(view, timers, POLICY, pool, NOW)


def test_a_queue_goes_from_seen_to_armed_to_confirmed() -> None:
    """Two minutes above the threshold arm, five more confirm; cycle by cycle."""
    timers, asked_after = QueueTimers(), None
    for minute in range(10):
        now_seconds = NOW + 60 * minute
        view = pool_view(waiting=[replace(waiting_job(8.0), created_seconds=NOW)])
        timers = queue_timers(view, timers, POLICY, now_seconds)
        if asked_after is None and reactive_nodes(view, timers, POLICY, WHOLE, now_seconds):
            asked_after = minute
    assert QueueTimers(NOW, NOW + 120) == timers
    assert 7 == asked_after


@pytest.mark.parametrize(
    ("threshold", "expected"), [(0, QueueTimers(NOW, None)), (1, QueueTimers())]
)
def test_only_more_jobs_than_the_threshold_count(threshold: int, expected: QueueTimers) -> None:
    """As many as the threshold are no queue."""
    policy = replace(POLICY, queue_threshold_jobs=threshold)
    assert expected == queue_timers(QUEUED, QueueTimers(), policy, NOW)


@pytest.mark.parametrize(
    ("waited_seconds", "armed_since_seconds"), [(600, None), (601, NOW), (3600, NOW)]
)
def test_a_long_wait_arms_at_once(waited_seconds: int, armed_since_seconds: int | None) -> None:
    """However few wait: the threshold is for short queues, not for long waits."""
    view = pool_view(waiting=[waiting_job(8.0, waited_seconds=waited_seconds)])
    for threshold, above_since_seconds in ((0, NOW), (5, None)):
        policy = replace(POLICY, queue_threshold_jobs=threshold)
        found = queue_timers(view, QueueTimers(), policy, NOW)
        assert armed_since_seconds == found.armed_since_seconds
        if armed_since_seconds is not None:
            assert above_since_seconds == found.above_since_seconds


@pytest.mark.parametrize("view", [pool_view(), pool_view(waiting=[waiting_job(1.0)])])
def test_a_queue_that_falls_to_the_threshold_is_disarmed(view: PoolView) -> None:
    """What was confirmed a minute ago is forgotten."""
    policy = replace(POLICY, queue_threshold_jobs=1)
    assert QueueTimers() == queue_timers(view, CONFIRMED, policy, NOW)


def test_a_doubtful_view_moves_no_timer() -> None:
    """An empty queue that nobody saw disarms nothing; a full one arms nothing."""
    unseen = pool_view(doubtful=["not wholly in view"])
    assert CONFIRMED == queue_timers(unseen, CONFIRMED, POLICY, NOW)
    full = replace(unseen, waiting=(waiting_job(8.0, waited_seconds=9999),))
    assert QueueTimers() == queue_timers(full, QueueTimers(), POLICY, NOW)


@pytest.mark.parametrize(("jobs", "expected"), [(1, 1), (19, 19), (20, 19), (100, 95)])
def test_p95_is_the_nearest_rank(jobs: int, expected: int) -> None:
    """Of waits of 1 to n seconds."""
    waiting = [waiting_job(1.0, waited_seconds=n) for n in range(jobs, 0, -1)]
    assert expected == wait_seconds(pool_view(waiting=waiting), 0.95, NOW)


@pytest.mark.parametrize(
    "timers", [QueueTimers(), QueueTimers(NOW - 999), QueueTimers(NOW - 419, NOW - 299)]
)
def test_nothing_is_asked_for_before_a_queue_is_confirmed(timers: QueueTimers) -> None:
    """Neither above the threshold nor armed is enough."""
    assert requested(QUEUED, timers=timers) is None


def test_all_that_waits_becomes_one_request() -> None:
    """A gang of four nodes and a job of one; one node is free and two are on their way."""
    view = pool_view(
        nodes=10,
        arriving_nodes=2,
        free_gpus=[8.0, 7.0],
        waiting=[waiting_job(8.0, 8.0, 8.0, 8.0, name="a"), waiting_job(8.0, name="b")],
    )
    found = requested(view)
    assert found is not None
    assert (12, 14) == (found.current_nodes, found.desired_nodes)
    assert (Mode.REACTIVE, "queue") == (found.mode, found.bound_by)
    assert ["queue"] == [reason.code for reason in found.reasons]
    assert "2 jobs wait for 40 GPUs" in found.reasons[0].text


def test_what_finds_room_asks_for_nothing_but_keeps_what_is_there() -> None:
    """A confirmed queue is a floor under the forecast even then."""
    found = requested(replace(QUEUED, free_gpus=(8.0,)))
    assert found is not None
    assert found.current_nodes == found.desired_nodes


def test_fragments_share_new_nodes() -> None:
    """Three jobs of 3 GPUs and one of 2 take two nodes."""
    view = pool_view(FRAGMENT, waiting=[waiting_job(size) for size in (3.0, 3.0, 3.0, 2.0)])
    found = requested(view, FRAGMENT)
    assert found is not None
    assert 12 == found.desired_nodes


def test_what_no_node_would_serve_is_named_and_not_counted() -> None:
    """By kind, so that an operator knows what to do."""
    view = replace(QUEUED, not_servable={Waiting.HELD_BY_QUOTA: 3, Waiting.IMAGE_MISSING: 1})
    found = requested(view)
    assert found is not None
    assert 11 == found.desired_nodes
    assert not_servable(view) == found.reasons[1]
    assert "3 (held by a quota), 1 (its image cannot be pulled)" in found.reasons[1].text
    assert not_servable(QUEUED) is None


@given(
    st.lists(st.lists(SIZES, min_size=1, max_size=4), max_size=10),
    st.lists(SIZES, min_size=1, max_size=4),
    st.lists(SIZES, max_size=6),
    st.integers(0, 3),
)
def test_one_more_job_never_means_fewer_nodes(
    jobs: list[list[float]], one_more: list[float], free_gpus: list[float], arriving_nodes: int
) -> None:
    """And the queue never asks for fewer than there are."""
    waiting = [waiting_job(*sizes) for sizes in jobs]
    view = pool_view(arriving_nodes=arriving_nodes, free_gpus=free_gpus, waiting=waiting)
    longer = replace(view, waiting=(*waiting, waiting_job(*one_more)))
    less, more = requested(view), requested(longer)
    assert less is not None
    assert more is not None
    assert view.current_nodes <= less.desired_nodes <= more.desired_nodes
