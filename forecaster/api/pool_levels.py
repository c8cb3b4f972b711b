"""Demand and capacity of a pool as they are now: the newest step, if it is not long gone.

A step that was not observed, or that is older than a quarter of an hour, says nothing of now.
"""

from dataclasses import dataclass

import numpy as np

from features.series import DemandSeries, FloatArray

LEVEL_SECONDS = 900


@dataclass(frozen=True)
class PoolLevel:
    """What is known of a pool now; None for what is not.

    Attributes:
        demand_gpus: demand of the newest observed step.
        capacity_gpus: capacity of the newest step that knows it.
        observed_seconds: Unix time at which the newest observed step closed.
    """

    demand_gpus: float | None = None
    capacity_gpus: float | None = None
    observed_seconds: int | None = None


def level_of(recent: DemandSeries | None) -> PoolLevel:
    """What the last quarter of an hour says; nothing where there is none."""
    if recent is None:
        return PoolLevel()
    observed = np.flatnonzero(recent.observed)
    last = int(observed[-1]) + 1 if len(observed) else 0
    closes = recent.start_seconds + last * recent.step_seconds
    return PoolLevel(
        demand_gpus=_newest(recent.demand_gpus),
        capacity_gpus=_newest(recent.capacity_gpus),
        observed_seconds=closes if last else None,
    )


def _newest(values: FloatArray) -> float | None:
    known = values[np.isfinite(values)]
    return float(known[-1]) if len(known) else None
