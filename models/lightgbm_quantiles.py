"""LightGBM quantiles: one global model of all pools, of the scaled rise above now.

One booster per quantile level for the peak, and one per level for the path, to which the distance
ahead is an input. Boosters are kept as LightGBM text; nothing pickled is ever written or read.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from features.baselines import BASELINE_DAYS, DAY_SECONDS, Season, seasonal_change
from features.errors import BadInput
from features.panel import DemandPanel
from features.series import FloatArray, IntArray
from models.forecast import QUANTILE_LEVELS, QuantileArrays
from models.own_rises import RiseProfiles, rise_profiles
from models.protocol import Context
from models.targets import targets_of
from models.tree_table import TreeTable
from models.trees import (
    BY_COLUMN,
    Layout,
    Rows,
    TreeInputs,
    between_knots,
    booster_of,
    grown,
    known_rows,
    path_knots,
    profiled_inputs,
    training_inputs,
)

if TYPE_CHECKING:
    import lightgbm

DESCRIPTION_FILE = "lightgbm.json"


@dataclass(frozen=True)
class TreeGrowth:
    """How large trees are, how many, and how much each counts.

    Attributes:
        leaves: most leaves of a tree.
        learning_rate: what each tree adds.
        rounds: how many trees.
    """

    leaves: int
    learning_rate: float
    rounds: int

    def parameters(self) -> dict[str, object]:
        """As LightGBM takes them."""
        return {
            "objective": "quantile",
            "num_leaves": self.leaves,
            "learning_rate": self.learning_rate,
            "feature_fraction": 0.5,
            "lambda_l2": 5.0,
            "max_bin": 31,
        }


PEAK_GROWTH = TreeGrowth(leaves=12, learning_rate=0.095, rounds=40)
LOW_GROWTH = TreeGrowth(leaves=8, learning_rate=0.15, rounds=20)
"""Levels below the median: most of their rises are exactly zero, and there is little to learn."""
PATH_GROWTH = TreeGrowth(leaves=12, learning_rate=0.14, rounds=24)
MEDIAN = 0.5
TIDES = (Season("yesterday", (1,)), Season("last_7_days", tuple(range(1, 8))))


@dataclass(frozen=True, eq=False)
class QuantileTrees:
    """The boosters alone, which know no pool.

    Attributes:
        peak: one per level of `QUANTILE_LEVELS`; empty where there was too little to learn.
        path: the same for steps of the path.
        inputs: the names of the inputs they were grown on.
    """

    peak: tuple["lightgbm.Booster", ...] = ()
    path: tuple["lightgbm.Booster", ...] = ()
    inputs: tuple[str, ...] = ()

    @cached_property
    def _peak_table(self) -> TreeTable:
        return TreeTable.of(self.peak)

    @cached_property
    def _path_table(self) -> TreeTable:
        return TreeTable.of(self.path)

    def predict(
        self, inputs: TreeInputs, panel: DemandPanel, origins: IntArray, context: Context
    ) -> QuantileArrays:
        """Quantiles in GPUs for inputs made of these origins.

        NaN where nothing was learned, or where an input they were grown on is not there, as on
        histories of another step.
        """
        out = QuantileArrays.unavailable(len(panel.pools), len(origins), context.horizon)
        chosen = inputs.chosen(self.inputs) if self.peak else None
        if chosen is None:
            return out
        inputs = chosen
        now = inputs.now_gpus[..., None]
        out.peak[:] = now + inputs.stretched(self._peak_table.raw_scores(inputs.values))
        knots = path_knots(context.horizon)
        scores = self._path_table.raw_scores(_at_knots(inputs, panel, origins, context, knots))
        out.path[:] = now[..., None] + between_knots(inputs.stretched(scores), context.horizon)
        return out.made_valid()

    def artifact(self) -> dict[str, bytes]:
        """One LightGBM text per booster."""
        texts = {}
        for name, boosters in (("peak", self.peak), ("path", self.path)):
            for level, booster in zip(QUANTILE_LEVELS, boosters, strict=False):
                texts[f"{name}_{level}.txt"] = booster.model_to_string().encode()
        return texts

    @classmethod
    def restored(cls, artifact: Mapping[str, bytes], inputs: tuple[str, ...]) -> "QuantileTrees":
        """The inverse of `artifact`; a KeyError names a file that is missing."""
        if not inputs:
            return cls()
        peak, path = (
            tuple(booster_of(artifact[f"{name}_{level}.txt"]) for level in QUANTILE_LEVELS)
            for name in ("peak", "path")
        )
        return cls(peak, path, inputs)


@dataclass(frozen=True, eq=False)
class FittedLightGBM:
    """The boosters, and what each pool's own rises said when they were fitted."""

    trees: QuantileTrees
    profiles: RiseProfiles

    def predict(self, panel: DemandPanel, origins: IntArray, context: Context) -> QuantileArrays:
        """What the boosters say; NaN for a pool without a profile."""
        known = self.profiles.of_pools(panel.pools)
        inputs = profiled_inputs(panel, origins, context, known)
        if self.trees.inputs and inputs.chosen(self.trees.inputs) is None:
            raise BadInput(
                "the LightGBM model was trained for another step or calendar than this history "
                "has; train it again"
            )
        said = self.trees.predict(inputs, panel, origins, context)
        stranger = np.isnan(known.quantiles[:, 0, 0, 0])
        stranger = stranger[:, None] | np.isnan(inputs.now_gpus)
        said.peak[stranger] = np.nan
        said.path[stranger] = np.nan
        return said

    def artifact(self) -> Mapping[str, bytes]:
        """One LightGBM text per booster, and a JSON file with inputs and profiles."""
        described = {"inputs": self.trees.inputs, "profiles": self.profiles.plain()}
        return {**self.trees.artifact(), DESCRIPTION_FILE: json.dumps(described).encode()}


@dataclass(frozen=True, eq=False)
class _QuantileRows:
    names: tuple[str, ...]
    peak: Rows
    path: Rows


@dataclass(frozen=True)
class LightGBMQuantiles:
    """Settings of the LightGBM model.

    Attributes:
        row_budget: rows that all pools together are sampled down to.
        history_days: how far back rows are drawn from.
        hidden: the inputs that trees may not see.
        peak_growth: trees of the peak from the median up.
        low_growth: trees of the peak below the median.
        path_growth: trees of the path.
        layout: how rows are kept while trees grow.
        threads: threads while fitting; set it from the CPU quota.
        name: what users call it by.
        refit_seconds: how old a fit may become.
    """

    row_budget: int = 22_000
    history_days: float = BASELINE_DAYS
    hidden: frozenset[str] = frozenset()
    peak_growth: TreeGrowth = PEAK_GROWTH
    low_growth: TreeGrowth = LOW_GROWTH
    path_growth: TreeGrowth = PATH_GROWTH
    layout: Layout = BY_COLUMN
    threads: int = 1
    name: str = "lightgbm"
    refit_seconds: int = DAY_SECONDS

    def with_threads(self, threads: int) -> "LightGBMQuantiles":
        """The same model, fitting with so many threads."""
        return replace(self, threads=threads)

    def fit(self, panel: DemandPanel, context: Context) -> FittedLightGBM:
        """Fit all pools' last 30 days; with too few origins nothing is learned."""
        return FittedLightGBM(self.trees([panel], context), rise_profiles(panel, context.horizon))

    def trees(self, panels: Sequence[DemandPanel], context: Context) -> QuantileTrees:
        """The boosters of one or more clusters; all panels have the same step.

        With too few origins in all of them nothing is learned.
        """
        pools = sum(len(panel.pools) for panel in panels)
        drawn = [self._rows(panel, context, self.row_budget / pools) for panel in panels]
        rows = [one for one in drawn if one is not None]
        if not rows:
            return QuantileTrees()
        of_peak = [
            self.low_growth if level < MEDIAN else self.peak_growth for level in QUANTILE_LEVELS
        ]
        of_path = [self.path_growth] * len(QUANTILE_LEVELS)
        return QuantileTrees(
            peak=self._boosters([one.peak for one in rows], of_peak),
            path=self._boosters([one.path for one in rows], of_path),
            inputs=rows[0].names,
        )

    def _rows(
        self, panel: DemandPanel, context: Context, budget_per_pool: float
    ) -> "_QuantileRows | None":
        random = np.random.default_rng(1)
        drawn = training_inputs(panel, context, self.history_days, budget_per_pool, random)
        if drawn is None:
            return None
        origins, inputs = drawn[0], drawn[1].without(self.hidden)
        came = targets_of(panel, origins, context.horizon)
        knots = path_knots(context.horizon)
        which = random.integers(0, len(knots), inputs.now_gpus.shape)
        pool, origin = np.indices(which.shape)
        tides = _tides(inputs, panel, origins, context, knots)[pool, origin, which]
        asked = _with_knots(inputs.values, knots[which], tides)
        rise = came.path[pool, origin, knots[which] - 1] - inputs.now_gpus
        return _QuantileRows(
            names=inputs.names,
            peak=known_rows(inputs.values, inputs.squeezed(came.peak - inputs.now_gpus)),
            path=known_rows(asked, inputs.squeezed(rise)),
        )

    def _boosters(
        self, rows: Sequence[Rows], growth: Sequence[TreeGrowth]
    ) -> tuple["lightgbm.Booster", ...]:
        together = Rows.together(rows)
        shared = {
            "min_data_in_leaf": max(20, min(150, len(together.target) // 50)),
            "num_threads": self.threads,
        }
        levels = [
            ({**one.parameters(), **shared, "alpha": level}, one.rounds)
            for one, level in zip(growth, QUANTILE_LEVELS, strict=True)
        ]
        return grown(together, levels, self.layout)

    def restore(self, artifact: Mapping[str, bytes]) -> FittedLightGBM:
        """Read back what was saved.

        Raises:
            BadInput: the files are not a LightGBM model's.
        """
        try:
            described = json.loads(artifact[DESCRIPTION_FILE])
            trees = QuantileTrees.restored(artifact, tuple(described["inputs"]))
            return FittedLightGBM(trees, RiseProfiles.from_plain(described["profiles"]))
        except (KeyError, TypeError, ValueError) as error:
            raise BadInput(
                f"the LightGBM model cannot be read ({error}); train the model again"
            ) from error


def _at_knots(
    inputs: TreeInputs, panel: DemandPanel, origins: IntArray, context: Context, knots: IntArray
) -> FloatArray:
    """The inputs repeated per knot, with how far it is and what the day's tide does until then."""
    tides = _tides(inputs, panel, origins, context, knots)
    return _with_knots(inputs.values[:, :, None], knots, tides)


def _with_knots(inputs: FloatArray, knots: IntArray, tides: FloatArray) -> FloatArray:
    """Inputs, knots and tides as columns side by side.

    Args:
        inputs: shape (..., inputs).
        knots: shape (...), broadcastable like the inputs.
        tides: shape (..., tides).
    """
    columns = inputs.shape[-1]
    values = np.empty((*tides.shape[:-1], columns + 1 + len(TIDES)), dtype=np.float32)
    values[..., :columns] = inputs
    values[..., columns] = knots
    values[..., columns + 1 :] = tides
    return values


def _tides(
    inputs: TreeInputs, panel: DemandPanel, origins: IntArray, context: Context, knots: IntArray
) -> FloatArray:
    """What the day's tide does until each knot, over the scale; (pools, origins, knots, tides)."""
    tides = [seasonal_change(panel, origins, knots, one, context.calendar) for one in TIDES]
    return np.stack(tides, axis=-1) / inputs.scale_gpus[..., None, None]
