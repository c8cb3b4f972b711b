"""The newest forecasts as the bytes that are sent: written once, when they are new.

Many callers ask for them all the time. The loop that answers never waits for the database: at most
once a second a thread looks whether there are newer ones.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256

from fastapi.concurrency import run_in_threadpool

from features.errors import Unavailable
from features.pool import Pool
from forecaster.api.etags import etag_of
from forecaster.database.forecasts import KeptForecast
from forecaster.json_shapes import ForecastAnswer
from forecaster.tasks.forecasting import shape_of
from models.forecast import Forecast

FRESH_SECONDS = 1
NEVER_MADE = Unavailable("no forecast was made within the last hour; see the jobs")


@dataclass(frozen=True)
class Document:
    """JSON that is ready to be sent.

    Attributes:
        content: UTF-8.
        etag: names it; the same for the same content.
    """

    content: bytes
    etag: str

    @classmethod
    def of(cls, content: bytes) -> "Document":
        """A document of this content."""
        return cls(content, etag_of(sha256(content).hexdigest()[:16]))


@dataclass(frozen=True)
class NewestForecasts:
    """What was said last of each pool there is.

    Attributes:
        moments: origin of each forecast and when it was made; None where there is none.
        by_pool: forecasts, or the reasons for none.
        documents: the same as JSON.
        everything: all of them as one JSON document.
    """

    moments: Mapping[Pool, tuple[int, int] | None]
    by_pool: Mapping[Pool, Forecast | Unavailable]
    documents: Mapping[Pool, Document]
    everything: Document


def newest_forecasts(
    pools: tuple[Pool, ...], kept: Mapping[Pool, KeptForecast], before: NewestForecasts | None
) -> NewestForecasts:
    """What was said last of each pool; what is as it was before is not written again.

    Args:
        pools: every pool there is.
        kept: what was said of some of them.
        before: what was said before.
    """
    moments = _moments(pools, kept)
    if before is not None and moments == before.moments:
        return before
    said = {pool: kept[pool].forecast if pool in kept else NEVER_MADE for pool in pools}
    shapes = {pool: shape_of(pool, one) for pool, one in said.items()}
    everything = ForecastAnswer(forecasts=list(shapes.values()), warnings=[])
    return NewestForecasts(
        moments,
        said,
        {pool: Document.of(one.model_dump_json().encode()) for pool, one in shapes.items()},
        Document.of(everything.model_dump_json().encode()),
    )


class ForecastDocuments:
    """The newest forecasts, looked up at most once a second."""

    def __init__(
        self,
        read: Callable[[NewestForecasts | None], NewestForecasts],
        clock: Callable[[], int],
    ) -> None:
        """Nothing is read yet.

        Args:
            read: gives the newest forecasts, from those before.
            clock: Unix time.
        """
        self._read, self._clock = read, clock
        self._held: NewestForecasts | None = None
        self._read_seconds = 0
        self._reading = asyncio.Lock()

    async def newest(self) -> NewestForecasts:
        """The newest forecasts.

        Raises:
            SourceUnavailable: the database does not answer.
        """
        if (held := self._fresh()) is not None:
            return held
        async with self._reading:
            if (held := self._fresh()) is not None:
                return held
            now_seconds = self._clock()
            self._held = await run_in_threadpool(self._read, self._held)
            self._read_seconds = now_seconds
            return self._held

    def _fresh(self) -> NewestForecasts | None:
        age_seconds = self._clock() - self._read_seconds
        return self._held if 0 <= age_seconds < FRESH_SECONDS else None


def _moments(
    pools: tuple[Pool, ...], kept: Mapping[Pool, KeptForecast]
) -> dict[Pool, tuple[int, int] | None]:
    """What tells one forecast of a pool from the next."""
    return {
        pool: (one.origin_seconds, one.made_seconds) if (one := kept.get(pool)) else None
        for pool in pools
    }
