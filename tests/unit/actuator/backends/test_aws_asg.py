"""Auto Scaling groups: an absolute size, and no instance removed that is not named."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from moto.server import ThreadedMotoServer

from actuator.backends.aws_asg import AwsAsg, check_options
from actuator.backends.back_end import Outcome, Request, Standing
from features.errors import BadInput
from tests.fakes.auto_scaling import REGION, FakeGroup, connected
from tests.fakes.requests import request

NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(scope="module")
def client(endpoint: str) -> Any:
    return connected(endpoint, REGION)


@pytest.fixture
def group(client: Any) -> FakeGroup:
    return FakeGroup.create(client, f"gpu-{next(NUMBERS)}", nodes=4, most=6)


def wanted(group: FakeGroup, nodes: int, removable: tuple[str, ...] = ()) -> Request:
    """A request about this group of 4; nodes are named after their instances."""
    return request(
        "aws_asg",
        {"group": group.name, "region": REGION},
        current_nodes=4,
        desired_nodes=nodes,
        removable_nodes=tuple(f"node-{one}" for one in removable),
        provider_ids={f"node-{one}": f"aws:///{REGION}a/{one}" for one in removable},
    )


def apply(group: FakeGroup, one: Request) -> Outcome:
    """What the back end makes of it."""
    return AwsAsg(lambda _: group.client).apply(one)


def test_it_asks_for_an_absolute_size(group: FakeGroup) -> None:
    """Twice is once."""
    first = apply(group, wanted(group, 5))
    assert Outcome(Standing.DONE, f"{group.name}: asked for 5 instances", 5) == first
    assert 5 == group.desired
    assert Standing.UNCHANGED is apply(group, wanted(group, 5)).standing


def test_only_the_named_instances_go(group: FakeGroup) -> None:
    """All others are protected from scale-in before the size is lowered."""
    first, second, *rest = group.instances
    assert 3 == apply(group, wanted(group, 3, (second, first))).asked_for
    assert sorted([first, *rest]) == group.instances == group.protected


def test_protection_of_an_instance_that_is_to_go_is_lifted(group: FakeGroup) -> None:
    """It was to stay at an earlier time."""
    first, second, *rest = group.instances
    apply(group, wanted(group, 3, (second,)))
    down = replace(wanted(group, 2, (first,)), current_nodes=3)
    assert 2 == apply(group, down).asked_for
    assert sorted(rest) == group.instances


@pytest.mark.parametrize("removable", [(), ("i-stranger",)])
def test_without_a_removable_instance_nothing_is_lowered(
    group: FakeGroup, removable: tuple[str, ...]
) -> None:
    """And nothing is written, not even protection."""
    outcome = apply(group, wanted(group, 2, removable))
    assert (Standing.REFUSED, None) == (outcome.standing, outcome.asked_for)
    assert "not named as removable" in outcome.detail
    assert (4, []) == (len(group.instances), group.protected)


def test_a_node_whose_machine_is_not_known_stays(group: FakeGroup) -> None:
    """A name alone says nothing of the instance."""
    unknown = replace(wanted(group, 2), removable_nodes=("ip-10-0-0-1",))
    assert Standing.REFUSED is apply(group, unknown).standing
    assert 4 == len(group.instances)


def test_it_lowers_as_far_as_it_may(group: FakeGroup) -> None:
    """And the same again, when one has gone, removes nobody else."""
    first = group.instances[0]
    down = wanted(group, 1, (first,))
    assert (Standing.REFUSED, 3) == (apply(group, down).standing, group.desired)
    assert apply(group, down).asked_for is None
    assert 3 == len(group.instances)


def test_a_size_that_somebody_raised_is_not_lowered_by_the_way(group: FakeGroup) -> None:
    """A request for more never removes, and says what it found."""
    group.set_desired(6)
    outcome = apply(group, wanted(group, 5, tuple(group.instances)))
    assert (Standing.REFUSED, None) == (outcome.standing, outcome.asked_for)
    assert "left at 6, more than the 5 wanted; somebody else asked for them" in outcome.detail
    assert 6 == len(group.instances)


def test_what_somebody_else_had_set_is_reported(group: FakeGroup) -> None:
    """A request for fewer goes on from what it finds."""
    first = group.instances[0]
    group.set_desired(5)
    outcome = apply(group, replace(wanted(group, 3, (first,)), current_nodes=4))
    assert (Standing.REFUSED, 4) == (outcome.standing, outcome.asked_for)
    assert "it had 5, not the 4 decided on" in outcome.detail
    assert first not in group.instances


def test_it_never_raises_the_most_that_a_group_may_have(group: FakeGroup) -> None:
    """It asks for that, and says that it falls short."""
    outcome = apply(group, wanted(group, 9))
    assert (Standing.REFUSED, 6) == (outcome.standing, outcome.asked_for)
    assert "its MaxSize is below the 9 wanted" in outcome.detail
    assert (6, 6) == (group.desired, group.described["MaxSize"])


class Interrupted:
    """A client through which somebody else changes the group while it is being looked at."""

    def __init__(self, group: FakeGroup, changes: int) -> None:
        self._group, self._left = group, changes

    def set_instance_protection(self, **arguments: Any) -> None:
        self._group.client.set_instance_protection(**arguments)
        if self._left:
            self._left -= 1
            self._group.set_desired(self._group.desired + 1)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._group.client, name)


def test_a_change_in_between_is_looked_at_again(client: Any) -> None:
    """The instance that came meanwhile is protected as well."""
    group = FakeGroup.create(client, f"gpu-{next(NUMBERS)}", nodes=4)
    first = group.instances[0]
    outcome = AwsAsg(lambda _: Interrupted(group, 1)).apply(wanted(group, 3, (first,)))
    assert (Standing.REFUSED, 4) == (outcome.standing, outcome.asked_for)
    assert 4 == len(group.instances) == len(group.protected)
    assert first not in group.instances


def test_a_group_that_never_rests_is_left_alone(client: Any) -> None:
    """After a few looks the next cycle has its turn."""
    group = FakeGroup.create(client, f"gpu-{next(NUMBERS)}", nodes=4)
    first = group.instances[0]
    outcome = AwsAsg(lambda _: Interrupted(group, 9)).apply(wanted(group, 3, (first,)))
    assert Standing.FAILED is outcome.standing
    assert "changed each time it was looked at" in outcome.detail
    assert first in group.instances


class Starting:
    """A client that shows one instance as still starting."""

    def __init__(self, group: FakeGroup, instance: str) -> None:
        self._group, self._instance = group, instance

    def describe_auto_scaling_groups(self, **arguments: Any) -> Any:
        answer = self._group.client.describe_auto_scaling_groups(**arguments)
        for one in answer["AutoScalingGroups"][0]["Instances"]:
            if one["InstanceId"] == self._instance:
                one["LifecycleState"] = "Pending:Wait"
        return answer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._group.client, name)


def test_nothing_is_lowered_while_an_instance_cannot_be_protected(group: FakeGroup) -> None:
    """AWS protects only instances in service."""
    first, second, *_ = group.instances
    outcome = AwsAsg(lambda _: Starting(group, second)).apply(wanted(group, 3, (first,)))
    assert Standing.REFUSED is outcome.standing
    assert f"{second} is starting" in outcome.detail
    assert 4 == len(group.instances)


def test_a_group_that_is_not_there_is_one_line(group: FakeGroup) -> None:
    """Outside failures are outcomes."""
    outcome = apply(group, wanted(FakeGroup(group.client, "nobody's"), 5))
    assert Standing.FAILED is outcome.standing
    assert "there is no Auto Scaling group 'nobody's' in this region" == outcome.detail


def test_options_are_checked_before_a_policy_is_live() -> None:
    """A group must be named."""
    check_options(request("aws_asg", {"group": "gpu"}).node_pool)
    with pytest.raises(BadInput, match="option 'group' is missing"):
        check_options(request("aws_asg", {"region": "x"}).node_pool)
    with pytest.raises(BadInput, match="no option 'grop'"):
        check_options(request("aws_asg", {"grop": "x"}).node_pool)
