"""Marks on nodes and pods that nobody may touch: by whom, why and until when."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path

from forecaster.api.parameters import LONGEST_NAME, Body, Moment, Text, one_line
from forecaster.api.problems import responses
from forecaster.api.security import READ, Context, Operator
from forecaster.database.protections import KeptProtection, ProtectedKind
from forecaster.database.refusals import NotThere
from forecaster.json_shapes import Shape

NAMES = r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?(/[a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$"

router = APIRouter(prefix="/v1/protections", tags=["operating"])

Kind = Annotated[ProtectedKind, Path(description="What is protected.")]
ProtectedName = Annotated[
    str,
    Path(
        description="The node's name; `namespace/name` for a pod.",
        max_length=LONGEST_NAME,
        pattern=NAMES,
        examples=["gpu-node-7"],
    ),
]


class ProtectionBody(Body):
    """Why something is not to be touched, and how long."""

    reason: Text = ""
    """Why."""

    expires: Moment | None = None
    """When it no longer holds, with an offset; until it is taken off if left out."""


class ProtectionState(Shape):
    """A mark."""

    kind: ProtectedKind
    """Node or pod."""

    name: str
    """The node's name; `namespace/name` for a pod."""

    owner: str
    """Who set it."""

    reason: str
    """Why."""

    made_seconds: int
    """Unix time at which it was set."""

    expires_seconds: int | None
    """Unix time from which it no longer holds; null for never."""


class ProtectionsAnswer(Shape):
    """The marks that hold."""

    protections: list[ProtectionState]
    """By kind and name."""


@router.get("", operation_id="list_protections", summary="What is protected", dependencies=[READ])
def list_protections(context: Context) -> ProtectionsAnswer:
    """The marks that people have set here and that hold; the cluster's own are not among them."""
    held = context.protections.active(context.clock())
    return ProtectionsAnswer(protections=[_state(one) for one in held])


@router.put("/{kind}/{name:path}", operation_id="protect", summary="Protect a node or a pod")
def protect(
    kind: Kind, name: ProtectedName, wanted: ProtectionBody, who: Operator, context: Context
) -> ProtectionState:
    """Set a mark; it takes the place of the one before it."""
    expires = wanted.expires
    mark = KeptProtection(
        kind=kind,
        name=name,
        owner=who.name,
        reason=one_line(wanted.reason),
        made_seconds=context.clock(),
        expires_seconds=None if expires is None else int(expires.timestamp()),
    )
    context.protections.protect(mark)
    return _state(mark)


@router.delete(
    "/{kind}/{name:path}",
    operation_id="release",
    summary="Protect a node or a pod no longer",
    status_code=HTTPStatus.NO_CONTENT,
    responses=responses(HTTPStatus.NOT_FOUND),
)
def release(kind: Kind, name: ProtectedName, _: Operator, context: Context) -> None:
    """Take a mark off."""
    if not context.protections.release(kind, name):
        raise NotThere(f"{kind} '{name}' bears no mark of ours; GET /v1/protections has all")


def _state(mark: KeptProtection) -> ProtectionState:
    return ProtectionState(
        kind=mark.kind,
        name=mark.name,
        owner=mark.owner,
        reason=mark.reason,
        made_seconds=mark.made_seconds,
        expires_seconds=mark.expires_seconds,
    )
