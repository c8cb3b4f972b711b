"""Reads every metric when it is scraped, part by part.

A part that cannot be read is missing from that scrape, and `tidecast_reading_failed` says so; the
others are there all the same.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import structlog

from features.errors import TidecastError
from forecaster.api.context import ApiContext
from forecaster.api.metrics import pool_readings, score_readings, service_readings
from forecaster.api.metrics.pool_readings import DecisionCounts
from forecaster.api.metrics.readings import Reading
from forecaster.api.metrics.service_readings import Counts
from forecaster.api.metrics.table import METRICS, Kind

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Metric

log = structlog.get_logger()

Read = Callable[[ApiContext], Iterator[Reading]]

PARTS: Mapping[str, Read] = {
    "build": service_readings.build,
    "jobs": service_readings.jobs,
    "ages": service_readings.ages,
    "cache": service_readings.cache,
    "levels": pool_readings.levels,
    "forecasts": pool_readings.forecasts,
    "plans": pool_readings.plans,
    "scores": score_readings.scores,
    "node-pools": score_readings.node_pools,
}
"""Where readings come from, beside what is counted; one more part is one more row."""


class Collector:
    """What `prometheus-client` asks for metrics."""

    def __init__(self, context: ApiContext, responses: Counts) -> None:
        """Nothing is read yet.

        Args:
            context: where readings come from.
            responses: counted as they leave.
        """
        counts = DecisionCounts(context.audit)
        self._context = context
        self._parts: Mapping[str, Read] = {
            **PARTS,
            "responses": lambda _: service_readings.responses(responses),
            "decisions": lambda now: pool_readings.decisions(counts, now.clock()),
        }

    def collect(self) -> Iterator["Metric"]:
        """Every metric that has a reading now."""
        return _families(self._readings())

    def describe(self) -> Iterable["Metric"]:
        """Nothing: the names are known only once they are read."""
        return ()

    def _readings(self) -> list[Reading]:
        found: list[Reading] = []
        for part, read in self._parts.items():
            try:
                found += list(read(self._context))
                failed = 0.0
            except TidecastError as error:
                log.warning("metrics are incomplete", part=part, reason=str(error))
                failed = 1.0
            found.append(Reading("tidecast_reading_failed", failed, (part,)))
        return found


def registry_of(context: ApiContext, responses: Counts) -> "CollectorRegistry":
    """A registry of its own, with the process beside our metrics."""
    from prometheus_client import CollectorRegistry, ProcessCollector

    registry = CollectorRegistry(auto_describe=False)
    registry.register(Collector(context, responses))
    ProcessCollector(registry=registry)
    return registry


def _families(readings: Iterable[Reading]) -> Iterator["Metric"]:
    from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily

    kinds = {Kind.GAUGE: GaugeMetricFamily, Kind.COUNTER: CounterMetricFamily}
    families: dict[str, GaugeMetricFamily | CounterMetricFamily] = {}
    for reading in readings:
        metric = METRICS[reading.name]
        family = families.get(metric.name)
        if family is None:
            family = kinds[metric.kind](metric.name, metric.help, labels=metric.labels)
            families[metric.name] = family
        family.add_metric(reading.labels, reading.value)
    yield from families.values()
