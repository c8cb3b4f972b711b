"""Which series there are, and where each comes from.

One more kind of series is one more function in `_FAMILIES`. A step of the history and a step of a
forecast stand at the moment at which they close, so that both can be laid over each other.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

import numpy as np

from features.events import EventKind
from features.pool import Pool
from features.series import FloatArray
from forecaster.announcements.board import AnnouncementBoard, Occurrence
from forecaster.api.history_samples import HistorySamples
from forecaster.api.prom.matchers import NAME, Labels, Matcher, all_match
from forecaster.api.prom.series import Intervals, Moments, Samples, Series, Stretch, labelled
from forecaster.api.prom.told import BANDS, Told, ToldForecasts
from forecaster.database import Database
from forecaster.database.announcements import Announcements

PREDICTED = "gpu_demand:predicted"
ACTUAL = "gpu_demand:actual"
CAPACITY = "gpu_capacity:actual"
ANNOUNCED_GPUS = "gpu_announcement:gpus"
ANNOUNCED_FACTOR = "gpu_announcement:factor"

HOUR_SECONDS = 3_600


@dataclass(frozen=True)
class Named:
    """One name of series, for whoever looks for it.

    Attributes:
        name: the name.
        labels: of its series.
        help: what it means, one sentence.
    """

    name: str
    labels: tuple[str, ...]
    help: str


SERIES = (
    Named(
        PREDICTED,
        ("pool", "band", "lead"),
        "Demand that was or is forecast, in GPUs: by the newest forecast of that time (lead "
        "`latest`), or by the one of half an hour before (`30m`).",
    ),
    Named(
        ACTUAL,
        ("pool",),
        "Demand that came, in GPUs: the highest of each step of the history.",
    ),
    Named(CAPACITY, ("pool",), "Allocatable GPUs of ready, schedulable nodes."),
    Named(
        ANNOUNCED_GPUS,
        ("pool", "kind"),
        "GPUs that are announced: at least so many (`absolute`, the highest counts), or so many "
        "more (`extra`, all together).",
    ),
    Named(
        ANNOUNCED_FACTOR,
        ("pool",),
        "The factor that demand is announced to grow by; the highest counts.",
    ),
)
"""Every name there is."""


@dataclass(frozen=True)
class Span:
    """What is asked about.

    Attributes:
        since_seconds: Unix time of the first moment.
        until_seconds: Unix time of the last one.
        now_seconds: Unix time.
    """

    since_seconds: float
    until_seconds: float
    now_seconds: int


@dataclass(frozen=True)
class Catalogue:
    """Finds series.

    Attributes:
        database: forecasts and announcements.
        history: demand that came.
        told: forecasts by the moment that they are about.
        is_holiday: whether a local date is a public holiday, for announcements that recur.
    """

    database: Database
    history: HistorySamples
    told: ToldForecasts
    is_holiday: Callable[[date], bool]

    def series(self, matchers: Sequence[Matcher], span: Span) -> list[Series]:
        """The series that match, with their values of a span.

        Raises:
            BadQuery: a pattern is none.
            SourceUnavailable: the database does not answer.
        """
        own = [one for one in matchers if one.label == NAME]
        named = all_match(SERIES, own, lambda one: {NAME: one.name})
        readers = dict.fromkeys(_FAMILIES[one.name] for one in named)
        found = [one for reader in readers for one in reader(self, span)]
        return all_match(found, matchers, lambda one: one.labels)

    def labels(self, selectors: Sequence[Sequence[Matcher]], span: Span) -> list[Labels]:
        """The labels of all series that match one of the selectors; of every series without any."""
        found: dict[tuple[tuple[str, str], ...], Labels] = {}
        for matchers in selectors or [()]:
            for one in self.series(matchers, span):
                found[tuple(sorted(one.labels.items()))] = one.labels
        return [found[key] for key in sorted(found)]

    def problems(self) -> tuple[str, ...]:
        """What is missing from answers about the history, a line each."""
        return self.history.read().problems

    def pools(self, now_seconds: int) -> tuple[Pool, ...]:
        """The pools that have a history or a forecast, in order."""
        told = self.told.read(now_seconds, now_seconds)
        return tuple(sorted({*self.history.read().pools, *(pool for pool, _ in told)}))


def _history(catalogue: Catalogue, _: Span) -> Iterator[Series]:
    for pool, history in catalogue.history.read().pools.items():
        for name, column in ((ACTUAL, "demand_gpus"), (CAPACITY, "capacity_gpus")):
            values = history.columns[column]
            samples = Samples(history.closes_seconds, values, history.step_seconds)
            if not np.isnan(values).all():
                yield Series(labelled(name, pool=str(pool)), samples.at)


def _predicted(catalogue: Catalogue, span: Span) -> Iterator[Series]:
    for (pool, lead), told in catalogue.told.read(span.since_seconds, span.now_seconds).items():
        for band in BANDS:
            labels = labelled(PREDICTED, pool=str(pool), band=band, lead=lead.value)
            yield Series(labels, _later(told, band))


def _later(told: Told, band: str) -> Callable[[Moments], FloatArray]:
    """One band of a forecast, taken out of the others only where it is asked for."""
    return lambda moments: told.band(band).at(moments)


def _announced(catalogue: Catalogue, span: Span) -> Iterator[Series]:
    stretches: dict[tuple[str, EventKind], list[Stretch]] = {}
    everyone = [str(pool) for pool in catalogue.pools(span.now_seconds)]
    for each, cancelled_seconds in _occurrences(catalogue, span):
        said = each.announcement
        begin = max(each.start_seconds, said.announced_seconds)
        stretch = (begin, min(each.end_seconds, cancelled_seconds), said.amount)
        for pool in everyone if said.pool is None else [said.pool]:
            stretches.setdefault((pool, said.kind), []).append(stretch)
    for (pool, kind), some in sorted(stretches.items()):
        together = np.add if kind is EventKind.EXTRA else np.fmax
        labels = (
            labelled(ANNOUNCED_FACTOR, pool=pool)
            if kind is EventKind.FACTOR
            else labelled(ANNOUNCED_GPUS, pool=pool, kind=kind.value)
        )
        yield Series(labels, Intervals(tuple(some), together).at)


def _occurrences(catalogue: Catalogue, span: Span) -> Iterator[tuple[Occurrence, float]]:
    """Each time that something was or is announced for, and when it was called off.

    What was called off stood until then, so it is looked for as if it had not been.
    """
    since = int(span.since_seconds) // HOUR_SECONDS * HOUR_SECONDS
    until = int(span.until_seconds) // HOUR_SECONDS * HOUR_SECONDS + HOUR_SECONDS
    said = Announcements(catalogue.database).known_since(since)
    called_off = {one.identifier: one.cancelled_seconds for one in said}
    board = AnnouncementBoard(
        [replace(one, cancelled_seconds=None) for one in said], catalogue.is_holiday
    )
    for each in board.occurrences(span.now_seconds, since, until):
        at_seconds = called_off[each.announcement.identifier]
        yield each, np.inf if at_seconds is None else float(at_seconds)


_Reader = Callable[[Catalogue, Span], Iterator[Series]]

_FAMILIES: Mapping[str, _Reader] = {
    PREDICTED: _predicted,
    ACTUAL: _history,
    CAPACITY: _history,
    ANNOUNCED_GPUS: _announced,
    ANNOUNCED_FACTOR: _announced,
}
