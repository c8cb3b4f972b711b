"""How likely a rise beyond each threshold is: one booster that gives the whole distribution.

It starts from how often the pool itself exceeded the threshold and learns only what to add to
that, on the scale of log-odds. So it respects that many rises are exactly zero, and has something
to say of the far tail, where quantile trees see almost no rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from features.baselines import BASELINE_DAYS, DAY_SECONDS
from features.panel import DemandPanel
from features.rises import closed_rises
from features.series import FloatArray, IntArray
from models.forecast import QUANTILE_LEVELS
from models.own_rises import EVER, FORTNIGHT, WINDOW_DAYS, RiseProfiles, SortedRises, sorted_rises
from models.protocol import Context
from models.targets import targets_of
from models.tree_table import TreeTable
from models.trees import (
    BY_COLUMN,
    Layout,
    Rows,
    TreeInputs,
    booster_of,
    grown,
    known_rows,
    training_inputs,
)

if TYPE_CHECKING:
    import lightgbm

BOOSTER_FILE = "hazard.txt"
SHAREST, RAREST = 0.9, 0.0015
TREE_SHAPE: Mapping[str, object] = {
    "objective": "binary",
    "learning_rate": 0.07,
    "feature_fraction": 0.5,
    "lambda_l2": 20.0,
    "max_bin": 31,
    "boost_from_average": False,
}


@dataclass(frozen=True, eq=False)
class HazardTrees:
    """The booster alone, which knows no pool.

    Attributes:
        booster: None where there was too little to learn.
        inputs: the names of the inputs it was grown on.
    """

    booster: "lightgbm.Booster | None" = None
    inputs: tuple[str, ...] = ()

    @cached_property
    def _table(self) -> TreeTable | None:
        return None if self.booster is None else TreeTable.of([self.booster])

    def peak_quantiles(self, inputs: TreeInputs, profiles: RiseProfiles) -> FloatArray:
        """Quantiles of the peak in GPUs, shape (pools, origins, levels); NaN if unlearned.

        Args:
            inputs: of the forecast's origins.
            profiles: of the same pools, in the same order.
        """
        shape = (*inputs.now_gpus.shape, len(QUANTILE_LEVELS))
        chosen = inputs.chosen(self.inputs)
        if self._table is None or chosen is None:
            return np.full(shape, np.nan)
        thresholds = np.broadcast_to(
            profiles.thresholds[:, None], (*shape[:2], profiles.thresholds.shape[1])
        )
        odds = _log_odds(profiles.exceeded)[:, :, None, :]
        asked = _with_threshold(chosen, thresholds, [odds[:, w] for w in range(len(WINDOW_DAYS))])
        base = asked[..., -4]
        exceeded = base + self._table.raw_scores(asked)[..., 0]
        falling = np.minimum.accumulate(exceeded, axis=-1)
        return inputs.now_gpus[..., None] + _inverted(falling, thresholds)

    def artifact(self) -> dict[str, bytes]:
        """The booster's LightGBM text, if there is one."""
        if self.booster is None:
            return {}
        return {BOOSTER_FILE: self.booster.model_to_string().encode()}

    @classmethod
    def restored(cls, artifact: Mapping[str, bytes], inputs: tuple[str, ...]) -> "HazardTrees":
        """The inverse of `artifact`; a KeyError names the file if it is missing."""
        return cls(booster_of(artifact[BOOSTER_FILE]), inputs) if inputs else cls()


@dataclass(frozen=True, eq=False)
class _HazardRows:
    names: tuple[str, ...]
    rows: Rows


@dataclass(frozen=True)
class Hazard:
    """Settings of the hazard trees.

    Attributes:
        row_budget: rows that all pools together are sampled down to.
        history_days: how far back rows are drawn from.
        hidden: the inputs that trees may not see.
        rounds: how many trees.
        leaves: most leaves of a tree.
        layout: how rows are kept while trees grow.
        threads: threads while fitting.
    """

    row_budget: int = 18_000
    history_days: float = BASELINE_DAYS
    hidden: frozenset[str] = frozenset()
    rounds: int = 48
    leaves: int = 8
    layout: Layout = BY_COLUMN
    threads: int = 1

    def trees(self, panels: Sequence[DemandPanel], context: Context) -> HazardTrees:
        """The booster of one or more clusters; all panels have the same step."""
        pools = sum(len(panel.pools) for panel in panels)
        drawn = [self._rows(panel, context, self.row_budget / pools) for panel in panels]
        rows = [one for one in drawn if one is not None]
        if not rows:
            return HazardTrees()
        together = Rows.together([one.rows for one in rows])
        shape = {
            **TREE_SHAPE,
            "num_leaves": self.leaves,
            "min_data_in_leaf": max(20, min(300, len(together.target) // 40)),
            "num_threads": self.threads,
        }
        (booster,) = grown(together, [(shape, self.rounds)], self.layout)
        return HazardTrees(booster, rows[0].names)

    def _rows(
        self, panel: DemandPanel, context: Context, budget_per_pool: float
    ) -> "_HazardRows | None":
        random = np.random.default_rng(2)
        drawn = training_inputs(panel, context, self.history_days, budget_per_pool, random)
        if drawn is None:
            return None
        origins, inputs = drawn[0], drawn[1].without(self.hidden)
        rise = targets_of(panel, origins, context.horizon).peak - inputs.now_gpus
        threshold, odds = _drawn_thresholds(panel, context, origins, random)
        asked = _with_threshold(inputs, threshold, odds)[:, :, 0]
        exceeded = np.where(np.isfinite(rise + threshold[..., 0]), rise > threshold[..., 0], np.nan)
        rows = known_rows(asked, exceeded)
        if not len(rows.target):
            return None
        return _HazardRows(inputs.names, replace(rows, start=rows.inputs[:, -4].astype(np.float64)))


def _drawn_thresholds(
    panel: DemandPanel, context: Context, origins: IntArray, random: np.random.Generator
) -> tuple[FloatArray, list[FloatArray]]:
    """One threshold per pool and origin, from the pool's own rises up to that origin's midnight.

    Returns:
        GPUs, shape (pools, origins, 1), and per window the log-odds of exceeding it, alike.
    """
    rises = closed_rises(
        panel.demand_gpus, panel.closing_gpus, panel.capped, context.horizon.peak_steps
    )
    shape = (len(panel.pools), len(origins), 1)
    share = np.exp(random.uniform(np.log(RAREST), np.log(SHAREST), shape[:2]))
    window = random.choice([FORTNIGHT, EVER], shape[:2])
    threshold, odds = np.empty(shape), [np.empty(shape) for _ in WINDOW_DAYS]
    per_day = max(1, DAY_SECONDS // panel.step_seconds)
    for mark in np.unique(origins // per_day):
        of_day = np.flatnonzero(origins // per_day == mark)
        then = sorted_rises(rises, int(mark * per_day), panel.step_seconds)
        drawn = np.where(
            window[:, of_day] == FORTNIGHT,
            _exceeded_by(then, FORTNIGHT, share[:, of_day]),
            _exceeded_by(then, EVER, share[:, of_day]),
        )
        threshold[:, of_day, 0] = drawn
        for index, values in enumerate(odds):
            values[:, of_day, 0] = _log_odds(then.exceeded(index, drawn))
    return threshold, odds


def _exceeded_by(rises: SortedRises, window: int, share: FloatArray) -> FloatArray:
    """The rise that a share of a window's rises exceeded; shape of the share, (pools, origins)."""
    ordered = rises.windows[window]
    if not ordered.shape[-1]:
        return np.full(share.shape, np.nan)
    known = np.sum(~np.isnan(ordered), axis=-1, keepdims=True)
    rank = np.clip(((1 - share) * known).astype(np.int64), 0, np.maximum(known - 1, 0))
    drawn: FloatArray = np.take_along_axis(ordered, rank, axis=-1)
    return drawn


def _with_threshold(
    inputs: TreeInputs, thresholds: FloatArray, odds: list[FloatArray]
) -> FloatArray:
    """The inputs repeated per threshold, with what the pool's own past says of exceeding it.

    The fourth column from the end is the log-odds to start from.
    """
    recent, fortnight, ever = odds
    shared = inputs.values
    shape = thresholds.shape
    asked = np.empty((*shape, shared.shape[2] + 4), dtype=np.float32)
    asked[..., :-4] = shared[:, :, None, :]
    base = _log_odds((_share(fortnight) + _share(ever)) / 2)
    asked[..., -4] = base
    asked[..., -3] = recent - base
    asked[..., -2] = fortnight - ever
    asked[..., -1] = np.log1p(np.maximum(thresholds, 0.0) / inputs.scale_gpus[..., None])
    return asked


def _inverted(log_odds: FloatArray, thresholds: FloatArray) -> FloatArray:
    """Quantiles of the rise: the least threshold exceeded rarely enough, along a line to it.

    Args:
        log_odds: of exceeding each threshold, falling along the last axis.
        thresholds: GPUs, rising along the last axis, the same shape.
    """
    levels = np.array(QUANTILE_LEVELS)
    wanted = np.log((1 - levels) / levels)
    position = np.stack([np.sum(log_odds > one, axis=-1) for one in wanted], axis=-1)
    right = np.minimum(position, log_odds.shape[-1] - 1)
    left = np.maximum(right - 1, 0)
    above, below = (np.take_along_axis(log_odds, at, axis=-1) for at in (left, right))
    start, stop = (np.take_along_axis(thresholds, at, axis=-1) for at in (left, right))
    share = np.clip((above - wanted) / np.maximum(above - below, 1e-9), 0.0, 1.0)
    quantiles: FloatArray = start + share * (stop - start)
    return quantiles


def _log_odds(share: FloatArray) -> FloatArray:
    odds: FloatArray = np.log(share) - np.log1p(-share)
    return odds


def _share(log_odds: FloatArray) -> FloatArray:
    share: FloatArray = 1.0 / (1.0 + np.exp(-log_odds))
    return share
