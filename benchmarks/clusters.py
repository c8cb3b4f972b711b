"""Made-up clusters of any size for benchmarks: bursts on a daily tide, the same every time."""

import numpy as np

from features.calendar import CalendarSettings, ClusterCalendar
from features.events import NoKnownEvents
from features.panel import DemandPanel
from features.pool import Pool, Shape
from features.series import DemandSeries
from models.forecast import Horizon
from models.protocol import Context

START_SECONDS = 1_767_571_200  # 2026-01-05T00:00:00Z
STEP_SECONDS = 300


def context() -> Context:
    """Five-minute steps, an hour ahead, in Berlin."""
    calendar = ClusterCalendar(CalendarSettings(time_zone="Europe/Berlin", countries=("DE",)))
    return Context(Horizon.of(STEP_SECONDS), calendar, NoKnownEvents())


def panel(pools: int, days: int = 30) -> DemandPanel:
    """So many pools with so many days of history."""
    return DemandPanel.of([series(index, days) for index in range(pools)])


def series(index: int, days: int) -> DemandSeries:
    """One pool of such a cluster."""
    random = np.random.default_rng(index)
    rows = days * 86_400 // STEP_SECONDS
    hour = np.arange(rows) * STEP_SECONDS / 3_600 % 24
    tide = (1 + index % 5) * 12 * np.clip(np.sin((hour - 7) / 12 * np.pi), 0, None)
    submitted = random.poisson(0.1 + 0.3 * (np.abs(hour - 10) < 2))
    bursts = np.convolve(8.0 * submitted, np.exp(-np.arange(72) / 18), mode="full")[:rows]
    closing = np.round(16 + tide + bursts)
    pending = np.minimum(closing, 8.0 * random.poisson(0.1, rows))
    return DemandSeries(
        pool=Pool(f"type{index:04d}", Shape.WHOLE_NODE if index % 2 else Shape.FRAGMENT),
        start_seconds=START_SECONDS,
        step_seconds=STEP_SECONDS,
        demand_gpus=np.maximum(closing, np.roll(closing, 1)),
        running_gpus=closing - pending,
        pending_gpus=pending,
        queued_jobs=pending / 8,
        submitted_jobs=submitted.astype(np.float64),
        submitted_gpus=8.0 * submitted,
    )
