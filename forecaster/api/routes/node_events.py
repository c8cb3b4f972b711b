"""What sites say of their nodes: lost, which the next plan answers at once, or there again."""

from typing import Annotated

from fastapi import APIRouter, BackgroundTasks
from pydantic import Field

from forecaster.api.parameters import LONGEST_NAME, Body
from forecaster.api.security import READ, Context, Operator
from forecaster.json_shapes import Shape

router = APIRouter(prefix="/v1/node-events", tags=["operating"])

NODE_NAMES = r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"


class NodeBody(Body):
    """Which node."""

    node: Annotated[
        str,
        Field(strict=True, max_length=LONGEST_NAME, pattern=NODE_NAMES, examples=["edge-berlin-3"]),
    ]
    """Its name, as the cluster has it."""


class LostNode(Shape):
    """A node that is lost."""

    node: str
    """Its name."""

    lost_seconds: int
    """Unix time at which that was said."""


class LostNodesAnswer(Shape):
    """The nodes that count as lost."""

    lost: list[LostNode]
    """By name."""


@router.get("", operation_id="list_lost_nodes", summary="Nodes that are lost", dependencies=[READ])
def list_lost_nodes(context: Context) -> LostNodesAnswer:
    """Nodes that were said to be lost within a day, and not to be there again."""
    return _lost(context)


@router.post("/node-lost", operation_id="node_lost", summary="Say that a node is lost")
def node_lost(
    event: NodeBody, _: Operator, context: Context, afterwards: BackgroundTasks
) -> LostNodesAnswer:
    """Count a node as gone for a day, whatever the cluster still says of it, and plan at once."""
    context.node_events.node_lost(event.node, context.clock())
    afterwards.add_task(context.plan_now)
    return _lost(context)


@router.post("/node-joined", operation_id="node_joined", summary="Say that a node is there")
def node_joined(event: NodeBody, _: Operator, context: Context) -> LostNodesAnswer:
    """Count a node as the cluster says again."""
    context.node_events.node_joined(event.node, context.clock())
    return _lost(context)


def _lost(context: Context) -> LostNodesAnswer:
    lost = context.node_events.lost(context.clock())
    return LostNodesAnswer(
        lost=[LostNode(node=name, lost_seconds=lost[name]) for name in sorted(lost)]
    )
