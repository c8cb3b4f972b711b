"""Demand history out of Prometheus: what was scraped, and nothing else.

The questions are those of a profile (`queries.py`); this file asks them and lays the answers on the
grid. It keeps three things apart that look alike in an answer: a pool without samples while the
cluster was scraped (demand is zero), nothing scraped (demand is not known), and a sample that is
NaN (not known). An answer that is only a part of one is refused as a whole.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from features.errors import BadInput, SourceUnavailable
from features.pool import Pool, Shape
from features.series import BoolArray, DemandSeries, FloatArray
from features.sources.pool_columns import PodTally, PoolColumn
from features.sources.prometheus_connection import PrometheusConnection
from features.sources.prometheus_http import PrometheusServer
from features.sources.prometheus_ranges import InstantRange, closing_instants
from features.sources.promql import PEAK_RESOLUTION_SECONDS, counted_by_value
from features.sources.protocol import SourceAnswer
from features.sources.query_plan import (
    STALE_AFTER_SECONDS,
    Exported,
    PodState,
    QueryPlan,
    QueryProfile,
)

NODES_REMEMBERED_SECONDS = 7 * 86_400
NODES_LOOKED_AT_EVERY_SECONDS = 900
NO_DEMAND_COLUMNS = ("capacity_gpus", "capped")
CLOSE_COLUMNS = ("running_gpus", "pending_gpus", "queued_jobs", "capacity_gpus", "demand_nodes")


class PrometheusSource:
    """Implements `features.sources.protocol.Source` on a Prometheus."""

    def __init__(
        self,
        connection: PrometheusConnection,
        queries: QueryProfile,
        known_pools: Sequence[Pool] = (),
        stale_after_seconds: int = STALE_AFTER_SECONDS,
    ) -> None:
        """A source that asks nothing before it is asked.

        Args:
            connection: where Prometheus is.
            queries: which series it has.
            known_pools: pools of earlier answers; one without samples in a span is answered too,
                as zero where the cluster was scraped.
            stale_after_seconds: age of the newest scrape from which on the cluster's state is not
                known. It must exceed the scrape interval; Prometheus would go on for 300 s.
        """
        self._server = PrometheusServer(connection)
        self._queries = queries
        self._known_pools = tuple(known_pools)
        self._stale_after_seconds = stale_after_seconds

    @property
    def name(self) -> str:
        """The URL."""
        return self._server.connection.url

    def demand(self, start_seconds: int, end_seconds: int, step_seconds: int) -> SourceAnswer:
        """See `Source.demand`; rows are the whole steps inside [start, end)."""
        closes = closing_instants(start_seconds, end_seconds, step_seconds)
        edges = InstantRange(closes.first_seconds - step_seconds, closes.last_seconds, step_seconds)
        exported = exported_series(
            self._server, self._queries, edges.first_seconds, edges.last_seconds
        )
        missing = [one for one in self._queries.needed if not exported.has(one)]
        if missing and len(missing) == len(self._queries.needed):
            return SourceAnswer((), (f"{self.name} has no {', '.join(missing)} in this span",))
        if missing:
            raise SourceUnavailable(
                f"{self.name} has no {', '.join(missing)}, without which demand would be wrong; "
                "`tidecast doctor` says how to get it"
            )
        plan = self._queries.plan(step_seconds, exported, self._stale_after_seconds)
        fresh = self._fresh(plan, edges)
        columns = self._columns(plan, closes)
        series = tuple(
            _series(
                pool,
                edges,
                {
                    name: _known(columns, pool, name, fresh, len(closes))
                    for name in plan.columns_of(pool)
                },
            )
            for pool in self._pools(plan, columns)
        )
        return SourceAnswer(series, tuple(self._warnings(plan, series, fresh, closes)))

    def _pools(self, plan: QueryPlan, columns: "Columns") -> list[Pool]:
        """Pools with demand in the span, and those that are known of anyway."""
        told = {one.pool for one in plan.pools if one.pool is not None}
        seen = {pool for pool, column in columns if column not in NO_DEMAND_COLUMNS}
        return sorted(told or seen | set(self._known_pools))

    def _fresh(self, plan: QueryPlan, edges: InstantRange) -> BoolArray | None:
        """At which edges of rows the cluster's state is known; None if the profile cannot say."""
        if not plan.scraped:
            return None
        fresh = np.zeros(len(edges), dtype=np.bool_)
        for one in self._server.pieces(plan.scraped, edges, plan.chunk_seconds):
            fresh[one.positions] = True
        return fresh

    def _columns(self, plan: QueryPlan, closes: InstantRange) -> "Columns":
        columns: Columns = {}
        for question in plan.pools:
            for one in self._server.pieces(question.promql, closes, plan.chunk_seconds):
                key = (question.pool or _pool_of(one.labels), question.column)
                column = columns.setdefault(key, PoolColumn.empty(len(closes)))
                if question.pool is not None and np.any(column.present[one.positions]):
                    raise BadInput(
                        f"{key[0]}: the query for '{question.column}' gives several series; "
                        "make it one with sum() or max()"
                    )
                column.lay(one)
        if plan.pods:
            self._add_pods(plan, closes, columns)
        return columns

    def _add_pods(self, plan: QueryPlan, closes: InstantRange, columns: "Columns") -> None:
        """The columns that are made of counts of pods, a chunk after the other."""
        resolution = math.gcd(closes.step_seconds, PEAK_RESOLUTION_SECONDS)
        row = 0
        for chunk in closes.chunks(max(plan.chunk_seconds // closes.step_seconds, 1)):
            tally = PodTally(len(chunk), closes.step_seconds // resolution)
            for count in plan.pods:
                looks = chunk if count.state is PodState.ARRIVED else chunk.inside_steps(resolution)
                for one in self._server.pieces(count.promql, looks):
                    tally.add(count, plan.node_sizes, one)
            rows = slice(row, row + len(chunk))
            for pool, name, values in tally.columns():
                column = columns.setdefault((pool, name), PoolColumn.empty(len(closes)))
                column.fill(rows, values)
            row = rows.stop

    def _warnings(
        self,
        plan: QueryPlan,
        series: Sequence[DemandSeries],
        fresh: BoolArray | None,
        closes: InstantRange,
    ) -> Iterator[str]:
        if fresh is not None and not fresh.all():
            blind = np.count_nonzero(~(fresh[1:] & fresh[:-1]))
            yield f"{blind} of {len(closes)} steps are not known: nothing was scraped"
        if not plan.guessed_gpus:
            return
        pending = sum(float(np.nansum(one.pending_gpus)) for one in series)
        guessed = sum(
            float(np.nansum(one.values))
            for one in self._server.pieces(plan.guessed_gpus, closes, plan.chunk_seconds)
        )
        if guessed and pending:
            yield (
                f"the GPU type of {guessed / pending:.0%} of pending demand is a guess; "
                "`tidecast doctor` says how to have it told"
            )


Columns = dict[tuple[Pool, str], PoolColumn]


def exported_series(
    server: PrometheusServer, queries: QueryProfile, start_seconds: int, end_seconds: int
) -> Exported:
    """What a Prometheus holds of a profile's series in a span; errors as `Source.demand`."""
    span = (start_seconds, end_seconds)
    labels = {one: server.label_names(one, *span) for one in queries.series}
    resources: set[str] = set()
    for series, names in labels.items():
        if "resource" in names:
            resources |= server.label_values("resource", series, *span)
    exported = Exported(labels, frozenset(resources))
    node_gpus = queries.node_gpus(exported)
    if not node_gpus:
        return exported
    # Types whose nodes are all away for the moment are remembered for a week.
    first = min(start_seconds, end_seconds - NODES_REMEMBERED_SECONDS)
    looks = closing_instants(first, end_seconds, NODES_LOOKED_AT_EVERY_SECONDS)
    largest: dict[str, float] = {}
    nodes: dict[str, int] = {}
    for one in server.pieces(counted_by_value(node_gpus, "gpus"), looks):
        name, gpus = one.labels["gpu_type"], float(one.labels["gpus"])
        largest[name] = max(largest.get(name, 0.0), gpus)
        nodes[name] = nodes.get(name, 0) + int(one.values.sum())
    return replace(
        exported,
        gpus_per_node={name: gpus for name, gpus in largest.items() if gpus > 0},
        commonest_type=max(sorted(nodes), key=nodes.__getitem__, default=""),
    )


def _pool_of(labels: Mapping[str, str]) -> Pool:
    """The pool that an answer's labels name; mixed where they name a GPU type alone."""
    shape = labels.get("shape", Shape.MIXED)
    if "gpu_type" not in labels or shape not in set(Shape):
        raise BadInput(
            f"a series with the labels {dict(labels)} names no pool; it needs 'gpu_type', and as "
            "'shape' whole-node or fragment"
        )
    return Pool(labels["gpu_type"], Shape(shape))


def _series(pool: Pool, edges: InstantRange, columns: Mapping[str, FloatArray]) -> DemandSeries:
    """Rows between edges; where it is not known whether demand was hidden, it may have been."""
    held = columns.get("capped", np.zeros(len(edges) - 1))
    levels = {name: values for name, values in columns.items() if name != "capped"}
    return DemandSeries(
        pool=pool,
        start_seconds=edges.first_seconds,
        step_seconds=edges.step_seconds,
        capped=~np.isnan(levels["demand_gpus"]) & ~(held <= 0),
        **levels,
    )


def _known(
    columns: Columns, pool: Pool, name: str, fresh: BoolArray | None, rows: int
) -> FloatArray:
    """A column by row: NaN where it is not known, 0 where the pool was seen to have nothing."""
    of_type = columns.get((Pool(pool.gpu_type, Shape.MIXED), name), PoolColumn.empty(rows))
    column = columns.get((pool, name), of_type)
    if fresh is None:
        return column.values
    known = fresh[1:] if name in CLOSE_COLUMNS else fresh[1:] & fresh[:-1]
    return np.where(known, np.where(column.present, column.values, 0.0), np.nan)
