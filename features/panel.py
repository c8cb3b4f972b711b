"""Many pools on one grid, so that features and models work on all of them at once.

A panel only aligns; pools that begin later or end earlier are padded with NaN. An origin is an
index: origin i is the moment row i begins, and whoever forecasts from it may read rows before i
and nothing else.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from features.errors import BadInput
from features.pool import Pool
from features.series import CALENDAR_BEGINS_SECONDS, BoolArray, DemandSeries, FloatArray, IntArray

_ARRAYS = (
    "demand_gpus",
    "closing_gpus",
    "pending_gpus",
    "submitted_jobs",
    "submitted_gpus",
    "capped",
)


@dataclass(frozen=True, eq=False)
class DemandPanel:
    """Aligned demand of several pools; every array has shape (pools, rows), NaN = not known.

    Attributes:
        pools: the pools, in the order of the first axis.
        start_seconds: Unix time, UTC, at which row 0 begins.
        step_seconds: length of a step.
        demand_gpus: highest demand inside the step, never below the level it opens with.
        closing_gpus: demand when the step closes.
        pending_gpus: GPUs of waiting jobs when the step closes.
        submitted_jobs: jobs submitted inside the step.
        submitted_gpus: GPUs of the jobs submitted inside the step.
        capped: True where the demand seen may be less than the demand there was.
    """

    pools: tuple[Pool, ...]
    start_seconds: int
    step_seconds: int
    demand_gpus: FloatArray
    closing_gpus: FloatArray
    pending_gpus: FloatArray
    submitted_jobs: FloatArray
    submitted_gpus: FloatArray
    capped: BoolArray

    @classmethod
    def of(cls, series: Sequence[DemandSeries]) -> "DemandPanel":
        """Align series of one step on the grid that spans them all.

        Raises:
            BadInput: there is no series, steps differ, or a pool stands twice.
        """
        if not series:
            raise BadInput("no pool has any history; pull or import some first")
        steps = sorted({one.step_seconds for one in series})
        if len(steps) > 1:
            raise BadInput(f"pools with different steps ({steps} s) cannot be forecast together")
        if len({one.has_calendar for one in series}) > 1:
            raise BadInput(
                "pools with real dates and pools with times since a trace began cannot be forecast "
                "together; keep them in different data directories"
            )
        pools = tuple(one.pool for one in series)
        if len(set(pools)) != len(pools):
            raise BadInput("the same pool stands twice; merge its history first")
        step, start = steps[0], min(one.start_seconds for one in series)
        rows = (max(one.end_seconds for one in series) - start) // step

        def laid(name: str) -> FloatArray:
            out = np.full((len(series), rows), np.nan)
            for index, one in enumerate(series):
                first = (one.start_seconds - start) // step
                out[index, first : first + len(one)] = getattr(one, name)
            return out

        level_gpus = laid("running_gpus") + laid("pending_gpus")
        highest = laid("demand_gpus")
        # a step begins at the level on which the last one closed; some sources sample only after it
        highest[:, 1:] = np.where(
            np.isnan(highest[:, 1:]), np.nan, np.fmax(highest[:, 1:], level_gpus[:, :-1])
        )
        return cls(
            pools=pools,
            start_seconds=start,
            step_seconds=step,
            demand_gpus=highest,
            closing_gpus=laid("closing_gpus"),
            pending_gpus=laid("pending_gpus"),
            submitted_jobs=laid("submitted_jobs"),
            submitted_gpus=laid("submitted_gpus"),
            capped=np.nan_to_num(laid("capped")).astype(np.bool_),
        )

    def __len__(self) -> int:
        return int(self.demand_gpus.shape[1])

    @property
    def has_calendar(self) -> bool:
        """Whether times are real dates, and not seconds since a trace began."""
        return self.start_seconds >= CALENDAR_BEGINS_SECONDS

    @property
    def end_seconds(self) -> int:
        """When the last row closes: the newest origin the panel allows."""
        return self.start_seconds + len(self) * self.step_seconds

    def seconds_at(self, rows: IntArray | int) -> IntArray:
        """Unix time at which rows begin (and at which the origins of that index lie)."""
        return self.start_seconds + self.step_seconds * np.asarray(rows, dtype=np.int64)

    def row_at(self, seconds: int) -> int:
        """Index of the row (or origin) that begins at this time; it may lie outside the panel."""
        return (seconds - self.start_seconds) // self.step_seconds

    def before(self, origin: int) -> "DemandPanel":
        """What was known at an origin: the rows before it, and no others."""
        return self.rows(0, origin)

    def rows(self, first: int, stop: int) -> "DemandPanel":
        """The rows [first, stop); origins of the result count from `first`."""
        start = self.start_seconds + first * self.step_seconds
        cut = {name: getattr(self, name)[:, first:stop] for name in _ARRAYS}
        return replace(self, start_seconds=start, **cut)

    def select(self, pools: Sequence[Pool]) -> "DemandPanel":
        """The same panel with these pools alone, in this order."""
        positions = [self.pools.index(pool) for pool in pools]
        cut = {name: getattr(self, name)[positions] for name in _ARRAYS}
        return replace(self, pools=tuple(pools), **cut)
