"""Asks an AWS Auto Scaling group for nodes, through its desired capacity.

Lowering first protects every instance from scale-in but those that go, then sets the absolute
number: the group can then remove nothing else. It never raises the group's MaxSize, never removes
while an instance cannot be protected yet, and retries nothing by itself: the next cycle asks again.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from actuator.backends.back_end import Outcome, Request, Standing
from actuator.backends.lowering import left_to_somebody_else, lowering
from actuator.backends.options import Options
from actuator.policy import NodePoolPolicy
from features.errors import SourceUnavailable, TidecastError

NAME = "aws_asg"
OPTIONS = ("group", "region")
CALL_TIMEOUT_SECONDS = 10.0
ATTEMPTS = 3
PROTECTED_AT_ONCE = 50  # the most instances that one call of SetInstanceProtection takes
STAYS = "; less would pass its MinSize or remove instances that are not named as removable"
ON_ITS_WAY_OUT = ("Terminating", "Terminated", "Detach", "Standby")


def check_options(node_pool: NodePoolPolicy) -> None:
    """Refuse options that this back end cannot use.

    Raises:
        BadInput: one is missing or not known.
    """
    Options.of(node_pool, NAME, OPTIONS).needed("group")


@dataclass(frozen=True, slots=True)
class Instance:
    """One instance of a group.

    Attributes:
        name: its identifier, such as `i-0123`.
        in_service: it runs; one that only starts cannot be protected.
        protected: the group may not remove it.
    """

    name: str
    in_service: bool
    protected: bool


@dataclass(frozen=True, slots=True)
class Group:
    """An Auto Scaling group as it is now.

    Attributes:
        name: its name.
        desired: instances it is asked to have.
        least: its MinSize.
        most: its MaxSize.
        instances: those that are not on their way out.
    """

    name: str
    desired: int
    least: int
    most: int
    instances: tuple[Instance, ...]


def connect(region: str | None, timeout_seconds: float = CALL_TIMEOUT_SECONDS, **more: Any) -> Any:
    """A boto3 client of the Auto Scaling API.

    Args:
        region: the region; None leaves it to the environment.
        timeout_seconds: longest wait for a connection, and for an answer.
        more: further arguments of `boto3.client`.

    Raises:
        SourceUnavailable: boto3 is not installed.
    """
    try:
        import boto3
        from botocore.config import Config
    except ImportError as error:
        raise SourceUnavailable("boto3 is not installed; install 'tidecast[aws]'") from error
    once = Config(
        connect_timeout=timeout_seconds,
        read_timeout=timeout_seconds,
        retries={"total_max_attempts": 1},
    )
    return boto3.client("autoscaling", region_name=region, config=once, **more)


class AwsAsg:
    """Implements `actuator.backends.back_end.BackEnd` on Auto Scaling groups."""

    def __init__(self, client: Callable[[str | None], Any] = connect) -> None:
        """A back end that connects when it is first asked.

        Args:
            client: gives a client of a region.
        """
        self._client = cache(client)

    @property
    def name(self) -> str:
        """See `BackEnd.name`."""
        return NAME

    def apply(self, request: Request) -> Outcome:
        """See `BackEnd.apply`."""
        try:
            options = Options.of(request.node_pool, NAME, OPTIONS)
            with _our_errors():
                return _settled(self._client(options.texts.get("region")), options, request)
        except TidecastError as error:
            return Outcome(Standing.FAILED, str(error))


def _settled(client: Any, options: Options, request: Request) -> Outcome:
    """Look and write, again while somebody else changes the group in between."""
    name = options.needed("group")
    for _ in range(ATTEMPTS):
        group = _described(client, name)
        left = left_to_somebody_else(request, group.desired)
        if left is not None:
            return Outcome(Standing.REFUSED, f"{name}: {left}")
        if request.desired_nodes >= group.desired:
            return _raise(client, group, request)
        outcome = _lower(client, group, request)
        if outcome is not None:
            return outcome
    raise SourceUnavailable(f"{name} changed each time it was looked at; the next cycle asks again")


def _raise(client: Any, group: Group, request: Request) -> Outcome:
    """Ask for more, as far as the group allows."""
    target = min(request.desired_nodes, group.most)
    if target > group.desired:
        _set_desired(client, group, target)
    short = f"; its MaxSize is below the {request.desired_nodes} wanted"
    return _outcome(group, request, target, short)


def _lower(client: Any, group: Group, request: Request) -> Outcome | None:
    """Let removable instances go, and nothing else; None if the group changed meanwhile."""
    names = [one.name for one in group.instances]
    wanted = max(request.desired_nodes, group.least)
    less = lowering(wanted, names, _instance_ids(request))
    if less.target >= group.desired:
        return _outcome(group, request, group.desired, STAYS)
    staying = [one for one in group.instances if one.name not in less.going]
    starting = [one.name for one in staying if not one.in_service]
    if starting:
        waits = f"{group.name}: {starting[0]} is starting and cannot be protected; lowering waits"
        return Outcome(Standing.REFUSED, waits)
    stay = [one.name for one in staying if not one.protected]
    go = [one.name for one in group.instances if one.name in less.going and one.protected]
    _set_protection(client, group, stay, protected=True)
    _set_protection(client, group, go, protected=False)
    now = _described(client, group.name)
    if now.desired != group.desired or {one.name for one in now.instances} != set(names):
        return None
    _set_desired(client, group, less.target)
    return _outcome(group, request, less.target, STAYS)


def _outcome(group: Group, request: Request, target: int, short: str) -> Outcome:
    """What became of it, and whether somebody else had set the number meanwhile."""
    written = target if target != group.desired else None
    said = f"asked for {target} instances" if written is not None else f"stays at {group.desired}"
    detail = f"{group.name}: {said}"
    if group.desired not in {request.current_nodes, request.desired_nodes}:
        detail += f"; it had {group.desired}, not the {request.current_nodes} decided on"
    if target != request.desired_nodes:
        return Outcome(Standing.REFUSED, detail + short, written)
    return Outcome(Standing.UNCHANGED if written is None else Standing.DONE, detail, written)


def _described(client: Any, name: str) -> Group:
    groups = client.describe_auto_scaling_groups(AutoScalingGroupNames=[name])["AutoScalingGroups"]
    if not groups:
        raise SourceUnavailable(f"there is no Auto Scaling group '{name}' in this region")
    found = groups[0]
    instances = tuple(
        Instance(one["InstanceId"], one["LifecycleState"] == "InService", _is_protected(one))
        for one in found["Instances"]
        if not one["LifecycleState"].startswith(ON_ITS_WAY_OUT)
    )
    return Group(name, found["DesiredCapacity"], found["MinSize"], found["MaxSize"], instances)


def _is_protected(instance: dict[str, Any]) -> bool:
    return bool(instance.get("ProtectedFromScaleIn", False))


def _instance_ids(request: Request) -> list[str]:
    """Instances of the removable nodes; a node whose machine is not known cannot be chosen."""
    named = [request.provider_ids.get(node, node) for node in request.removable_nodes]
    ids = [name.rpartition("/")[2] for name in named]
    return [one for one in ids if one.startswith("i-")]


def _set_protection(client: Any, group: Group, names: Sequence[str], *, protected: bool) -> None:
    """Set whether the group may remove these instances."""
    for first in range(0, len(names), PROTECTED_AT_ONCE):
        client.set_instance_protection(
            AutoScalingGroupName=group.name,
            InstanceIds=list(names[first : first + PROTECTED_AT_ONCE]),
            ProtectedFromScaleIn=protected,
        )


def _set_desired(client: Any, group: Group, target: int) -> None:
    client.set_desired_capacity(
        AutoScalingGroupName=group.name, DesiredCapacity=target, HonorCooldown=False
    )


@contextmanager
def _our_errors() -> Iterator[None]:
    """Turn what boto3 raises into one line of ours."""
    try:
        from botocore.exceptions import BotoCoreError, ClientError
    except ImportError as error:
        raise SourceUnavailable("boto3 is not installed; install 'tidecast[aws]'") from error
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise SourceUnavailable(f"AWS Auto Scaling: {' '.join(str(error).split())}") from error
