"""The policy by version: read, put into force, compared, gone back from, and tried beside it.

Versions are only ever added, so that no change can lose another: what was in force when is told by
the list.
"""

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request
from pydantic import Field

from actuator.backends.table import check_node_pool
from features.errors import BadInput
from forecaster.api import once
from forecaster.api.parameters import LONGEST_TEXT, Body, IdempotencyKey, Text, one_line
from forecaster.api.problems import responses
from forecaster.api.security import READ, Caller, Context, Operator
from forecaster.database.policy_versions import HIGHEST_VERSION, Authorship
from forecaster.database.refusals import NotThere
from forecaster.json_shapes import (
    PoliciesAnswer,
    PolicyAnswer,
    PolicyChangeAnswer,
    PolicyDiffAnswer,
    ShadowOffAnswer,
)
from forecaster.policy import PolicyDocument, read_policy
from forecaster.tasks.policies import (
    NamedPolicy,
    change_of,
    diff_of,
    policies_of,
    policy_of,
    trial_of,
)

MEDIA_TYPES = ("application/json", "application/yaml")
PLACE = "the document"
NOT_FOUND = responses(HTTPStatus.NOT_FOUND)
UNSUPPORTED = responses(HTTPStatus.UNSUPPORTED_MEDIA_TYPE)

router = APIRouter(prefix="/v1/policies", tags=["operating"])


async def sent_policy(request: Request) -> PolicyDocument:
    """The document of a request, YAML or JSON, which is YAML too.

    Raises:
        HTTPException: 415 for another media type.
        BadInput: it breaks a rule; one line for each problem.
    """
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type not in MEDIA_TYPES:
        raise HTTPException(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"send a policy as {' or '.join(MEDIA_TYPES)}"
        )
    try:
        text = (await request.body()).decode("utf-8")
    except UnicodeDecodeError:
        raise BadInput(f"{PLACE}: is not UTF-8") from None
    return read_policy(text, PLACE, check_node_pool)


Sent = Annotated[PolicyDocument, Depends(sent_policy)]
Note = Annotated[
    str, Query(description="Why, for whoever reads it later.", max_length=LONGEST_TEXT)
]
Version = Annotated[int, Query(ge=1, le=HIGHEST_VERSION, description="A version's number.")]
TAKES_A_POLICY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "The whole policy, as docs/reference/policy.md has it.",
        "content": {
            media_type: {"schema": {"$ref": "#/components/schemas/PolicyDocument"}}
            for media_type in MEDIA_TYPES
        },
    }
}


class RollbackBody(Body):
    """How far to go back."""

    policy_version: Annotated[int, Field(strict=True, ge=1, le=HIGHEST_VERSION)] | None = None
    """Whose document; that of the version in force before this one if left out."""

    note: Text = ""
    """Why."""


@router.get("", operation_id="list_policies", summary="All versions", dependencies=[READ])
def list_policies(context: Context) -> PoliciesAnswer:
    """All versions, newest first, and which of them is in force."""
    return policies_of(context.policies.versions())


@router.post(
    "",
    operation_id="apply_policy",
    summary="Put a policy into force",
    responses=UNSUPPORTED,
    openapi_extra=TAKES_A_POLICY,
)
def apply_policy(
    who: Operator, document: Sent, context: Context, note: Note = ""
) -> PolicyChangeAnswer:
    """Put a document into force from the next cycle on; one that says the same changes nothing.

    A document that breaks a rule changes nothing either, and every problem is told at once.
    """
    before = context.policies.current()
    made = context.policies.apply(document, _authorship(who, context, note))
    context.read_anew()
    return change_of(before, made)


@router.get(
    "/current",
    operation_id="get_policy_in_force",
    summary="The policy in force",
    dependencies=[READ],
    responses=NOT_FOUND,
)
def get_policy_in_force(context: Context) -> PolicyAnswer:
    """The version in force with its document; 404 before the first."""
    in_force = context.policies.current()
    if in_force is None:
        raise NotThere("no policy is in force yet; POST /v1/policies puts one into force")
    return policy_of(in_force, in_force)


@router.post(
    "/current/rollback",
    operation_id="roll_back_policy",
    summary="Go back to an earlier policy",
    responses=responses(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
def roll_back_policy(
    wanted: RollbackBody, who: Operator, context: Context, idempotency_key: IdempotencyKey = None
) -> PolicyChangeAnswer:
    """Put an earlier document into force again, as a new version; 422 where there is none."""

    def go_back() -> PolicyChangeAnswer:
        before = context.policies.current()
        authorship = _authorship(who, context, wanted.note)
        made = context.policies.roll_back(authorship, wanted.policy_version)
        context.read_anew()
        return change_of(before, made)

    asked = once.Request(who, idempotency_key, f"roll back {wanted.model_dump_json()}")
    return once.answered_once(context, asked, go_back, PolicyChangeAnswer)


@router.get(
    "/versions/{version}",
    operation_id="get_policy",
    summary="One version",
    dependencies=[READ],
    responses=NOT_FOUND,
)
def get_policy(
    version: Annotated[int, Path(ge=1, le=HIGHEST_VERSION, description="Its number.")],
    context: Context,
) -> PolicyAnswer:
    """One version with its document."""
    return policy_of(context.policies.get(version), context.policies.current())


@router.get(
    "/diff",
    operation_id="diff_policies",
    summary="What differs between two versions",
    dependencies=[READ],
    responses=NOT_FOUND,
)
def diff_policies(before: Version, after: Version, context: Context) -> PolicyDiffAnswer:
    """What differs, as lines of a unified diff."""
    first, second = (NamedPolicy.of(context.policies.get(one)) for one in (before, after))
    return diff_of(first, second)


@router.post(
    "/diff",
    operation_id="diff_policy",
    summary="What a document would change",
    dependencies=[READ],
    responses=NOT_FOUND | UNSUPPORTED,
    openapi_extra=TAKES_A_POLICY,
)
def diff_policy(document: Sent, context: Context) -> PolicyDiffAnswer:
    """What a document would change against the policy in force; nothing is kept."""
    in_force = context.policies.current()
    if in_force is None:
        raise NotThere("no policy is in force yet, so there is nothing to compare with")
    return diff_of(NamedPolicy.of(in_force), NamedPolicy(PLACE, document))


@router.get(
    "/shadow",
    operation_id="get_shadow_policy",
    summary="The policy that is only tried",
    dependencies=[READ],
    responses=NOT_FOUND,
)
def get_shadow_policy(context: Context) -> PolicyAnswer:
    """The version that is decided by beside the one in force, and only recorded."""
    shadow = context.policies.shadow()
    if shadow is None:
        raise NotThere("no policy is tried; PUT /v1/policies/shadow tries one")
    return policy_of(shadow, context.policies.current())


@router.put(
    "/shadow",
    operation_id="try_policy",
    summary="Try a policy",
    responses=UNSUPPORTED,
    openapi_extra=TAKES_A_POLICY,
)
def try_policy(
    who: Operator, document: Sent, context: Context, note: Note = ""
) -> PolicyChangeAnswer:
    """Decide by a document too, each cycle, and only record it; it replaces an earlier trial."""
    before = context.policies.shadow()
    made = context.policies.try_beside(document, _authorship(who, context, note))
    return trial_of(context.policies.current(), before, made)


@router.delete("/shadow", operation_id="stop_trying_policy", summary="Try no policy any more")
def stop_trying_policy(_: Operator, context: Context) -> ShadowOffAnswer:
    """End the trial; nothing else changes."""
    ended = context.policies.stop_trying(context.clock())
    return ShadowOffAnswer(ended_version=None if ended is None else ended.version)


def _authorship(who: Caller, context: Context, note: str) -> Authorship:
    return Authorship(who.name, context.clock(), one_line(note))
