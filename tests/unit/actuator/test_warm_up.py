"""Warming up: one Job per new node, and no node goes on before its Job has said so."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actuator.state import CapacityType, Node
from actuator.warm_up import (
    Action,
    JobStatus,
    OnFailure,
    WarmUpJob,
    WarmUpSettings,
    WarmUpStep,
    warm_up_steps,
)

NEW = Node(
    name="gpu-1",
    node_pool="spot-a",
    zone="a",
    capacity_type=CapacityType.SPOT,
    created_seconds=1_000,
    gpus=8,
    ready=True,
    warmed=False,
)
RUNNING = WarmUpJob("gpu-1", JobStatus.UNFINISHED, created_seconds=1_100)
KEEP = WarmUpSettings(timeout_seconds=600)
RELEASE = replace(KEEP, on_failure=OnFailure.RELEASE)


def step(
    node: Node, job: WarmUpJob | None, now_seconds: int = 1_200, settings: WarmUpSettings = KEEP
) -> WarmUpStep | None:
    """The step of one node, if there is any."""
    steps = warm_up_steps([node], {} if job is None else {job.node: job}, now_seconds, settings)
    return steps[0] if steps else None


def action(node: Node, job: WarmUpJob | None, **more: object) -> Action | None:
    """What is done about one node."""
    found = step(node, job, **more)  # type: ignore[arg-type]
    return None if found is None else found.action


def test_a_new_node_gets_its_job_once_it_is_ready() -> None:
    """Before that, nothing could run on it."""
    assert action(replace(NEW, ready=False), None) is None
    assert Action.START_JOB is action(NEW, None)
    assert action(NEW, RUNNING) is None


@pytest.mark.parametrize("done", [{"warmed": True}, {"leaving": True}])
def test_a_node_that_is_warm_or_leaving_is_left_alone(done: dict[str, bool]) -> None:
    """Whatever Jobs there are."""
    for job in (None, RUNNING, replace(RUNNING, status=JobStatus.SUCCEEDED)):
        assert action(replace(NEW, **done), job) is None  # type: ignore[arg-type]


def test_success_releases_a_node() -> None:
    """Even where the Job took longer than it should have."""
    succeeded = replace(RUNNING, status=JobStatus.SUCCEEDED)
    assert Action.RELEASE is action(NEW, succeeded)
    assert Action.RELEASE is action(NEW, succeeded, now_seconds=9_000)


@pytest.mark.parametrize(
    ("job", "now_seconds"),
    [
        (replace(RUNNING, status=JobStatus.FAILED), 1_200),
        (RUNNING, RUNNING.created_seconds + KEEP.timeout_seconds),
    ],
)
def test_a_failure_and_a_time_out_follow_the_policy(job: WarmUpJob, now_seconds: int) -> None:
    """The node is kept tainted and reported, or released all the same."""
    assert Action.REPORT is action(NEW, job, now_seconds=now_seconds)
    assert Action.RELEASE is action(NEW, job, now_seconds=now_seconds, settings=RELEASE)
    assert action(NEW, RUNNING, now_seconds=now_seconds - 1) is None or job is not RUNNING


def test_a_report_says_what_happened() -> None:
    """With the time it had."""
    found = step(NEW, RUNNING, now_seconds=1_700)
    assert found is not None
    assert "its warm-up has not ended in 10 min; it stays tainted" == found.reason


def test_a_job_of_an_earlier_node_of_the_same_name_releases_nothing() -> None:
    """Its success was on another machine."""
    before = WarmUpJob("gpu-1", JobStatus.SUCCEEDED, NEW.created_seconds - 1)
    assert action(NEW, before) is None


names = st.sampled_from(["gpu-1", "gpu-2", "gpu-3"])
nodes = st.builds(
    Node,
    name=names,
    node_pool=st.just("spot-a"),
    zone=st.just(""),
    capacity_type=st.just(CapacityType.SPOT),
    created_seconds=st.integers(0, 2_000),
    gpus=st.just(8.0),
    ready=st.booleans(),
    warmed=st.booleans(),
    leaving=st.booleans(),
)
jobs = st.dictionaries(
    names,
    st.builds(
        WarmUpJob, names, status=st.sampled_from(JobStatus), created_seconds=st.integers(0, 2_000)
    ),
)


@given(st.lists(nodes), jobs, st.integers(0, 4_000), st.sampled_from([KEEP, RELEASE]))
def test_no_node_gets_two_jobs_or_goes_on_unwarmed(
    there: list[Node], has: dict[str, WarmUpJob], now_seconds: int, settings: WarmUpSettings
) -> None:
    """A Job is started only where there is none; KEEP releases only after a success."""
    steps = warm_up_steps(there, has, now_seconds, settings)
    assert len({one.node for one in steps}) == len(steps)
    for one in steps:
        if one.action is Action.START_JOB:
            assert one.node not in has
        elif one.action is Action.RELEASE and settings is KEEP:
            assert JobStatus.SUCCEEDED is has[one.node].status
