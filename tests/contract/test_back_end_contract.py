"""What every back end promises, whatever it asks for nodes.

The stages speak to the outside system over its own API; `KUBERNETES` is where a real one is put in
place of the fake.
"""

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest
from moto.server import ThreadedMotoServer

from actuator.backends.back_end import Standing
from actuator.backends.dry_run import DryRun
from actuator.backends.table import BACK_ENDS
from actuator.cluster.access import ClusterAccess
from tests.fakes.back_end_stages import (
    NODES,
    AutoScalingStage,
    ScaleStage,
    SilentServer,
    Stage,
    buffer_stage,
    placeholder_stage,
)
from tests.fakes.kubernetes_objects import ObjectStore
from tests.fakes.kubernetes_resources import RESOURCES, Resource
from tests.fakes.kubernetes_server import FakeKubernetes
from tests.fakes.requests import request

MACHINE = Resource("cluster.x-k8s.io/v1beta1", "Machine", "machines")
KUBERNETES: dict[str, Callable[[ClusterAccess, SilentServer], Stage]] = {
    "placeholder": placeholder_stage,
    "capacity_buffer": buffer_stage,
    "scale": ScaleStage,
}
NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def aws_endpoint() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(params=[*KUBERNETES, "aws_asg"])
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    silence = SilentServer()
    with ExitStack() as stack:
        stack.callback(silence.close)
        if request.param == "aws_asg":
            endpoint = request.getfixturevalue("aws_endpoint")
            yield AutoScalingStage(endpoint, f"gpu-{next(NUMBERS)}", silence)
            return
        fake = stack.enter_context(FakeKubernetes(store=ObjectStore((*RESOURCES, MACHINE))))
        access = ClusterAccess(url=fake.url, requests_per_second=1000, attempts=1)
        yield KUBERNETES[request.param](access, silence)


def test_every_back_end_is_under_contract() -> None:
    """A new one cannot be forgotten; the dry run has nothing that it acts on."""
    assert set(BACK_ENDS) == {*KUBERNETES, "aws_asg", "dry_run"}


def test_it_bears_the_name_of_its_row(stage: Stage) -> None:
    """Policies name it."""
    assert stage.back_end.name in BACK_ENDS


def test_twice_is_once(stage: Stage) -> None:
    """The second time nothing is written, whoever decided it."""
    first = stage.back_end.apply(stage.wanting(6))
    assert (6, 6) == (first.asked_for, stage.size())
    assert first.standing in {Standing.DONE, Standing.UNVERIFIED}
    version = stage.version()
    again = stage.back_end.apply(replace(stage.wanting(6), decision="another"))
    assert again.asked_for is None
    assert again.standing in {Standing.UNCHANGED, Standing.UNVERIFIED}
    assert version == stage.version()


def test_what_is_sent_is_absolute(stage: Stage) -> None:
    """A larger size on top of another is that size, not the sum."""
    for nodes in (5, 7, 9):
        stage.back_end.apply(stage.wanting(nodes))
        assert nodes == stage.size()


def test_a_write_in_between_does_not_mislead(stage: Stage) -> None:
    """Somebody sets another size between our look and our write; ours is there at the end."""
    stage.back_end.apply(stage.wanting(5))
    outcome = stage.meddled(6).apply(stage.wanting(8))
    assert (8, 8) == (outcome.asked_for, stage.size())


def test_a_system_that_never_answers_is_a_failure_in_time(stage: Stage) -> None:
    """One line, and no exception."""
    outcome = stage.silent().apply(stage.wanting(6))
    assert (Standing.FAILED, None) == (outcome.standing, outcome.asked_for)
    assert 1 == len(outcome.detail.splitlines())


@pytest.mark.parametrize("nodes", [0, 2, 3])
@pytest.mark.parametrize(
    "removable",
    [(), ("node-3",), ("node-1", "node-2"), ("stranger",), tuple(f"node-{n}" for n in range(4))],
    ids=lambda names: "+".join(names) or "none",
)
def test_only_removable_nodes_are_touched(
    stage: Stage, nodes: int, removable: tuple[str, ...]
) -> None:
    """However often it is asked for fewer."""
    before = stage.nodes()
    wanted = stage.wanting(nodes, removable)
    for _ in range(2):
        outcome = stage.back_end.apply(wanted)
        assert outcome.standing is not Standing.FAILED
        gone = before - stage.nodes()
        assert gone <= set(removable)
        assert len(gone) <= NODES - nodes


def test_a_decision_for_more_never_removes(stage: Stage) -> None:
    """Whatever it finds, and whichever nodes it names."""
    before = stage.nodes()
    stage.back_end.apply(stage.wanting(8))
    everyone = tuple(before)
    stage.back_end.apply(replace(stage.wanting(5, everyone), current_nodes=4))
    assert before <= stage.nodes()


@pytest.mark.parametrize("nodes", [0, 2, 9])
def test_a_dry_run_changes_nothing(nodes: int) -> None:
    """It says so."""
    outcome = DryRun().apply(request("dry_run", {}, desired_nodes=nodes))
    assert (Standing.UNCHANGED, None) == (outcome.standing, outcome.asked_for)
