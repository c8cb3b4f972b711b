"""The demand of one pool as it was, step by step; what was not observed is null, never zero."""

from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Query

from features.baselines import DAY_SECONDS
from features.errors import BadInput
from features.series import DemandSeries, FloatArray
from forecaster.api.parameters import Limit, PoolName, Since, Until, seconds_of
from forecaster.api.problems import responses
from forecaster.api.security import READ, Context
from forecaster.json_shapes import Shape
from forecaster.tasks.moments import iso_text

router = APIRouter(prefix="/v1/history", tags=["pools"], dependencies=[READ])

Cursor = Annotated[
    int | None,
    Query(
        description="Go on at this Unix time, as the page before said.",
        ge=0,
        le=int(datetime(2100, 1, 1, tzinfo=UTC).timestamp()),
    ),
]
Step = Annotated[
    int | None,
    Query(
        description="Spacing in seconds, a multiple of the history's own; the highest of each "
        "stretch is given. The history's own if left out.",
        ge=60,
        le=DAY_SECONDS,
        multiple_of=60,
    ),
]


class HistoryStep(Shape):
    """One step; levels are as it closed, but for demand, which is the highest within it."""

    time: str | None
    """When it begins, ISO 8601 in UTC; null where times are no dates."""

    time_seconds: int
    """The same in seconds."""

    demand_gpus: float | None
    """GPUs requested by running and pending jobs; null where it was not observed."""

    running_gpus: float | None
    """GPUs of running jobs."""

    pending_gpus: float | None
    """GPUs of jobs that wait."""

    capacity_gpus: float | None
    """Allocatable GPUs."""


class HistoryPage(Shape):
    """Some steps of a pool's history."""

    pool: str
    """The pool."""

    step_seconds: int | None
    """Spacing; null where the history has nothing of the pool."""

    steps: list[HistoryStep]
    """Oldest first."""

    cursor: int | None
    """What `cursor` takes to go on; null at the end."""


@router.get(
    "/{pool:path}",
    operation_id="get_history",
    summary="The demand of one pool as it was",
    responses=responses(HTTPStatus.NOT_FOUND),
)
def get_history(
    *,
    pool: PoolName,
    context: Context,
    since: Since = None,
    until: Until = None,
    step_seconds: Step = None,
    cursor: Cursor = None,
    limit: Limit = 288,
) -> HistoryPage:
    """Steps that begin within a stretch of time, the last day if none is given."""
    named, now_seconds = context.pool_named(pool), context.clock()
    until_seconds = seconds_of(until, now_seconds)
    since_seconds = seconds_of(since, until_seconds - DAY_SECONDS) if cursor is None else cursor
    held: list[DemandSeries] = []
    if named in context.levels() and since_seconds < until_seconds:
        held = context.workspace.store.series([named], since_seconds, until_seconds)
    if not held:
        return HistoryPage(pool=str(named), step_seconds=step_seconds, steps=[], cursor=None)
    return _page(held[0], step_seconds or held[0].step_seconds, limit)


def _page(series: DemandSeries, step_seconds: int, limit: int) -> HistoryPage:
    together, rest = divmod(step_seconds, series.step_seconds)
    if rest:
        raise BadInput(
            f"step_seconds: {step_seconds} is no multiple of the history's {series.step_seconds}"
        )
    first = series.start_seconds // step_seconds * step_seconds
    lead = (series.start_seconds - first) // series.step_seconds
    columns = [
        _highest(values, lead, together)[:limit]
        for values in (
            series.demand_gpus,
            series.running_gpus,
            series.pending_gpus,
            series.capacity_gpus,
        )
    ]
    rows = -(-(lead + len(series)) // together)
    steps = [
        _step(first + row * step_seconds, *(float(column[row]) for column in columns))
        for row in range(min(rows, limit))
    ]
    more = first + limit * step_seconds if rows > limit else None
    return HistoryPage(pool=str(series.pool), step_seconds=step_seconds, steps=steps, cursor=more)


def _step(
    seconds: int, demand_gpus: float, running_gpus: float, pending_gpus: float, capacity_gpus: float
) -> HistoryStep:
    return HistoryStep(
        time=iso_text(seconds),
        time_seconds=seconds,
        demand_gpus=_known(demand_gpus),
        running_gpus=_known(running_gpus),
        pending_gpus=_known(pending_gpus),
        capacity_gpus=_known(capacity_gpus),
    )


def _highest(values: FloatArray, lead: int, together: int) -> FloatArray:
    """The highest known value of each stretch of so many steps; NaN where none is known.

    Args:
        values: one per step.
        lead: steps of the first stretch that lie before the values.
        together: steps of a stretch.
    """
    stretches = -(-(lead + len(values)) // together)
    padded = np.full(stretches * together, np.nan)
    padded[lead : lead + len(values)] = values
    highest: FloatArray = np.fmax.reduce(padded.reshape(stretches, together), axis=1)
    return highest


def _known(value: float) -> float | None:
    return value if np.isfinite(value) else None
