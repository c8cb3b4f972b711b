"""What a pool's own past rises say, as of one moment: quantiles, and how often a rise was exceeded.

'The same as now, with its own error quantiles' is hard to beat, so every learned model starts from
it. Only rises whose window had closed by that moment count.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from features.baselines import DAY_SECONDS
from features.panel import DemandPanel
from features.pool import Pool
from features.rises import closed_rises, quantiles_of_sorted
from features.series import FloatArray, IntArray
from models.forecast import QUANTILE_LEVELS, Horizon

WINDOW_DAYS = (3, 14, 36_500)
"""Recent days, a fortnight, and everything known."""
FORTNIGHT, EVER = 1, 2
THINNED = 3
"""Neighbouring windows overlap, so every third rise says as much as all of them."""
COMMON_SHARES = (0.9, 0.7, 0.5, 0.35, 0.25, 0.18, 0.13, 0.09)
TAIL_SHARES = (*COMMON_SHARES, 0.065, 0.045, 0.03, 0.02, 0.013, 0.008, 0.005, 0.003, 0.0015)
"""How often the thresholds of a profile were exceeded; closer together in the tail."""


@dataclass(frozen=True, eq=False)
class SortedRises:
    """Known rises of one target as of one moment, per window; sorted, NaN last.

    Attributes:
        windows: one array per entry of `WINDOW_DAYS`, shape (pools, rises).
    """

    windows: tuple[FloatArray, ...]

    def quantiles(self, window: int, levels: Sequence[float]) -> FloatArray:
        """Finite-sample quantiles, shape (pools, levels); NaN for a pool without rises."""
        return quantiles_of_sorted(self.windows[window], tuple(levels))

    def exceeded(self, window: int, thresholds: FloatArray) -> FloatArray:
        """Share of rises above each threshold, a little smoothed so that none is 0 or 1.

        Args:
            window: index into `WINDOW_DAYS`.
            thresholds: GPUs, shape (pools, thresholds).
        """
        rises = self.windows[window]
        known = np.sum(~np.isnan(rises), axis=-1)
        above = np.stack(
            [
                count - np.searchsorted(row[:count], asked, side="right")
                for row, count, asked in zip(rises, known, thresholds, strict=True)
            ]
        )
        share: FloatArray = np.clip((above + 0.02) / (known[:, None] + 1.0), 2e-4, 0.9995)
        return share


def sorted_rises(rises: FloatArray, origin: int, step_seconds: int) -> SortedRises:
    """The rises that had closed before an origin, sorted per window.

    Args:
        rises: aligned to the row that closes their window, shape (pools, rows).
        origin: row index.
        step_seconds: the grid's step.
    """
    per_day = DAY_SECONDS // step_seconds
    windows = []
    for days in WINDOW_DAYS:
        every = THINNED if days > WINDOW_DAYS[0] else 1
        first = max(0, origin - days * per_day)
        windows.append(np.sort(rises[:, first:origin][:, ::-1][:, ::every], axis=-1))
    return SortedRises(tuple(windows))


def rises_of_targets(panel: DemandPanel, horizon: Horizon) -> tuple[FloatArray, ...]:
    """Closed rises of the peak and, after it, of each step of the path; (pools, rows) each."""
    peak = closed_rises(panel.demand_gpus, panel.closing_gpus, panel.capped, horizon.peak_steps)
    seen = np.where(panel.capped, np.nan, panel.demand_gpus)
    path = []
    for ahead in range(1, horizon.steps + 1):
        rise = np.full(seen.shape, np.nan)
        rise[:, ahead:] = seen[:, ahead:] - panel.closing_gpus[:, :-ahead]
        path.append(rise)
    return (peak, *path)


@dataclass(frozen=True, eq=False)
class RiseProfiles:
    """What every pool's rises say as of one moment, small enough to keep with a fitted model.

    Attributes:
        pools: in the order of the first axis.
        quantiles: of the peak and then each step, over a fortnight and over everything known, at
            `QUANTILE_LEVELS`; shape (pools, targets, 2, levels), in GPUs above now.
        thresholds: rises that were exceeded less and less often, shape (pools, thresholds).
        exceeded: how often each was, per entry of `WINDOW_DAYS`; (pools, windows, thresholds).
    """

    pools: tuple[Pool, ...]
    quantiles: FloatArray
    thresholds: FloatArray
    exceeded: FloatArray

    def of_pools(self, pools: Sequence[Pool]) -> "RiseProfiles":
        """The profiles of these pools, in this order; NaN for a pool that has none."""
        where = {pool: index for index, pool in enumerate(self.pools)}
        rows = np.array([where.get(pool, len(self.pools)) for pool in pools])

        def taken(values: FloatArray) -> FloatArray:
            blank = np.full((1, *values.shape[1:]), np.nan)
            chosen: FloatArray = np.concatenate([values, blank])[rows]
            return chosen

        return RiseProfiles(
            tuple(pools),
            taken(self.quantiles),
            taken(self.thresholds),
            taken(self.exceeded),
        )

    def plain(self) -> dict[str, object]:
        """As JSON can hold it."""
        return {
            "pools": [str(pool) for pool in self.pools],
            "quantiles": _json_ready(self.quantiles),
            "thresholds": _json_ready(self.thresholds),
            "exceeded": _json_ready(self.exceeded),
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, list[object]]) -> "RiseProfiles":
        """The inverse of `plain`; raises KeyError, TypeError or ValueError for anything else."""
        return cls(
            tuple(Pool.parse(str(name)) for name in plain["pools"]),
            *(
                np.array(plain[name], dtype=np.float64)
                for name in ("quantiles", "thresholds", "exceeded")
            ),
        )


def rise_profiles(panel: DemandPanel, horizon: Horizon) -> RiseProfiles:
    """Profiles of every pool as of the panel's end."""
    peak, *path = (
        sorted_rises(rises, len(panel), panel.step_seconds)
        for rises in rises_of_targets(panel, horizon)
    )
    quantiles = np.stack(
        [
            np.stack([one.quantiles(window, QUANTILE_LEVELS) for window in (FORTNIGHT, EVER)], 1)
            for one in (peak, *path)
        ],
        axis=1,
    )
    thresholds = _thresholds(peak)
    exceeded = [peak.exceeded(window, thresholds) for window in range(len(WINDOW_DAYS))]
    return RiseProfiles(panel.pools, quantiles, thresholds, np.stack(exceeded, axis=1))


def quantiles_by_day(
    rises: FloatArray, origins: IntArray, step_seconds: int, levels: Sequence[float]
) -> FloatArray:
    """The pool's own quantiles as they stood at the last midnight before each origin.

    Returns:
        Over a fortnight and over everything known, shape (pools, origins, 2, levels).
    """
    per_day = max(1, DAY_SECONDS // step_seconds)
    marks, back = np.unique(origins // per_day * per_day, return_inverse=True)
    by_mark = []
    for mark in marks:
        then = sorted_rises(rises, int(mark), step_seconds)
        by_mark.append(np.stack([then.quantiles(w, levels) for w in (FORTNIGHT, EVER)], axis=1))
    return np.stack(by_mark, axis=1)[:, back]


def _thresholds(peak: SortedRises) -> FloatArray:
    """Thresholds from both long windows in turn, and two beyond the highest rise ever seen."""
    fortnight = peak.quantiles(FORTNIGHT, [1 - share for share in TAIL_SHARES[::2]])
    ever = peak.quantiles(EVER, [1 - share for share in TAIL_SHARES[1::2]])
    seen = np.sort(np.concatenate([fortnight, ever], axis=-1), axis=-1)
    beyond = seen[:, -1:] * np.array([1.5, 2.5]) + 1.0
    return np.concatenate([seen, beyond], axis=-1)


def _json_ready(values: FloatArray) -> object:
    ready = np.round(values, 9).astype(object)
    ready[np.isnan(values)] = None
    return ready.tolist()
