"""The newest plan, and what it will ask for later."""

from http import HTTPStatus

from fastapi import APIRouter

from forecaster.api.problems import responses
from forecaster.api.security import READ, Context
from forecaster.database.refusals import NotThere
from forecaster.json_shapes import PlanAnswer, Shape

router = APIRouter(prefix="/v1", tags=["plans"], dependencies=[READ])


class ScheduledAction(Shape):
    """What will be asked for if nothing changes."""

    pool: str
    """The pool."""

    operating_mode: str
    """What may be done for it; only with `act` is anything asked for."""

    at: str
    """When, ISO 8601 in UTC."""

    at_seconds: int
    """The same as Unix time."""

    needed_by_seconds: int
    """Unix time at which the nodes are needed."""

    current_nodes: int
    """Nodes there are now or that are on their way."""

    desired_nodes: int
    """Nodes there should be then."""


class ScheduledActionsAnswer(Shape):
    """What will be asked for later."""

    made_seconds: int | None
    """Unix time of the plan; null before the first."""

    actions: list[ScheduledAction]
    """In the order of time."""


@router.get(
    "/plan",
    operation_id="get_plan",
    summary="The newest plan",
    responses=responses(HTTPStatus.NOT_FOUND),
)
def get_plan(context: Context) -> PlanAnswer:
    """What the last cycle would have for each pool, and why; 404 before the first cycle."""
    plan = context.newest_plan()
    if plan is None:
        raise NotThere("there is no plan yet; put a policy into force, and wait for a cycle")
    return plan


@router.get(
    "/scheduled-actions",
    operation_id="list_scheduled_actions",
    summary="What will be asked for later",
)
def list_scheduled_actions(context: Context) -> ScheduledActionsAnswer:
    """What the newest plan would ask for later if nothing changed; each cycle decides anew."""
    plan = context.newest_plan()
    if plan is None:
        return ScheduledActionsAnswer(made_seconds=None, actions=[])
    actions = [
        ScheduledAction(
            pool=one.pool,
            operating_mode=one.operating_mode,
            at=one.scheduled.at,
            at_seconds=one.scheduled.at_seconds,
            needed_by_seconds=one.scheduled.needed_by_seconds,
            current_nodes=one.current_nodes,
            desired_nodes=one.scheduled.desired_nodes,
        )
        for one in plan.pools
        if one.scheduled is not None
    ]
    in_order = sorted(actions, key=lambda one: one.at_seconds)
    return ScheduledActionsAnswer(made_seconds=plan.made_seconds, actions=in_order)
