"""Draining: off by default, never a protected or shared job, and only where it clearly pays."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actuator.drain import (
    DrainAction,
    DrainJob,
    DrainNode,
    DrainSettings,
    DrainStep,
    drain_step,
    expected_loss_gpu_hours,
    kept_hours,
)

NOW = 100_000
MINUTES = 60
HOURS = 3_600
ON = DrainSettings(allowed=True)
JOB = DrainJob("ml/train-0", gpus=8, started_seconds=NOW - 9_000, checkpoint_seconds=NOW - 600)
NODE = DrainNode("gpu-1", gpus=8, hour_price=16, jobs=(JOB,))
CORDONED = replace(NODE, cordoned=True, drained_since_seconds=NOW)


def action(node: DrainNode, now_seconds: int = NOW, settings: DrainSettings = ON) -> DrainAction:
    """What is done about a node."""
    return drain_step(node, now_seconds, settings).action


def with_job(node: DrainNode, **changes: object) -> DrainNode:
    """The node with a job that differs."""
    return replace(node, jobs=(replace(JOB, **changes),))  # type: ignore[arg-type]


def test_nothing_is_drained_unless_somebody_allows_it() -> None:
    """The settings as they come keep every node."""
    assert DrainAction.KEEP is action(NODE, settings=DrainSettings())
    assert DrainAction.CORDON is action(NODE)


def test_a_loss_is_the_work_to_be_done_again_and_the_way_back() -> None:
    """600 s since the checkpoint, and 1200 s until it is as fast as before, on 8 GPUs."""
    assert 8 * 1_800 / HOURS == expected_loss_gpu_hours(JOB, NOW)
    none = replace(JOB, checkpoint_seconds=None)
    assert 8 * (9_000 + 1_200) / HOURS == expected_loss_gpu_hours(none, NOW)
    assert 8 * 1_200 / HOURS == expected_loss_gpu_hours(replace(JOB, checkpoint_seconds=NOW), NOW)


def test_a_node_is_kept_until_its_jobs_end_or_for_the_horizon() -> None:
    """Whichever is sooner; one job that does not say when it ends leaves the horizon."""
    hour = with_job(NODE, ends_seconds=NOW + HOURS)
    assert 1 == kept_hours(hour, NOW, ON)
    assert 4 == kept_hours(NODE, NOW, ON)
    assert 4 == kept_hours(replace(hour, jobs=(*hour.jobs, JOB)), NOW, ON)
    assert 4 == kept_hours(with_job(NODE, ends_seconds=NOW + 9 * HOURS), NOW, ON)
    assert 0 == kept_hours(with_job(NODE, ends_seconds=NOW - 1), NOW, ON)


def test_the_loss_must_be_clearly_below_what_keeping_costs() -> None:
    """Half an hour lost against an hour kept is just too dear at a factor of 2."""
    hour = with_job(NODE, ends_seconds=NOW + HOURS)
    assert DrainAction.KEEP is action(hour)
    assert DrainAction.CORDON is action(with_job(NODE, ends_seconds=NOW + HOURS + 1))
    assert DrainAction.CORDON is action(hour, settings=replace(ON, margin_factor=1.9))
    said = "its jobs would lose 8.00, and keeping it costs 16.00"
    assert said == drain_step(hour, NOW, ON).reason


def test_a_factor_below_one_drains_no_more() -> None:
    """A loss is never to be larger than what it saves, whatever the settings."""
    less_than_once = replace(ON, margin_factor=0.1)
    quarter = with_job(NODE, ends_seconds=NOW + HOURS // 4)
    assert DrainAction.KEEP is action(quarter, settings=less_than_once)
    assert DrainAction.KEEP is action(with_job(NODE, gpus=-8.0), settings=less_than_once)


@pytest.mark.parametrize(
    "node",
    [
        replace(NODE, hour_price=None),
        replace(NODE, hour_price=float("nan")),
        replace(NODE, gpus=0),
        replace(NODE, protected=True),
        with_job(NODE, protected=True),
        with_job(NODE, shared=True),
        with_job(NODE, gpus=float("nan")),
        with_job(NODE, gpus=-8.0),
        with_job(NODE, fetch_seconds=float("inf")),
        replace(NODE, cordoned=True),
        replace(NODE, jobs=()),
    ],
    ids=[
        "no price",
        "price is NaN",
        "no GPUs",
        "node protected",
        "job protected",
        "job on other nodes too",
        "GPUs are NaN",
        "GPUs are fewer than none",
        "endless fetch",
        "cordoned by somebody",
        "no job",
    ],
)
def test_what_is_not_known_or_protected_keeps_the_node(node: DrainNode) -> None:
    """And nothing is done about it."""
    assert DrainAction.KEEP is action(node)


@pytest.mark.parametrize("changes", [{"protected": True}, {"shared": True}])
def test_a_drain_that_may_not_go_on_is_undone(changes: dict[str, bool]) -> None:
    """A node that we cordoned takes pods again."""
    assert DrainAction.UNCORDON is action(with_job(CORDONED, **changes))
    assert DrainAction.UNCORDON is action(CORDONED, settings=DrainSettings())


def test_a_drain_goes_its_way() -> None:
    """Cordon, two hours for the job to save, ten minutes once asked, then eviction."""
    settings = replace(ON, horizon_seconds=48 * HOURS)
    asked = replace(CORDONED, asked_seconds=NOW + 120 * MINUTES)
    assert DrainAction.CORDON is action(NODE, NOW, settings)
    assert DrainAction.WAIT is action(CORDONED, NOW + 119 * MINUTES, settings)
    assert DrainAction.ASK_FOR_CHECKPOINT is action(CORDONED, NOW + 120 * MINUTES, settings)
    assert DrainAction.WAIT is action(asked, NOW + 129 * MINUTES, settings)
    assert DrainAction.EVICT is action(asked, NOW + 130 * MINUTES, settings)


def test_a_checkpoint_shortens_the_way() -> None:
    """Once each job has saved since the cordon, nobody waits any longer."""
    saved = replace(JOB, pod="ml/other-0", checkpoint_seconds=NOW + 60)
    two = replace(CORDONED, jobs=(saved, JOB))
    assert DrainStep(
        DrainAction.WAIT, "gpu-1", "1 jobs have neither ended nor saved", ("ml/train-0",)
    ) == drain_step(two, NOW + 120, ON)
    one = replace(CORDONED, jobs=(saved,))
    assert ("ml/other-0",) == drain_step(one, NOW + 120, ON).pods
    assert DrainAction.EVICT is action(one, NOW + 120)


def test_a_node_whose_jobs_have_ended_is_empty() -> None:
    """It stays cordoned, for the autoscaler to remove."""
    assert DrainAction.EMPTY is action(replace(CORDONED, jobs=()))


odd_numbers = st.sampled_from([float("nan"), float("inf"), -float("inf"), -1.0])
moments = st.integers(NOW - 9 * HOURS, NOW + 9 * HOURS)
seldom = st.sampled_from([False] * 9 + [True])
drain_jobs = st.builds(
    DrainJob,
    pod=st.sampled_from(["ml/a", "ml/b", "ml/c"]),
    gpus=st.floats(0, 8) | st.floats(0, 8) | odd_numbers,
    started_seconds=moments,
    checkpoint_seconds=st.none() | moments,
    ends_seconds=st.none() | moments,
    fetch_seconds=st.floats(0, 900) | st.floats(0, 900) | odd_numbers,
    protected=seldom,
    shared=seldom,
)
drain_nodes = st.builds(
    DrainNode,
    name=st.just("gpu-1"),
    gpus=st.just(8.0) | st.just(8.0) | odd_numbers,
    hour_price=st.floats(0, 40) | st.floats(0, 40) | st.none() | odd_numbers,
    jobs=st.lists(drain_jobs, max_size=3).map(tuple),
    protected=seldom,
    cordoned=st.booleans(),
    drained_since_seconds=st.none() | moments,
    asked_seconds=st.none() | moments,
)
drain_settings = st.builds(
    DrainSettings, allowed=seldom.map(lambda one: not one), margin_factor=st.floats(0, 5)
)
GOES_ON = {DrainAction.CORDON, DrainAction.ASK_FOR_CHECKPOINT, DrainAction.EVICT}


@given(drain_nodes, moments, drain_settings)
def test_no_protected_shared_or_dear_job_is_touched(
    node: DrainNode, now_seconds: int, settings: DrainSettings
) -> None:
    """Nothing goes on unless it is allowed, nobody minds, and the loss is clearly smaller."""
    step = drain_step(node, now_seconds, settings)
    if step.action not in GOES_ON:
        return
    assert settings.allowed
    assert not node.protected
    assert not any(job.protected or job.shared for job in node.jobs)
    assert {job.pod for job in node.jobs} >= set(step.pods)
    assert node.hour_price is not None
    lost_gpu_hours = sum(expected_loss_gpu_hours(job, now_seconds) for job in node.jobs)
    kept = kept_hours(node, now_seconds, settings) * node.hour_price
    assert lost_gpu_hours * node.hour_price / node.gpus < kept


@given(drain_nodes, moments)
def test_what_somebody_else_did_to_a_node_stands(node: DrainNode, now_seconds: int) -> None:
    """Only our own cordon is taken back or gone on from; one taken from us is not set again."""
    step = drain_step(node, now_seconds, ON)
    if node.drained_since_seconds is None:
        assert step.action in {DrainAction.KEEP, DrainAction.CORDON}
    elif not node.cordoned:
        assert DrainAction.KEEP is step.action
