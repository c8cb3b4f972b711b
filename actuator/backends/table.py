"""Every back end that a node pool can choose: one row here, one file, one test file, one page.

This table is the only place that lists them; nothing may be chosen by importing a name from text.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from actuator.backends import aws_asg, capacity_buffer, dry_run, placeholder, scale
from actuator.backends.back_end import BackEnd
from actuator.cluster.connection import KubernetesConnection
from actuator.policy import NodePoolPolicy
from features.errors import BadInput

Connect = Callable[[], KubernetesConnection]


@dataclass(frozen=True)
class Row:
    """One back end.

    Attributes:
        build: makes it, given what connects to the cluster; called only if a policy names it.
        check_options: raises BadInput for options of a node pool that it cannot use.
    """

    build: Callable[[Connect], BackEnd]
    check_options: Callable[[NodePoolPolicy], None]


BACK_ENDS: Mapping[str, Row] = {
    "dry_run": Row(lambda _: dry_run.DryRun(), dry_run.check_options),
    "placeholder": Row(
        lambda connect: placeholder.Placeholder(connect()), placeholder.check_options
    ),
    "capacity_buffer": Row(
        lambda connect: capacity_buffer.CapacityBuffer(connect()), capacity_buffer.check_options
    ),
    "scale": Row(lambda connect: scale.Scale(connect()), scale.check_options),
    "aws_asg": Row(lambda _: aws_asg.AwsAsg(), aws_asg.check_options),
}


def check_node_pool(node_pool: NodePoolPolicy) -> None:
    """Refuse a node pool whose back end does not exist or cannot use its options.

    Raises:
        BadInput: with the one thing to put right.
    """
    row = BACK_ENDS.get(node_pool.back_end)
    if row is None:
        raise BadInput(
            f"node pool '{node_pool.name}': there is no back end '{node_pool.back_end}'; choose "
            f"from {', '.join(BACK_ENDS)}"
        )
    row.check_options(node_pool)


class BackEndsOnDemand(Mapping[str, BackEnd]):
    """The back ends by name, each made when it is first asked for, and once."""

    def __init__(self, connect: Connect) -> None:
        """None is made yet.

        Args:
            connect: connects to the cluster; called only for back ends that need it.
        """
        self._connect = connect
        self._made: dict[str, BackEnd] = {}

    def __getitem__(self, name: str) -> BackEnd:
        if name not in self._made:
            self._made[name] = BACK_ENDS[name].build(self._connect)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(BACK_ENDS)

    def __len__(self) -> int:
        return len(BACK_ENDS)

    def __contains__(self, name: object) -> bool:
        return name in BACK_ENDS
