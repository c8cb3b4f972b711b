"""Every forecast as it was given: nothing here is filled in, or made again, later.

Peaks are kept to the last digit, since many of them equal the demand of now exactly, and a score
tells 'at' from 'below'. Paths are kept to seven digits, packed, so that a month of twenty pools
stays small. Where there was no forecast the reason is kept in its place, never a number.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from sqlalchemy import Row, Select, delete, func, insert, select

from features.errors import Unavailable
from features.pool import Pool
from features.series import FloatArray
from forecaster.database.database import Database
from forecaster.database.tables import FORECASTS
from models.forecast import QUANTILE_LEVELS, Forecast, Horizon, Knowledge
from models.stored_forecasts import StoredForecasts

KEEP_DAYS = 35
NOBODY = ""
"""Stands for the model's name where there was no forecast."""

_DAY_SECONDS = 86_400
_COLUMNS = FORECASTS.c
_PEAK, _PATH = np.dtype("<f8"), np.dtype("<f4")


@dataclass(frozen=True)
class KeptForecast:
    """What was said of one pool from one origin.

    Attributes:
        pool: whose demand.
        origin_seconds: Unix time of the origin.
        made_seconds: Unix time at which it was said.
        forecast: what was said, or why nothing could be.
    """

    pool: Pool
    origin_seconds: int
    made_seconds: int
    forecast: Forecast | Unavailable


class Forecasts:
    """Forecasts by pool and origin."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(
        self,
        made: Mapping[Pool, Forecast | Unavailable],
        horizon: Horizon,
        origin_seconds: int,
        made_seconds: int,
    ) -> None:
        """Keep what was said of all pools, in one transaction.

        Args:
            made: by pool.
            horizon: steps and window that were asked for.
            origin_seconds: Unix time of the origin that was due; a forecast whose newest steps
                were not observed has an earlier one of its own.
            made_seconds: Unix time at which it was said. What was said from the same origin before
                gives way to it.
        """
        rows = [
            _row(KeptForecast(pool, _origin(one, origin_seconds), made_seconds, one), horizon)
            for pool, one in made.items()
        ]
        with self._database.writing() as connection:
            for row in rows:
                same = [_COLUMNS[name] == row[name] for name in _KEY]
                connection.execute(delete(FORECASTS).where(*same))
            if rows:
                connection.execute(insert(FORECASTS), rows)

    def newest(self, since_seconds: int) -> dict[Pool, KeptForecast]:
        """What was said last of each pool, from an origin at or after a moment."""
        recent = _COLUMNS.origin_seconds >= since_seconds
        last = (
            select(_COLUMNS.pool, func.max(_COLUMNS.made_seconds).label("made_seconds"))
            .where(recent)
            .group_by(_COLUMNS.pool)
            .subquery()
        )
        is_last = (_COLUMNS.pool == last.c.pool) & (_COLUMNS.made_seconds == last.c.made_seconds)
        said = self._kept(select(FORECASTS).join(last, is_last).where(recent))
        return {one.pool: one for one in sorted(said, key=lambda one: one.made_seconds)}

    def between(
        self, pool: Pool, since_seconds: int, until_seconds: int
    ) -> tuple[KeptForecast, ...]:
        """What was said of a pool from origins in [since, until), oldest first."""
        return self._kept(_of_pool(select(FORECASTS), pool, since_seconds, until_seconds))

    def stored(
        self, pool: Pool, horizon: Horizon, every_seconds: int, since_seconds: int
    ) -> StoredForecasts | None:
        """What was said of a pool's peak, for the live score.

        Args:
            pool: whose demand.
            horizon: only forecasts on this step and for this window; others, from before the
                settings were changed, cannot be scored with them.
            every_seconds: how often a forecast is due.
            since_seconds: Unix time; origins before it are left out.

        Returns:
            The forecasts, the last made where several have one origin; due since the first one
            ever made so. None if there is none.
        """
        columns = (
            _COLUMNS.origin_seconds,
            _COLUMNS.model_name,
            _COLUMNS.model_version,
            _COLUMNS.peak_gpus,
        )
        same = [_COLUMNS[name] == value for name, value in _horizon_columns(horizon).items()]
        wanted = _in_order(_of_pool(select(*columns), pool, since_seconds).where(*same))
        first = _of_pool(select(_COLUMNS.origin_seconds), pool, 0).where(*same)
        with self._database.reading() as connection:
            rows = list({row.origin_seconds: row for row in connection.execute(wanted)}.values())
            begun_seconds = connection.scalar(first.order_by(_COLUMNS.origin_seconds).limit(1))
        if not rows or begun_seconds is None:
            return None
        return StoredForecasts(
            pool=pool,
            horizon=horizon,
            since_seconds=begun_seconds,
            every_seconds=every_seconds,
            origins_seconds=np.array([row.origin_seconds for row in rows], dtype=np.int64),
            peak_gpus=np.array([_peak(row.peak_gpus) for row in rows]),
            models=tuple((row.model_name, row.model_version) for row in rows),
        )

    def prune(self, now_seconds: int, keep_days: int = KEEP_DAYS) -> int:
        """Remove what was said from origins so long ago; gives how many went."""
        old = delete(FORECASTS).where(
            _COLUMNS.origin_seconds < now_seconds - keep_days * _DAY_SECONDS
        )
        with self._database.writing() as connection:
            return connection.execute(old).rowcount

    def _kept(self, wanted: Select[Any]) -> tuple[KeptForecast, ...]:
        with self._database.reading() as connection:
            return tuple(_kept(row) for row in connection.execute(_in_order(wanted)))


_KEY = ("pool", "origin_seconds", "model_name")


def _of_pool(
    query: Select[Any], pool: Pool, since_seconds: int, until_seconds: int | None = None
) -> Select[Any]:
    query = query.where(_COLUMNS.pool == str(pool), _COLUMNS.origin_seconds >= since_seconds)
    return query if until_seconds is None else query.where(_COLUMNS.origin_seconds < until_seconds)


def _in_order(query: Select[Any]) -> Select[Any]:
    """Oldest first, so that the last of a key is the one that was said last."""
    return query.order_by(_COLUMNS.origin_seconds, _COLUMNS.made_seconds, _COLUMNS.model_name)


def _origin(made: Forecast | Unavailable, asked_seconds: int) -> int:
    return asked_seconds if isinstance(made, Unavailable) else int(made.origin.timestamp())


def _row(kept: KeptForecast, horizon: Horizon) -> dict[str, object]:
    said = kept.forecast
    row: dict[str, object] = {
        "pool": str(kept.pool),
        "origin_seconds": kept.origin_seconds,
        "made_seconds": kept.made_seconds,
    }
    if isinstance(said, Unavailable):
        nothing = {"model_name": NOBODY, "model_version": "", "peak_gpus": None, "path_gpus": None}
        return row | nothing | _horizon_columns(horizon) | {"document": {"reason": said.reason}}
    return (
        row
        | _horizon_columns(said.horizon)
        | {
            "model_name": said.model_name,
            "model_version": said.model_version,
            "peak_gpus": said.peak_gpus.astype(_PEAK).tobytes(),
            "path_gpus": said.path_gpus.astype(_PATH).tobytes(),
            "document": {
                "now_gpus": said.now_gpus,
                "history_seconds": said.knowledge.history_seconds,
                "observed_share": said.knowledge.observed_share,
                "last_observed_seconds": said.knowledge.last_observed_seconds,
                "notes": list(said.knowledge.notes),
                "explanation": dict(said.explanation),
                "sentence": said.sentence,
            },
        }
    )


def _horizon_columns(horizon: Horizon) -> dict[str, object]:
    return {"step_seconds": horizon.step_seconds, "peak_steps": horizon.peak_steps}


def _kept(row: Row[Any]) -> KeptForecast:
    said = _forecast(row) if row.peak_gpus is not None else Unavailable(row.document["reason"])
    return KeptForecast(Pool.parse(row.pool), row.origin_seconds, row.made_seconds, said)


def _forecast(row: Row[Any]) -> Forecast:
    levels, document = len(QUANTILE_LEVELS), row.document
    path = np.frombuffer(row.path_gpus, dtype=_PATH).astype(np.float64).reshape(-1, levels)
    return Forecast(
        pool=Pool.parse(row.pool),
        origin=datetime.fromtimestamp(row.origin_seconds, UTC),
        horizon=Horizon(row.step_seconds, len(path), row.peak_steps),
        levels=QUANTILE_LEVELS,
        now_gpus=document["now_gpus"],
        path_gpus=path,
        peak_gpus=_peak(row.peak_gpus),
        model_name=row.model_name,
        model_version=row.model_version,
        knowledge=Knowledge(
            history_seconds=document["history_seconds"],
            observed_share=document["observed_share"],
            last_observed_seconds=document["last_observed_seconds"],
            notes=tuple(document["notes"]),
        ),
        explanation=document["explanation"],
        sentence=document["sentence"],
    )


def _peak(packed: bytes | None) -> FloatArray:
    """The peak per level; NaN where there was no forecast."""
    if packed is None:
        return np.full(len(QUANTILE_LEVELS), np.nan)
    return np.frombuffer(packed, dtype=_PEAK).astype(np.float64)
