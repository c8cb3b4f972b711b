"""What was forecast for each moment: by the newest forecast then, and half an hour before.

The past is as it was said at the time, the future as the newest forecast says. All of it is read
from the database once; after that only what is new.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from features.pool import Pool
from features.series import FloatArray
from forecaster.api.prom.series import Samples
from forecaster.database import Database
from forecaster.database.forecast_paths import ForecastPaths, PathArray, forecast_paths
from models.forecast import QUANTILE_LEVELS

LONGEST_SECONDS = 35 * 86_400
READ_AGAIN_SECONDS = 7_200
"""Forecasts from so long ago on may still be made, or made again."""

PIECE_SECONDS = 7 * 86_400
"""Read at once; pieces overlap, so that none begins without the forecast that reaches into it."""

FRESH_SECONDS = 5
DECIMALS = 4

BANDS = tuple(f"p{level * 100:g}" for level in QUANTILE_LEVELS)


class Lead(StrEnum):
    """How long before a moment its forecast was made."""

    LATEST = "latest"
    HALF_HOUR = "30m"


LEAD_SECONDS = {Lead.HALF_HOUR: 1_800}


@dataclass(frozen=True, eq=False)
class Told:
    """What was said of one pool at one lead.

    Attributes:
        times_seconds: Unix time that each row is about, ascending, shape (rows,).
        gpus: demand at `QUANTILE_LEVELS`, NaN where nothing could be said, shape (rows, levels).
        step_seconds: spacing of the newest rows.
    """

    times_seconds: FloatArray
    gpus: PathArray
    step_seconds: int

    def band(self, band: str) -> Samples:
        """One quantile of it."""
        values = self.gpus[:, BANDS.index(band)].astype(np.float64)
        return Samples(self.times_seconds, np.round(values, DECIMALS), self.step_seconds)


Key = tuple[Pool, Lead]


class ToldForecasts:
    """Forecasts by pool and lead, kept in memory as far back as anybody has asked."""

    def __init__(self, database: Database) -> None:
        """Nothing is read yet."""
        self._database = database
        self._lock = Lock()
        self._held: Mapping[Key, Told] = {}
        self._since_seconds: int | None = None
        self._read_seconds = 0

    def read(self, since_seconds: float, now_seconds: int) -> Mapping[Key, Told]:
        """What was said about every moment from `since` on, and perhaps some before it.

        Raises:
            SourceUnavailable: the database does not answer.
        """
        since = max(int(since_seconds) - READ_AGAIN_SECONDS, now_seconds - LONGEST_SECONDS)
        with self._lock:
            if self._since_seconds is None or since < self._since_seconds:
                self._held = self._with_newer({}, since, now_seconds)
                self._since_seconds, self._read_seconds = since, now_seconds
            elif not 0 <= now_seconds - self._read_seconds < FRESH_SECONDS:
                oldest = now_seconds - LONGEST_SECONDS
                begin = min(self._read_seconds, now_seconds) - READ_AGAIN_SECONDS
                self._held = self._with_newer(self._held, max(begin, oldest), now_seconds)
                self._since_seconds = max(self._since_seconds, oldest)
                self._read_seconds = now_seconds
            return self._held

    def _with_newer(
        self, held: Mapping[Key, Told], since_seconds: int, now_seconds: int
    ) -> Mapping[Key, Told]:
        """What was held, and what is newer, read piece by piece so that little is in memory."""
        oldest, end = now_seconds - LONGEST_SECONDS, now_seconds + READ_AGAIN_SECONDS
        for begin in range(since_seconds, end, PIECE_SECONDS):
            until = min(begin + PIECE_SECONDS + READ_AGAIN_SECONDS, end)
            newer = told_of(forecast_paths(self._database, begin, until))
            held = _continued(held, newer, oldest)
        return held


def told_of(paths: Iterable[ForecastPaths]) -> dict[Key, Told]:
    """What forecasts said about each moment.

    At the lead `latest` each forecast counts until the next one's origin, and the newest as far as
    it reaches; at another lead each says one moment.
    """
    by_pool: dict[Pool, list[ForecastPaths]] = {}
    for one in paths:
        by_pool.setdefault(one.pool, []).append(one)
    found: dict[Key, Told] = {}
    for pool, runs in by_pool.items():
        ends = [run.origins_seconds[0] for run in runs[1:]] + [runs[-1].reach_seconds]
        latest = [_latest(run, int(end)) for run, end in zip(runs, ends, strict=True)]
        found[pool, Lead.LATEST] = _joined(latest)
        for lead, seconds in LEAD_SECONDS.items():
            ahead = [_ahead(run, seconds) for run in runs]
            if far_enough := [told for told in ahead if told is not None]:
                found[pool, lead] = _joined(far_enough)
    return found


def _latest(run: ForecastPaths, end_seconds: int) -> Told:
    """The steps of each forecast that close before the next is made."""
    origins, (count, reach, _) = run.origins_seconds, run.path_gpus.shape
    next_origins = np.append(origins[1:], end_seconds)
    steps = np.minimum(reach, (next_origins - origins) // run.step_seconds)
    rows = np.repeat(np.arange(count), steps)
    step = np.arange(len(rows)) - np.repeat(np.cumsum(steps) - steps, steps)
    times = origins[rows] + (step + 1) * run.step_seconds
    return Told(times.astype(np.float64), run.path_gpus[rows, step], run.step_seconds)


def _ahead(run: ForecastPaths, seconds: int) -> Told | None:
    """The step of each forecast that closes so long after its origin; None if none does."""
    step, rest = divmod(seconds, run.step_seconds)
    if rest or not 1 <= step <= run.path_gpus.shape[1]:
        return None
    times = (run.origins_seconds + seconds).astype(np.float64)
    return Told(times, run.path_gpus[:, step - 1].copy(), run.step_seconds)


def _joined(parts: list[Told]) -> Told:
    return Told(
        np.concatenate([one.times_seconds for one in parts]),
        np.concatenate([one.gpus for one in parts]),
        parts[-1].step_seconds,
    )


def _continued(
    held: Mapping[Key, Told], newer: Mapping[Key, Told], oldest_seconds: int
) -> dict[Key, Told]:
    """What was held up to the first newer row, and the newer from there on."""
    found: dict[Key, Told] = {}
    for key in dict.fromkeys((*held, *newer)):
        parts = []
        if key in held:
            first = newer[key].times_seconds[0] if key in newer else np.inf
            parts.append(_where(held[key], oldest_seconds, first))
        if key in newer:
            parts.append(newer[key])
        found[key] = _joined(parts)
    return {key: one for key, one in found.items() if len(one.times_seconds)}


def _where(told: Told, since_seconds: float, until_seconds: float) -> Told:
    kept: NDArray[np.bool_] = (told.times_seconds >= since_seconds) & (
        told.times_seconds < until_seconds
    )
    return Told(told.times_seconds[kept], told.gpus[kept], told.step_seconds)
