"""Whether the service lives, and whether it can answer; no token is asked for."""

from typing import Literal

from fastapi import APIRouter

from forecaster.api.security import Context
from forecaster.json_shapes import Shape

router = APIRouter(tags=["health"])


class Health(Shape):
    """That all is well; a problem says what is not."""

    status: Literal["ok"] = "ok"
    """Always `ok` here."""


@router.get("/healthz", operation_id="live", summary="Whether the process lives")
async def live() -> Health:
    """The process answers; restart it where it does not."""
    return Health()


@router.get("/readyz", operation_id="ready", summary="Whether requests can be answered")
def ready(context: Context) -> Health:
    """The database answers; 503 where it does not."""
    with context.database.reading():
        return Health()
