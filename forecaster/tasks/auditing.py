"""The decisions on record: which there are, what each was made from, and why, in plain words."""

from zoneinfo import ZoneInfo

from actuator.audit import AuditEvent
from features.errors import BadInput
from forecaster.audit_words import explained
from forecaster.database import Database
from forecaster.database.audit_log import AuditFilter, AuditLog, AuditPage
from forecaster.database.policy_versions import PolicyVersion, PolicyVersions
from forecaster.json_shapes import (
    DecisionAnswer,
    DecisionReason,
    DecisionsAnswer,
    ExplanationAnswer,
    RecordedAction,
    RecordedDecision,
)
from forecaster.wiring import Workspace


def list_decisions(
    workspace: Workspace, wanted: AuditFilter, cursor: str | None, limit: int
) -> DecisionsAnswer:
    """Some decisions, newest first.

    Raises:
        BadInput: the cursor is none, or the limit is out of range.
    """
    with workspace.open_database() as database:
        return decisions_of(AuditLog(database).page(wanted, cursor, limit))


def show_decision(workspace: Workspace, identifier: str) -> DecisionAnswer:
    """One decision, with all that was put on record.

    Raises:
        BadInput: there is no such decision.
    """
    with workspace.open_database() as database:
        return decision_of(AuditLog(database).show(identifier))


def explain_decision(workspace: Workspace, identifier: str) -> ExplanationAnswer:
    """One decision in plain words.

    Raises:
        BadInput: there is no such decision.
    """
    with workspace.open_database() as database:
        return explanation_of(AuditLog(database).show(identifier), database, workspace.zone)


def decisions_of(page: AuditPage) -> DecisionsAnswer:
    """A page of the record as it is printed."""
    decisions = [_recorded(event) for event in page.events]
    return DecisionsAnswer(decisions=decisions, cursor=page.cursor)


def decision_of(event: AuditEvent) -> DecisionAnswer:
    """A decision as it is printed, with all that was put on record."""
    return DecisionAnswer(
        **dict(_recorded(event)),
        closed_seconds=event.closed_seconds,
        needed_by_seconds=event.plan.needed_by_seconds,
        forecast=event.forecast_reference,
        seen=dict(event.seen),
        thresholds=dict(event.thresholds),
        reasons=[DecisionReason(code=one.code, text=one.text) for one in event.plan.reasons],
        advice=list(event.plan.advice),
        actions=_actions(event),
    )


def explanation_of(event: AuditEvent, database: Database, zone: ZoneInfo) -> ExplanationAnswer:
    """A decision in plain words."""
    try:
        policy: PolicyVersion | None = PolicyVersions(database).get(event.policy_version)
    except BadInput:
        policy = None  # it was decided by a policy that came from a file
    return explained(event, policy, zone)


def _recorded(event: AuditEvent) -> RecordedDecision:
    return RecordedDecision(
        identifier=event.identifier,
        pool=event.pool,
        made_seconds=event.made_seconds,
        policy_version=event.policy_version,
        is_shadow=event.shadow,
        mode=event.plan.mode.value,
        current_nodes=event.plan.current_nodes,
        desired_nodes=event.plan.desired_nodes,
        bound_by=event.plan.bound_by,
        held_back=event.plan.held_back,
        standing=event.standing.value,
    )


def _actions(event: AuditEvent) -> list[RecordedAction]:
    """What was asked for, each with its outcome where that is known."""
    unknown = [None] * (len(event.actions) - len(event.outcomes))
    return [
        RecordedAction(
            node_pool=action.node_pool.name,
            back_end=action.node_pool.back_end,
            current_nodes=action.current_nodes,
            desired_nodes=action.desired_nodes,
            removable_nodes=list(action.removable_nodes),
            outcome=None if outcome is None else outcome.standing.value,
            detail=None if outcome is None else outcome.detail,
            asked_for=None if outcome is None else outcome.asked_for,
        )
        for action, outcome in zip(event.actions, [*event.outcomes, *unknown], strict=True)
    ]
