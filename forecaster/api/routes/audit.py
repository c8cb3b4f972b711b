"""The decisions on record: which there are, what each was made from, and why."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path, Query

from actuator.audit import EventStanding
from forecaster.api.parameters import Limit, OnePool, Since, Until, seconds_of
from forecaster.api.problems import responses
from forecaster.api.security import READ, Context
from forecaster.database.audit_log import AuditFilter
from forecaster.json_shapes import DecisionAnswer, DecisionsAnswer, ExplanationAnswer
from forecaster.tasks.auditing import decision_of, decisions_of, explanation_of

router = APIRouter(prefix="/v1/audit", tags=["records"], dependencies=[READ])

PATTERN = r"^[0-9]{1,12}-[0-9a-f]{1,12}$"
Decision = Annotated[
    str,
    Path(
        description="The decision, as the list has it.",
        pattern=PATTERN,
        examples=["1772323200-0f3a5c7e9b1d"],
    ),
]
Cursor = Annotated[
    str | None, Query(description="Go on where the page before ended.", pattern=PATTERN)
]


@router.get("", operation_id="list_decisions", summary="Decisions, newest first")
def list_decisions(
    *,
    context: Context,
    pool: OnePool = None,
    since: Since = None,
    until: Until = None,
    held_back: Annotated[bool | None, Query(description="Held back by a guard, or not.")] = None,
    shadow: Annotated[bool | None, Query(description="Of a policy that is only tried.")] = None,
    standing: Annotated[EventStanding | None, Query(description="How far it has come.")] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> DecisionsAnswer:
    """Decisions that asked for something, or were held back from it."""
    wanted = AuditFilter(
        pool=pool,
        since_seconds=None if since is None else seconds_of(since, 0),
        until_seconds=None if until is None else seconds_of(until, 0),
        held_back=held_back,
        shadow=shadow,
        standing=standing,
    )
    return decisions_of(context.audit.page(wanted, cursor, limit))


@router.get(
    "/{identifier}",
    operation_id="get_decision",
    summary="One decision",
    responses=responses(HTTPStatus.NOT_FOUND),
)
def get_decision(identifier: Decision, context: Context) -> DecisionAnswer:
    """One decision, with all that was put on record."""
    return decision_of(context.audit.show(identifier))


@router.get(
    "/{identifier}/explanation",
    operation_id="explain_decision",
    summary="One decision in plain words",
    responses=responses(HTTPStatus.NOT_FOUND),
)
def explain_decision(identifier: Decision, context: Context) -> ExplanationAnswer:
    """What was seen, by which policy it was decided, why, and what became of it."""
    event = context.audit.show(identifier)
    return explanation_of(event, context.database, context.workspace.zone)
