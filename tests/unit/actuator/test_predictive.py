"""Predictive sizing: now, later, or no more than need takes."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actuator.outlook import Outlook
from actuator.plan import Mode, ScheduledAction
from actuator.predictive import Predictive, predictive
from actuator.view import PoolView
from tests.fakes.pool_views import FRAGMENT, NOW, WHOLE, pool_view, with_strategy

MINUTE = 60
LEAD = 20 * MINUTE
VIEW = pool_view(nodes=10)  # 80 GPUs, of which need may be 64
CALM = (40.0,) * 12
GPUS = st.floats(0, 500)
PATHS = st.lists(GPUS, min_size=12, max_size=12).map(tuple)
RAISES = st.lists(st.floats(0, 100), min_size=12, max_size=12)
VIEWS = st.builds(
    pool_view,
    nodes=st.integers(0, 40),
    arriving_nodes=st.integers(0, 5),
    unready_nodes=st.integers(0, 5),
)
AGES = st.integers(0, 20 * MINUTE)
LEADS = st.integers(MINUTE, 45 * MINUTE)
WAITS = st.integers(0, 30 * MINUTE)


def outlook(path_gpus: tuple[float, ...] = CALM, peak_gpus: float = 40.0) -> Outlook:
    """A forecast made now."""
    return Outlook(NOW, 300, 0.9, path_gpus, peak_gpus, 1800, "a100 from now by test 1")


def rising(gpus: float, from_minute: int) -> tuple[float, ...]:
    """A calm path up to that minute, and this demand from then on."""
    return tuple(gpus if step * 5 >= from_minute else 40.0 for step in range(12))


def asked(one: Outlook, view: PoolView = VIEW) -> Predictive:
    """What is asked of a whole-node pool now."""
    return predictive(one, view, WHOLE, LEAD, NOW)


def test_a_peak_beyond_the_trigger_asks_for_need_and_buffer() -> None:
    """100 GPUs x 1.2 take 15 nodes."""
    found = asked(outlook(peak_gpus=100.0))
    assert (15, 10) == (found.proposal.desired_nodes, found.proposal.current_nodes)
    assert Mode.PREDICTIVE is found.proposal.mode
    assert "predictive-need" == found.proposal.bound_by == found.proposal.reasons[0].code
    assert 100.0 == found.need_gpus
    assert NOW + 15 * MINUTE == found.needed_by_seconds
    assert found.scheduled is None


@pytest.mark.parametrize(("peak_gpus", "code"), [(64.0, "enough"), (64.1, "need")])
def test_the_trigger_is_a_share_of_what_is_coming(peak_gpus: float, code: str) -> None:
    """At 80 % nothing is asked for, beyond it is, by peak or step; nodes on their way count."""
    half_there = pool_view(nodes=5, arriving_nodes=5)
    for view in (VIEW, half_there):
        for one in (outlook(peak_gpus=peak_gpus), outlook(rising(peak_gpus, from_minute=10))):
            assert f"predictive-{code}" == asked(one, view).proposal.bound_by


@pytest.mark.parametrize(("peak_gpus", "code"), [(48.0, "enough"), (48.1, "need")])
def test_the_trigger_counts_what_fragments_can_fill(peak_gpus: float, code: str) -> None:
    """Of 80 GPUs jobs that pack badly fill 60, and 80 % of that is 48."""
    view = pool_view(FRAGMENT, nodes=10, fill_share=0.75)
    found = predictive(outlook(peak_gpus=peak_gpus), view, FRAGMENT, LEAD, NOW)
    assert f"predictive-{code}" == found.proposal.bound_by


def test_need_within_the_trigger_may_give_back() -> None:
    """40 GPUs x 1.2 take 6 of 10 nodes; whether they go is for the guards."""
    found = asked(outlook())
    assert 6 == found.proposal.desired_nodes
    assert found.scheduled is None
    assert found.needed_by_seconds is None


def test_nothing_is_given_back_that_is_needed_within_the_horizon() -> None:
    """The path counts to its end, beyond window and lead time."""
    found = asked(outlook(rising(60.0, from_minute=55)))
    assert (9, 60.0) == (found.proposal.desired_nodes, found.need_gpus)


@pytest.mark.parametrize("minute", [0, 10, 20])
def test_a_step_within_the_lead_time_asks_now(minute: int) -> None:
    """Later than now, nodes for it would come late."""
    found = asked(outlook(rising(80.0, from_minute=minute)))
    assert 12 == found.proposal.desired_nodes
    assert NOW + minute * MINUTE == found.needed_by_seconds


def test_a_step_beyond_the_lead_time_is_scheduled() -> None:
    """Need in 50 minutes is asked for in 30, and what is there stays."""
    found = asked(outlook(rising(80.0, from_minute=50)))
    expected = ScheduledAction(NOW + 30 * MINUTE, NOW + 50 * MINUTE, desired_nodes=12)
    assert expected == found.scheduled
    assert (10, "predictive-later") == (found.proposal.desired_nodes, found.proposal.bound_by)
    assert found.needed_by_seconds is None


def test_a_scheduled_size_goes_up_to_the_first_step_that_passes() -> None:
    """What comes after it is asked for in its time."""
    path = (*CALM[:8], 70.0, 90.0, 200.0, 200.0)
    found = asked(outlook(path))
    assert found.scheduled is not None
    assert 11 == found.scheduled.desired_nodes


def test_what_is_asked_now_covers_the_lead_time_and_the_peak_only() -> None:
    """A higher step later is none of now's business."""
    path = (70.0,) * 5 + (200.0,) * 7
    assert 12 == asked(outlook(path, peak_gpus=80.0)).proposal.desired_nodes


def test_a_tolerated_wait_puts_off_what_is_asked_for() -> None:
    """Need in 20 minutes that may wait 10 is asked for in 10."""
    pool = with_strategy(WHOLE, tolerated_wait_seconds=10 * MINUTE)
    found = predictive(outlook(rising(80.0, from_minute=20)), VIEW, pool, LEAD, NOW)
    expected = ScheduledAction(NOW + 10 * MINUTE, NOW + 30 * MINUTE, desired_nodes=12)
    assert expected == found.scheduled
    assert 10 == found.proposal.desired_nodes
    due = predictive(outlook(rising(80.0, from_minute=10)), VIEW, pool, LEAD, NOW)
    assert (12, NOW + 20 * MINUTE) == (due.proposal.desired_nodes, due.needed_by_seconds)


def test_a_short_lead_time_puts_off_a_peak_that_no_step_explains() -> None:
    """It counts as needed halfway through its window."""
    found = predictive(outlook(peak_gpus=100.0), VIEW, WHOLE, 5 * MINUTE, NOW)
    expected = ScheduledAction(NOW + 10 * MINUTE, NOW + 15 * MINUTE, desired_nodes=15)
    assert expected == found.scheduled


def test_steps_that_are_over_do_not_count() -> None:
    """Ten minutes on, the first two steps are history, for when and for how much."""
    path = (200.0, 200.0, *CALM[2:])
    found = predictive(outlook(path), VIEW, WHOLE, LEAD, NOW + 10 * MINUTE)
    assert ("predictive-enough", 40.0) == (found.proposal.bound_by, found.need_gpus)


def test_need_that_is_there_already_is_needed_now() -> None:
    """Not at the beginning of the step that it began with."""
    found = predictive(outlook(rising(80.0, 0)), VIEW, WHOLE, LEAD, NOW + 100)
    assert NOW + 100 == found.needed_by_seconds


def test_what_passes_first_says_when() -> None:
    """A step before the middle of the window, where the peak passes as well."""
    found = asked(outlook(rising(80.0, from_minute=10), peak_gpus=100.0))
    assert (15, NOW + 10 * MINUTE) == (found.proposal.desired_nodes, found.needed_by_seconds)


def test_passing_the_trigger_never_gives_back() -> None:
    """257 x 1.2 GPUs take 39 of 40 nodes, whether now or later."""
    view = pool_view(nodes=40)
    assert 40 == asked(outlook(peak_gpus=257.0), view).proposal.desired_nodes
    found = asked(outlook(rising(257.0, from_minute=50)), view)
    assert found.scheduled is not None
    assert 40 == found.scheduled.desired_nodes


def test_staying_within_the_trigger_never_asks() -> None:
    """62 x 1.2 GPUs take 10 nodes, in gangs of 4 12 of them; 10 are there."""
    pool = replace(WHOLE, gang_nodes=4)
    found = predictive(outlook(peak_gpus=62.0), VIEW, pool, LEAD, NOW)
    assert 10 == found.proposal.desired_nodes


def test_a_path_that_is_wholly_over_leaves_the_peak() -> None:
    """An old outlook still says how high demand was to go."""
    found = predictive(outlook(peak_gpus=100.0), VIEW, WHOLE, LEAD, NOW + 120 * MINUTE)
    assert 15 == found.proposal.desired_nodes


def test_nodes_that_are_not_ready_are_replaced() -> None:
    """They hold nothing of the need."""
    view = pool_view(nodes=8, unready_nodes=2)
    assert 12 == asked(outlook(peak_gpus=66.0), view).proposal.desired_nodes


def test_fragments_are_sized_by_how_they_pack() -> None:
    """60 x 1.2 GPUs on nodes of which three quarters can be filled take 12."""
    view = pool_view(FRAGMENT, nodes=9, fill_share=0.75)
    found = predictive(outlook(peak_gpus=60.0), view, FRAGMENT, LEAD, NOW)
    assert 12 == found.proposal.desired_nodes


@given(PATHS, GPUS, st.integers(0, 12), st.sampled_from([math.nan, math.inf, -math.inf]))
def test_what_is_not_a_number_moves_nothing(
    path: tuple[float, ...], peak_gpus: float, place: int, wrong: float
) -> None:
    """Wherever it stands, the pool stays as it is and no need is made up."""
    numbers = [*path, peak_gpus]
    numbers[place] = wrong
    found = asked(outlook(tuple(numbers[:12]), numbers[12]))
    assert 10 == found.proposal.desired_nodes
    assert (Mode.HELD, True) == (found.proposal.mode, found.proposal.held_back)
    assert found.need_gpus is None


@given(
    path=PATHS,
    peak_gpus=GPUS,
    raises=RAISES,
    raise_gpus=st.floats(0, 100),
    view=VIEWS,
    age_seconds=AGES,
    lead_seconds=LEADS,
    wait_seconds=WAITS,
)
def test_more_demand_never_means_fewer_nodes(
    *,
    path: tuple[float, ...],
    peak_gpus: float,
    raises: list[float],
    raise_gpus: float,
    view: PoolView,
    age_seconds: int,
    lead_seconds: int,
    wait_seconds: int,
) -> None:
    """Whichever numbers of an outlook rise."""
    pool = with_strategy(WHOLE, tolerated_wait_seconds=wait_seconds)
    higher = tuple(one + more for one, more in zip(path, raises, strict=True))
    now_seconds = NOW + age_seconds
    less = predictive(outlook(path, peak_gpus), view, pool, lead_seconds, now_seconds)
    more = predictive(
        outlook(higher, peak_gpus + raise_gpus), view, pool, lead_seconds, now_seconds
    )
    assert less.proposal.desired_nodes <= more.proposal.desired_nodes


@given(PATHS, GPUS, st.integers(0, 11), st.floats(0, 100), VIEWS)
def test_a_rise_of_one_step_never_puts_off_the_peak(
    path: tuple[float, ...], peak_gpus: float, step: int, raise_gpus: float, view: PoolView
) -> None:
    """The rule by which a late step would turn 'now' into 'later' is not ours."""
    higher = tuple(one + raise_gpus * (i == step) for i, one in enumerate(path))
    less, more = asked(outlook(path, peak_gpus), view), asked(outlook(higher, peak_gpus), view)
    assert less.proposal.desired_nodes <= more.proposal.desired_nodes


@given(
    path=PATHS,
    peak_gpus=GPUS,
    view=VIEWS,
    age_seconds=AGES,
    lead_seconds=LEADS,
    wait_seconds=WAITS,
)
def test_what_is_scheduled_lies_ahead_and_is_no_less_than_what_is_there(
    *,
    path: tuple[float, ...],
    peak_gpus: float,
    view: PoolView,
    age_seconds: int,
    lead_seconds: int,
    wait_seconds: int,
) -> None:
    """What is due is asked for, not scheduled; what is scheduled changes nothing yet."""
    pool = with_strategy(WHOLE, tolerated_wait_seconds=wait_seconds)
    now_seconds = NOW + age_seconds
    found = predictive(outlook(path, peak_gpus), view, pool, lead_seconds, now_seconds)
    if found.scheduled is not None:
        assert found.scheduled.at_seconds > now_seconds
        assert found.scheduled.at_seconds + lead_seconds == found.scheduled.needed_by_seconds
        assert found.scheduled.desired_nodes >= view.current_nodes
        assert view.current_nodes == found.proposal.desired_nodes


def test_a_gang_is_rounded_up() -> None:
    """15 nodes in gangs of 4 are 16."""
    pool = replace(WHOLE, gang_nodes=4)
    found = predictive(outlook(peak_gpus=100.0), VIEW, pool, LEAD, NOW)
    assert 16 == found.proposal.desired_nodes
