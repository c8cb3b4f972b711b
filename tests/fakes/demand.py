"""A small made-up cluster with a daily tide, for tests that need history but no trace."""

import numpy as np

from features.panel import DemandPanel
from features.pool import Pool, Shape
from features.series import DemandSeries

MONDAY = 1_767_571_200  # 2026-01-05T00:00:00Z
WHOLE = Pool("a100", Shape.WHOLE_NODE)
FRAGMENT = Pool("a100", Shape.FRAGMENT)


def tidal_series(
    pool: Pool = WHOLE,
    days: int = 10,
    seed: int = 1,
    step_seconds: int = 300,
    start_seconds: int = MONDAY,
) -> DemandSeries:
    """Demand that rises every morning and falls every evening, with bursts on top."""
    random = np.random.default_rng(seed)
    rows = days * 86_400 // step_seconds
    hour = np.arange(rows) * step_seconds / 3_600 % 24
    tide = 40 + 24 * np.clip(np.sin((hour - 7) / 12 * np.pi), 0, None)
    submitted = random.poisson(0.3 + 0.5 * (np.abs(hour - 10) < 1.5))
    bursts = np.convolve(8.0 * submitted, np.exp(-np.arange(60) / 15), mode="full")[:rows]
    closing = np.round(tide + bursts)
    highest = np.maximum(closing, np.roll(closing, 1))
    pending = np.minimum(closing, 8.0 * random.poisson(0.2, rows))
    return DemandSeries(
        pool=pool,
        start_seconds=start_seconds,
        step_seconds=step_seconds,
        demand_gpus=highest,
        running_gpus=closing - pending,
        pending_gpus=pending,
        queued_jobs=pending / 8,
        submitted_jobs=submitted.astype(np.float64),
        submitted_gpus=8.0 * submitted,
    )


def tidal_panel(days: int = 10, step_seconds: int = 300) -> DemandPanel:
    """Two pools of the made-up cluster."""
    return DemandPanel.of(
        [
            tidal_series(WHOLE, days, seed=1, step_seconds=step_seconds),
            tidal_series(FRAGMENT, days, seed=2, step_seconds=step_seconds),
        ]
    )
