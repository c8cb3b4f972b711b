"""What a back end is: it asks one outside system for an absolute number of nodes.

A back end only executes: how many nodes, and which may go, is decided before. It looks at fresh
state just before it writes, it never removes a node that is not named as removable, and what it
could not see happen it reports as such.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from actuator.policy import NodePoolPolicy


class Standing(StrEnum):
    """How far a request has come."""

    DONE = "done"
    UNCHANGED = "unchanged"
    UNVERIFIED = "unverified"
    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Request:
    """What a node pool is to have.

    Attributes:
        decision: identifier of the decision this belongs to; the same request has the same one.
        pool: the pool it serves.
        shape: `whole-node`, `fragment` or `mixed`.
        node_pool: the node pool and what its back end needs to know.
        node_gpus: GPUs of one of its nodes.
        current_nodes: nodes it was believed to have when this was decided.
        desired_nodes: nodes it should have.
        headroom_nodes: of these, nodes that no running or waiting job takes; what placeholders and
            buffers have to ask for.
        headroom_gpus: GPUs that no running or waiting job takes.
        removable_nodes: names of the nodes that may go, those to go first standing first.
        provider_ids: by name of a removable node, the cloud's name of its machine, where known.
    """

    decision: str
    pool: str
    shape: str
    node_pool: NodePoolPolicy
    node_gpus: int
    current_nodes: int
    desired_nodes: int
    headroom_nodes: int
    headroom_gpus: float
    removable_nodes: tuple[str, ...] = ()
    provider_ids: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a request.

    Attributes:
        standing: how far it came.
        detail: what was asked for, seen or refused, in one line.
        asked_for: the absolute number that was written; None if nothing was.
    """

    standing: Standing
    detail: str
    asked_for: int | None = None


class BackEnd(Protocol):
    """One way to ask for nodes."""

    @property
    def name(self) -> str:
        """Its name in a policy."""
        ...

    def apply(self, request: Request) -> Outcome:
        """Ask for what is requested and report what happened; outside failures are outcomes."""
        ...
