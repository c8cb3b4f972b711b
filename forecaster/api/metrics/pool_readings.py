"""What is known of each pool now: demand, forecast, plan, decisions and queue.

A forecast or a plan that is older than `STALE_AFTER_SECONDS` says nothing of now, and is left out.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from threading import Lock

import numpy as np

from actuator.plan import Mode
from actuator.policy import OperatingMode
from features.baselines import DAY_SECONDS
from features.errors import Unavailable
from features.pool import Pool
from forecaster.api.context import ApiContext
from forecaster.api.history_samples import PoolHistory
from forecaster.api.metrics.readings import Reading, known, one_of, short
from forecaster.api.prom.told import BANDS
from forecaster.database.audit_log import MOST_EVENTS, AuditFilter, AuditLog
from forecaster.json_shapes.plans import PlanOfPool
from models.forecast import Forecast

STALE_AFTER_SECONDS = 900
HORIZONS_SECONDS = (900, 1_800, 3_600)
MOST_PAGES = 5
"""Of decisions that are read for one scrape."""

MODES = tuple(mode.value for mode in OperatingMode)
PLAN_MODES = tuple(mode.value for mode in Mode)
_WAIT = re.compile(r"wait_(p\d+)_seconds")

Figures = Mapping[str, float | str | None]


class DecisionCounts:
    """Counts decisions as they come on record, from a day before it was first asked."""

    def __init__(self, log: AuditLog) -> None:
        """Nothing is counted yet."""
        self._log, self._lock = log, Lock()
        self._counts: Counter[tuple[str, str, str]] = Counter()
        self._since_seconds: int | None = None
        self._newest: frozenset[str] = frozenset()

    def read(self, now_seconds: int) -> Mapping[tuple[str, str, str], int]:
        """Decisions by pool, mode and what set the number; shadow policies' are left out."""
        with self._lock:
            since = self._since_seconds
            wanted = AuditFilter(
                since_seconds=now_seconds - DAY_SECONDS if since is None else since, shadow=False
            )
            fresh, cursor = [], None
            for _ in range(MOST_PAGES):
                page = self._log.page(wanted, cursor, MOST_EVENTS)
                fresh += [one for one in page.events if one.identifier not in self._newest]
                cursor = page.cursor
                if cursor is None:
                    break
            for one in fresh:
                self._counts[one.pool, one.plan.mode.value, one.plan.bound_by] += 1
            if fresh:
                newest = max(one.made_seconds for one in fresh)
                before = self._newest if newest == since else frozenset()
                self._since_seconds = newest
                self._newest = before | {
                    one.identifier for one in fresh if one.made_seconds == newest
                }
            return dict(self._counts)


def levels(context: ApiContext) -> Iterator[Reading]:
    """Demand, capacity and queue, by the newest plan or else by the history."""
    now = context.clock()
    history = context.history_samples.read().pools
    seen = {one.pool: one.seen for one in fresh_plan(context)}
    names = dict.fromkeys([*(str(pool) for pool in history), *seen])
    for pool in (Pool.parse(name) for name in names):
        name, figures = str(pool), seen.get(str(pool), {})
        past = history.get(pool)
        gpu_type = pool.gpu_type
        demand = _newest(past, "demand_gpus", now)
        yield from known("tidecast_demand_gpus", _or(demand, figures, "demand_gpus"), name)
        capacity = _newest(past, "capacity_gpus", now)
        yield from known("tidecast_capacity_gpus", _or(capacity, figures, "capacity_gpus"), name)
        jobs = _figure(figures, "waiting_jobs")
        jobs = _newest(past, "queued_jobs", now) if jobs is None else jobs
        yield from known("tidecast_queued_jobs", jobs, name, gpu_type)
        gpus = _figure(figures, "waiting_gpus")
        gpus = _newest(past, "pending_gpus", now) if gpus is None else gpus
        yield from known("tidecast_queued_gpus", gpus, name, gpu_type)


def forecasts(context: ApiContext) -> Iterator[Reading]:
    """What each pool will need."""
    now = context.clock()
    for pool, kept in context.newest_forecasts().items():
        said = kept.forecast
        if isinstance(said, Unavailable) or now - kept.origin_seconds > STALE_AFTER_SECONDS:
            continue
        yield from _path(said, str(pool))
        window = short(said.horizon.peak_seconds)
        for band, gpus in zip(BANDS, said.peak_gpus.tolist(), strict=True):
            yield from known("tidecast_forecast_peak_gpus", gpus, str(pool), window, band)


def plans(context: ApiContext) -> Iterator[Reading]:
    """What there should be, now and later, and how long jobs have waited."""
    for pool in context.pools():
        mode = context.mode_of(str(pool)).value
        yield from one_of("tidecast_pool_mode", mode, MODES, str(pool))
    for one in fresh_plan(context):
        yield from one_of("tidecast_plan_mode", one.mode, PLAN_MODES, one.pool)
        yield from known("tidecast_current_nodes", one.current_nodes, one.pool)
        yield from known("tidecast_desired_nodes", one.desired_nodes, one.pool)
        if (later := one.scheduled) is not None:
            yield from known("tidecast_scheduled_nodes", later.desired_nodes, one.pool)
            at = later.at_seconds
            yield from known("tidecast_scheduled_timestamp_seconds", at, one.pool)
        for name in one.seen:
            if wait := _WAIT.fullmatch(name):
                seconds = _figure(one.seen, name)
                yield from known("tidecast_wait_seconds", seconds, one.pool, wait[1])


def decisions(counts: DecisionCounts, now_seconds: int) -> Iterator[Reading]:
    """What was decided, and why."""
    for labels, count in sorted(counts.read(now_seconds).items()):
        yield from known("tidecast_decisions_total", count, *labels)


def fresh_plan(context: ApiContext) -> list[PlanOfPool]:
    """The pools of the newest plan; none where that is old."""
    plan = context.newest_plan()
    if plan is None or context.clock() - plan.made_seconds > STALE_AFTER_SECONDS:
        return []
    return plan.pools


def _path(said: Forecast, pool: str) -> Iterator[Reading]:
    for seconds in HORIZONS_SECONDS:
        step, rest = divmod(seconds, said.horizon.step_seconds)
        if rest or not 1 <= step <= len(said.path_gpus):
            continue
        for band, gpus in zip(BANDS, said.path_gpus[step - 1].tolist(), strict=True):
            yield from known("tidecast_forecast_gpus", gpus, pool, short(seconds), band)


def _newest(history: PoolHistory | None, column: str, now_seconds: int) -> float | None:
    """The newest known value of a column, if it is of now."""
    if history is None:
        return None
    first = np.searchsorted(history.closes_seconds, now_seconds - STALE_AFTER_SECONDS)
    recent = history.columns[column][first:]
    of_now = recent[~np.isnan(recent)]
    return float(of_now[-1]) if len(of_now) else None


def _or(value: float | None, figures: Figures, name: str) -> float | None:
    return _figure(figures, name) if value is None else value


def _figure(figures: Figures, name: str) -> float | None:
    found = figures.get(name)
    return None if found is None or isinstance(found, str) else float(found)
