"""The trained versions, and which of them forecasts are made with."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import Field

from forecaster.api.context import ApiContext
from forecaster.api.once import Request, answered_once
from forecaster.api.parameters import Body, IdempotencyKey
from forecaster.api.problems import responses
from forecaster.api.security import READ, Context, Operator
from forecaster.database.refusals import NotThere
from forecaster.json_shapes import ModelAnswer, ModelsAnswer, PromotionAnswer
from forecaster.tasks import versions

VERSIONS = r"^[0-9A-Za-z][0-9A-Za-z._-]*$"
LONGEST_VERSION = 100
VersionText = Annotated[
    str,
    Field(strict=True, max_length=LONGEST_VERSION, pattern=VERSIONS, examples=["20260301T033000Z"]),
]

router = APIRouter(prefix="/v1/models", tags=["operating"])


class ChampionBody(Body):
    """Who shall be champion."""

    model_version: VersionText
    """The version, as the list has it."""


@router.get("", operation_id="list_models", summary="The trained versions", dependencies=[READ])
def list_models(context: Context) -> ModelsAnswer:
    """All versions, newest first, and the champion among them."""
    return versions.list_versions(context.workspace)


@router.get(
    "/versions/{version}",
    operation_id="get_model",
    summary="One version",
    dependencies=[READ],
    responses=responses(HTTPStatus.NOT_FOUND),
)
def get_model(
    version: Annotated[
        str,
        Path(
            description="As the list has it.",
            max_length=LONGEST_VERSION,
            pattern=VERSIONS,
            examples=["20260301T033000Z"],
        ),
    ],
    context: Context,
) -> ModelAnswer:
    """One version with what it was made from; its files are read and checked."""
    _check(context, version)
    return versions.show_version(context.workspace, version)


@router.get(
    "/champion",
    operation_id="get_champion",
    summary="The champion",
    dependencies=[READ],
    responses=responses(HTTPStatus.NOT_FOUND),
)
def get_champion(context: Context) -> ModelAnswer:
    """The version that forecasts are made with; 404 before the first training."""
    champion = context.workspace.registry.champion()
    if champion is None:
        raise NotThere("there is no champion yet; 'tidecast train' makes one")
    return versions.show_version(context.workspace, champion)


@router.put(
    "/champion",
    operation_id="promote_model",
    summary="Make a version champion",
    responses=responses(HTTPStatus.NOT_FOUND),
)
def promote_model(wanted: ChampionBody, _: Operator, context: Context) -> PromotionAnswer:
    """Make a version champion because a person says so, from the next forecast on."""
    _check(context, wanted.model_version)
    return versions.promote_version(context.workspace, wanted.model_version, context.clock())


@router.post(
    "/champion/rollback",
    operation_id="roll_back_model",
    summary="Go back to the champion before",
    responses=responses(HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY),
)
def roll_back_model(
    who: Operator, context: Context, idempotency_key: IdempotencyKey = None
) -> PromotionAnswer:
    """Make the champion before this one champion again; 422 where there is none."""
    return answered_once(
        context,
        Request(who, idempotency_key, "roll back the model"),
        lambda: versions.roll_back(context.workspace),
        PromotionAnswer,
    )


def _check(context: ApiContext, version: str) -> None:
    if version not in context.workspace.registry.versions():
        raise NotThere(f"there is no model version '{version}'; GET /v1/models has all of them")
