"""What the store holds of each pool: how long, how much of it, and where it is blind.

It only counts; it must never fill a gap to make the numbers look better.
"""

from dataclasses import dataclass

import numpy as np

from features.pool import Pool
from features.series import BoolArray, DemandSeries


@dataclass(frozen=True)
class PoolHoldings:
    """What the store holds of one pool.

    Attributes:
        pool: whose history.
        start_seconds: Unix time at which it begins.
        end_seconds: Unix time at which its last row closes.
        step_seconds: its step.
        observed_share: share of its steps that are observed, 0 to 1.
        gaps: stretches that are not observed, (start, end) each, in order.
        capped_steps: steps in which there may have been more demand than was seen.
        zero_share: share of the observed steps that have no demand, 0 to 1.
    """

    pool: Pool
    start_seconds: int
    end_seconds: int
    step_seconds: int
    observed_share: float
    gaps: tuple[tuple[int, int], ...]
    capped_steps: int
    zero_share: float

    @classmethod
    def of(cls, series: DemandSeries) -> "PoolHoldings":
        """Count what is in a series of at least one row."""
        observed = series.observed
        known = int(np.count_nonzero(observed))
        without_demand = int(np.count_nonzero(series.demand_gpus == 0))
        gaps = tuple(
            (
                series.start_seconds + first * series.step_seconds,
                series.start_seconds + stop * series.step_seconds,
            )
            for first, stop in runs(~observed)
        )
        return cls(
            pool=series.pool,
            start_seconds=series.start_seconds,
            end_seconds=series.end_seconds,
            step_seconds=series.step_seconds,
            observed_share=known / len(series),
            gaps=gaps,
            capped_steps=int(np.count_nonzero(series.capped)),
            zero_share=without_demand / known if known else 0.0,
        )


@dataclass(frozen=True)
class Holdings:
    """What the whole store holds.

    Attributes:
        pools: what it holds of each pool, ordered by pool.
        problems: files that are damaged and what to do about each, a line each.
    """

    pools: tuple[PoolHoldings, ...]
    problems: tuple[str, ...]


def runs(flags: BoolArray) -> list[tuple[int, int]]:
    """Stretches of True as (first, stop) indices, in order."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return [(int(first), int(stop)) for first, stop in edges.reshape(-1, 2)]
