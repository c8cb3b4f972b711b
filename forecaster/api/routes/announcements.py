"""Flood announcements: made, previewed, listed, changed, called off, and scored afterwards.

What is acknowledged here outlives a crash, and is in the forecast and the plan of the next cycle.
"""

from http import HTTPStatus
from secrets import token_hex
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response

from forecaster.announcements.announcement import Announcement
from forecaster.api import announcing
from forecaster.api.announcement_bodies import (
    AnnouncementBody,
    AnnouncementPage,
    AnnouncementScores,
    AnnouncementState,
    PreviewAnswer,
    state_of,
)
from forecaster.api.context import ApiContext
from forecaster.api.etags import check_read, etag_of, is_held
from forecaster.api.methods import takes_only
from forecaster.api.once import Request, answered_once
from forecaster.api.parameters import (
    PRINTABLE,
    IdempotencyKey,
    IfMatch,
    IfNoneMatch,
    Limit,
    OnePool,
)
from forecaster.api.problems import responses
from forecaster.api.security import READ, Announcer, Caller, Context
from forecaster.database.announcements import AnnouncementFilter
from forecaster.database.idempotency import name_after
from forecaster.database.kept_announcements import AnnouncementStanding, KeptAnnouncement
from forecaster.database.refusals import NotThere

PERSON = "person"

router = APIRouter(prefix="/v1/announcements", tags=["announcements"])

Identifier = Annotated[
    str,
    Path(
        description="The announcement, as the list has it.",
        min_length=1,
        max_length=500,
        pattern=PRINTABLE,
        examples=["5f2c9a7e01b34d68"],
    ),
]
ETAG = {"ETag": {"description": "Its version, for If-Match.", "schema": {"type": "string"}}}
WITH_ETAG: dict[int | str, dict[str, Any]] = {200: {"headers": ETAG}}
UNCHANGED: dict[int | str, dict[str, Any]] = {
    304: {"description": "It is what the caller holds already.", "headers": ETAG}
}
CREATED: dict[int | str, dict[str, Any]] = {
    201: {
        "description": "It is kept.",
        "headers": ETAG
        | {"Location": {"description": "Where it is.", "schema": {"type": "string"}}},
    }
}


@router.post(
    "",
    operation_id="create_announcement",
    summary="Announce a flood",
    status_code=HTTPStatus.CREATED,
    responses=CREATED | responses(HTTPStatus.CONFLICT),
)
def create_announcement(
    *,
    said: AnnouncementBody,
    who: Announcer,
    context: Context,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> AnnouncementState:
    """Announce demand: at least so much, so much more, or a factor, from then to then.

    409 where 1000 are active already, or the same request is being answered right now.
    """
    name = token_hex(8) if idempotency_key is None else name_after(who.identifier, idempotency_key)

    def create() -> AnnouncementState:
        made = _meant(context, said, name, who)
        return state_of(context.announcements.create(made, PERSON))

    asked = Request(who, idempotency_key, f"announce {said.model_dump_json()}")
    state = answered_once(context, asked, create, AnnouncementState)
    response.headers["Location"] = f"/v1/announcements/{state.identifier}"
    response.headers["ETag"] = etag_of(state.version)
    return state


@router.get(
    "",
    operation_id="list_announcements",
    summary="What is announced, newest first",
    dependencies=[READ],
)
def list_announcements(
    *,
    context: Context,
    pool: OnePool = None,
    owner: Annotated[
        str | None,
        Query(description="Announced by this one.", min_length=1, max_length=500),
    ] = None,
    source: Annotated[
        str | None,
        Query(description="Come by this: `person`, a calendar.", min_length=1, max_length=300),
    ] = None,
    active: Annotated[bool, Query(description="Only what is neither over nor called off.")] = False,
    cursor: Annotated[
        str | None,
        Query(
            description="Go on where the page before ended.",
            pattern=r"^[0-9]{1,12}-[^\x00-\x1f\x7f]{1,500}$",
        ),
    ] = None,
    limit: Limit = 50,
) -> AnnouncementPage:
    """Announcements of people, calendars and the cluster; those for every pool count for each."""
    wanted = AnnouncementFilter(
        pool=pool, owner=owner, source=source, active_seconds=context.clock() if active else None
    )
    page = context.announcements.page(wanted, cursor, limit)
    return AnnouncementPage(
        announcements=[state_of(one) for one in page.announcements], cursor=page.cursor
    )


@router.post(
    "/preview",
    operation_id="preview_announcement",
    summary="What an announcement would change",
)
def preview_announcement(said: AnnouncementBody, who: Announcer, context: Context) -> PreviewAnswer:
    """The effect on the newest forecast and plan; nothing is kept."""
    return announcing.preview(context, _meant(context, said, "preview", who))


takes_only(router, "/preview", "POST")


@router.get(
    "/{identifier:path}/scores",
    operation_id="get_announcement_scores",
    summary="What was announced against what came",
    dependencies=[READ],
    responses=responses(HTTPStatus.NOT_FOUND),
)
def get_announcement_scores(identifier: Identifier, context: Context) -> AnnouncementScores:
    """What came of the newest times of an announcement that are over, pool by pool."""
    said = _standing(context, identifier).announcement
    return AnnouncementScores(identifier=identifier, outcomes=announcing.outcomes(context, said))


takes_only(router, "/{identifier:path}/scores", "GET")


@router.get(
    "/{identifier:path}",
    operation_id="get_announcement",
    summary="One announcement",
    dependencies=[READ],
    response_model=AnnouncementState,
    responses=WITH_ETAG | UNCHANGED | responses(HTTPStatus.NOT_FOUND),
)
def get_announcement(
    *,
    identifier: Identifier,
    context: Context,
    response: Response,
    if_none_match: IfNoneMatch = None,
) -> AnnouncementState | Response:
    """One announcement, with the ETag that a change of it needs."""
    kept = _standing(context, identifier)
    etag = etag_of(kept.version)
    if is_held(if_none_match, etag):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers={"ETag": etag})
    response.headers["ETag"] = etag
    return state_of(kept)


@router.put(
    "/{identifier:path}",
    operation_id="change_announcement",
    summary="Change an announcement",
    responses=WITH_ETAG
    | responses(
        HTTPStatus.NOT_FOUND,
        HTTPStatus.CONFLICT,
        HTTPStatus.PRECONDITION_FAILED,
        HTTPStatus.PRECONDITION_REQUIRED,
    ),
)
def change_announcement(
    *,
    identifier: Identifier,
    said: AnnouncementBody,
    who: Announcer,
    context: Context,
    response: Response,
    if_match: IfMatch = None,
) -> AnnouncementState:
    """Put other words in its place; they count as known from now on.

    The owner stays as it was if none is named. 428 without an If-Match, 412 where somebody else
    was first.
    """
    held = _standing(context, identifier)
    check_read(if_match, held.version)
    owner = Caller(held.announcement.owner, who.identifier, who.scopes)
    changed = _meant(context, said, identifier, owner)
    kept = context.announcements.change(changed, held.version)
    response.headers["ETag"] = etag_of(kept.version)
    return state_of(kept)


@router.delete(
    "/{identifier:path}",
    operation_id="cancel_announcement",
    summary="Call an announcement off",
    responses=WITH_ETAG | responses(HTTPStatus.NOT_FOUND, HTTPStatus.PRECONDITION_FAILED),
)
def cancel_announcement(
    *,
    identifier: Identifier,
    _: Announcer,
    context: Context,
    response: Response,
    if_match: IfMatch = None,
) -> AnnouncementState:
    """Call it off from now on; the list still has it. One that was called off stays as it is."""
    held = context.announcements.get(identifier)
    if if_match is not None:
        check_read(if_match, held.version)
    version = None if if_match is None else held.version
    kept = context.announcements.cancel(identifier, context.clock(), version)
    response.headers["ETag"] = etag_of(kept.version)
    return state_of(kept)


def _standing(context: ApiContext, identifier: str) -> KeptAnnouncement:
    """An announcement that was not called off.

    Raises:
        NotThere: there is none.
    """
    kept = context.announcements.get(identifier)
    if kept.standing is AnnouncementStanding.CANCELLED:
        raise NotThere(
            f"announcement '{identifier[:80]}' was called off; GET /v1/announcements still has it"
        )
    return kept


def _meant(
    context: ApiContext, said: AnnouncementBody, identifier: str, owner: Caller
) -> Announcement:
    """What a body says, if it can be had."""
    zone, now_seconds = context.workspace.zone.key, context.clock()
    made = said.announcement(identifier, owner.name, zone, now_seconds)
    announcing.check(context, made)
    return made
