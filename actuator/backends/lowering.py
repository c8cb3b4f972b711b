"""How far a group of nodes may be lowered, and which of its members go: only removable ones.

Every back end that removes nodes decides it here, from the members as they are now. Done twice with
the same removable nodes it removes nothing more: what may go bounds the number, not the difference
to it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from actuator.backends.back_end import Request


@dataclass(frozen=True, slots=True)
class Lowering:
    """What is left of a wish to lower a group.

    Attributes:
        target: members it should have; never fewer than those that must stay.
        going: members that go, at most all that are removable.
    """

    target: int
    going: tuple[str, ...]


def left_to_somebody_else(request: Request, found: int) -> str | None:
    """Why a size that was found is left as it is: it is larger, and no fewer were decided on.

    Args:
        request: what is wanted.
        found: the size just before the write.
    """
    if found <= request.desired_nodes or request.desired_nodes < request.current_nodes:
        return None
    wanted = request.desired_nodes
    return f"left at {found}, more than the {wanted} wanted; somebody else asked for them"


def lowering(wanted: int, members: Sequence[str], removable: Sequence[str]) -> Lowering:
    """Lower a group to what is wanted, as far as its removable members go.

    Args:
        wanted: members it should have.
        members: who is in the group now, those on their way out left aside.
        removable: who may go, those to go first standing first; strangers are passed over.
    """
    inside = set(members)
    present = [one for one in dict.fromkeys(removable) if one in inside]
    target = max(wanted, len(inside) - len(present))
    return Lowering(target, tuple(present[: max(len(inside) - target, 0)]))
