"""From a fitted model to the forecasts people read: one value per pool, or the reason for none.

A pool that cannot be forecast gets an `Unavailable`, never a zero. Where the chosen model is
silent, the next simpler one answers, and the forecast says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from features.errors import Unavailable
from features.panel import DemandPanel
from features.pool import Pool
from models.explanation import Explanation, explained
from models.forecast import QUANTILE_LEVELS, Forecast, Knowledge, QuantileArrays
from models.protocol import Context, FittedModel

STALE_AFTER_SECONDS = 900
ENOUGH_HISTORY_SECONDS = 30 * 86_400


@dataclass(frozen=True)
class NamedFit:
    """A fitted model with the name and version that its forecasts carry."""

    name: str
    version: str
    fitted: FittedModel


def forecast(
    panel: DemandPanel,
    fits: Sequence[NamedFit],
    context: Context,
    origin: int,
    notes: Sequence[str] = (),
) -> dict[Pool, Forecast | Unavailable]:
    """Forecast every pool of the panel.

    Args:
        panel: history; rows at or after the origin are not read.
        fits: the chosen model first, then those that answer where it is silent.
        context: horizon, calendar and events.
        origin: index of the row at whose beginning the forecast is made.
        notes: what a reader of any of the forecasts should know, one line each.

    Returns:
        By pool, a forecast from its last observed instant, or why there is none.
    """
    return {
        pool: _forecast_pool(panel.before(origin).select([pool]), fits, context, notes)
        for pool in panel.pools
    }


def _forecast_pool(
    panel: DemandPanel, fits: Sequence[NamedFit], context: Context, already: Sequence[str]
) -> Forecast | Unavailable:
    observed = np.flatnonzero(~np.isnan(panel.demand_gpus[0]))
    if not len(observed):
        return Unavailable("no step of its history was observed; pull or import some")
    last = int(observed[-1]) + 1
    stale = (len(panel) - last) * panel.step_seconds
    if stale > STALE_AFTER_SECONDS:
        return Unavailable(
            f"its last observed step closed {stale // 60} min before; a forecast needs one from "
            f"the last {STALE_AFTER_SECONDS // 60} min"
        )
    known = panel.before(last)
    notes = list(already)
    for fit in fits:
        said = fit.fitted.predict(known, np.array([last]), context)
        if np.isfinite(said.peak).all() and np.isfinite(said.path).all():
            made = explained(said, known, last, context)
            return _value(known, fit, made, _knowledge(known, stale, notes), context)
        notes.append(f"{fit.name} has too little history to say anything of this pool")
    held = len(observed) * panel.step_seconds
    return Unavailable(f"{held // 60} min of history are too little even for the simplest model")


def _knowledge(panel: DemandPanel, stale_seconds: int, notes: list[str]) -> Knowledge:
    observed = ~np.isnan(panel.demand_gpus[0])
    first = int(np.argmax(observed))
    span = (len(panel) - first) * panel.step_seconds
    if span < ENOUGH_HISTORY_SECONDS:
        notes = [*notes, f"{span / 86_400:.1f} days of history; its seasons need 30"]
    if stale_seconds:
        notes = [*notes, f"made from {stale_seconds // 60} min before the newest step"]
    return Knowledge(
        history_seconds=span,
        observed_share=float(observed[first:].mean()),
        last_observed_seconds=panel.end_seconds,
        notes=tuple(notes),
    )


def _value(
    panel: DemandPanel,
    fit: NamedFit,
    made: tuple[QuantileArrays, Explanation],
    knowledge: Knowledge,
    context: Context,
) -> Forecast:
    said, account = made
    return Forecast(
        pool=panel.pools[0],
        origin=datetime.fromtimestamp(panel.end_seconds, tz=UTC),
        horizon=context.horizon,
        levels=QUANTILE_LEVELS,
        now_gpus=account.now_gpus,
        path_gpus=said.path[0, 0],
        peak_gpus=said.peak[0, 0],
        model_name=fit.name,
        model_version=fit.version,
        knowledge=knowledge,
        explanation=account.parts(),
        sentence=account.sentence(context.horizon.peak_seconds // 60),
    )
