"""What may be done for each pool: forecast only, act, or paused; set by people, at once."""

from http import HTTPStatus
from typing import Any, Literal

from fastapi import APIRouter, Response

from actuator.policy import OperatingMode
from forecaster.api.context import ApiContext
from forecaster.api.etags import check_read, etag_of
from forecaster.api.parameters import Body, IfMatch, PoolName, Text, one_line
from forecaster.api.problems import responses
from forecaster.api.security import READ, Context, Operator
from forecaster.database.pool_modes import PoolMode
from forecaster.json_shapes import Shape

router = APIRouter(prefix="/v1/modes", tags=["operating"])

ETAG: dict[int | str, dict[str, Any]] = {
    200: {
        "headers": {
            "ETag": {"description": "Its version, for If-Match.", "schema": {"type": "string"}}
        }
    }
}


class ModeBody(Body):
    """What shall be allowed for a pool."""

    mode: Literal["forecast-only", "act", "paused"]
    """`act` lets cycles ask for nodes, `forecast-only` plans and asks for none, `paused` holds."""

    reason: Text = ""
    """Why, for whoever reads it later."""


class ModeState(Shape):
    """What may be done for a pool."""

    pool: str
    """The pool."""

    mode: Literal["forecast-only", "act", "paused"]
    """What may be done."""

    said_by: str | None
    """Who set it; null where it is the policy's, or nobody's."""

    reason: str
    """Why; may be empty."""

    made_seconds: int | None
    """Unix time at which it was set; null where nobody has."""

    version: int
    """How often it was set; its ETag."""


class ModesAnswer(Shape):
    """The modes of all pools."""

    modes: list[ModeState]
    """In the order of the pools' names."""


@router.get("", operation_id="list_modes", summary="The modes of all pools", dependencies=[READ])
def list_modes(context: Context) -> ModesAnswer:
    """What may be done for each pool of the history or the policy."""
    said = context.modes.modes()
    names = sorted({*said, *(str(pool) for pool in context.pools())})
    return ModesAnswer(
        modes=[_state(context, said.get(name) or context.modes.get(name)) for name in names]
    )


@router.get(
    "/{pool:path}",
    operation_id="get_mode",
    summary="The mode of one pool",
    dependencies=[READ],
    responses=ETAG | responses(HTTPStatus.NOT_FOUND),
)
def get_mode(pool: PoolName, context: Context, response: Response) -> ModeState:
    """What may be done for one pool, with the ETag that a change needs."""
    held = context.modes.get(str(context.pool_named(pool)))
    response.headers["ETag"] = etag_of(held.version)
    return _state(context, held)


@router.put(
    "/{pool:path}",
    operation_id="set_mode",
    summary="Set the mode of one pool",
    responses=ETAG
    | responses(
        HTTPStatus.NOT_FOUND, HTTPStatus.PRECONDITION_FAILED, HTTPStatus.PRECONDITION_REQUIRED
    ),
)
def set_mode(
    *,
    pool: PoolName,
    wanted: ModeBody,
    who: Operator,
    context: Context,
    response: Response,
    if_match: IfMatch = None,
) -> ModeState:
    """Set what may be done from the next cycle on; it goes before the policy's own mode.

    428 without an If-Match, 412 where somebody else was first.
    """
    name = str(context.pool_named(pool))
    held = context.modes.get(name)
    check_read(if_match, held.version)
    mode = PoolMode(
        pool=name,
        mode=OperatingMode(wanted.mode),
        author=who.name,
        reason=one_line(wanted.reason),
        made_seconds=context.clock(),
        version=held.version,
    )
    kept = context.modes.change(mode, held.version)
    context.read_anew()
    response.headers["ETag"] = etag_of(kept.version)
    return _state(context, kept)


def _state(context: ApiContext, held: PoolMode) -> ModeState:
    is_set = held.made_seconds is not None
    return ModeState(
        pool=held.pool,
        mode=(held.mode if is_set else context.policy_mode(held.pool)).value,
        said_by=held.author if is_set else None,
        reason=held.reason,
        made_seconds=held.made_seconds,
        version=held.version,
    )
