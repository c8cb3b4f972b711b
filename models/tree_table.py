"""Small trees as tables, so that all of them answer many rows at once.

LightGBM walks each row down one tree after another and waits at every split for the one before;
that was half of a live forecast's time. Our trees have a handful of splits, so here a row is held
against all of them at once: each split that it passes to the right strikes out the leaves to the
split's left, and the first leaf still standing is the row's (Lucchese et al., 'QuickScorer', SIGIR
2015). What comes out must be what LightGBM says, to the last digit. Nothing is trained or saved.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from features.series import FloatArray, IntArray

if TYPE_CHECKING:
    import lightgbm

MOST_LEAVES = 64
ROWS_AT_ONCE = 512
"""So many rows' comparisons stay in a processor's cache."""
HIGHEST = np.finfo(np.float32).max
ZERO = np.float32(1e-35)
"""LightGBM takes anything this small, of either sign, for zero."""


@dataclass(frozen=True, eq=False)
class TreeTable:
    """The trees of several boosters on the same inputs, padded to one number of each thing.

    Attributes:
        columns: the input that each split looks at, shape (splits, trees, boosters); counted on
            beyond the last input where the unknown goes left.
        thresholds: the highest float32 that goes left, the same shape.
        kept: a bit per leaf, 0 for those to the left of the split, the same shape.
        leaves: what each leaf says, shape (trees, boosters, leaves).
    """

    columns: IntArray
    thresholds: FloatArray
    kept: NDArray[np.unsignedinteger[Any]]
    leaves: FloatArray

    @classmethod
    def of(cls, boosters: Sequence["lightgbm.Booster"]) -> "TreeTable":
        """The table of boosters that were grown on the same inputs.

        Raises:
            ValueError: a tree has more than 64 leaves, or splits otherwise than by a threshold.
        """
        inputs = boosters[0].num_feature()
        trees = [
            [_Tree.of(one["tree_structure"], inputs) for one in booster.dump_model()["tree_info"]]
            for booster in boosters
        ]
        deepest = max((len(one.leaves) for group in trees for one in group), default=1)
        if deepest > MOST_LEAVES:
            raise ValueError(f"a tree has {deepest} leaves; a table takes {MOST_LEAVES}")
        shape = (max(1, *(len(group) for group in trees)), len(boosters), deepest)
        columns, struck = np.zeros(shape, np.int64), np.zeros(shape, np.uint64)
        thresholds, leaves = np.zeros(shape), np.zeros(shape)
        for index, group in enumerate(trees):
            for number, tree in enumerate(group):
                splits = len(tree.columns)
                columns[number, index, :splits] = tree.columns
                thresholds[number, index, :splits] = tree.thresholds
                struck[number, index, :splits] = tree.struck
                leaves[number, index, : len(tree.leaves)] = tree.leaves
        kept = (~struck).astype(np.min_scalar_type(2**deepest - 1))
        columns, thresholds, kept = (
            np.ascontiguousarray(np.moveaxis(one[..., : max(1, deepest - 1)], -1, 0))
            for one in (columns, thresholds, kept)
        )
        return cls(columns, _rounded_down(thresholds), kept, leaves)

    def raw_scores(self, inputs: FloatArray) -> FloatArray:
        """What each booster says of each row; shape (..., boosters) for inputs (..., inputs).

        Args:
            inputs: in float32, as they were in training; NaN where not known.
        """
        flat = inputs.reshape(-1, inputs.shape[-1])
        scores = np.empty((len(flat), self.leaves.shape[1]))
        for first in range(0, len(flat), ROWS_AT_ONCE):
            some = slice(first, first + ROWS_AT_ONCE)
            scores[some] = self._of_rows(flat[some])
        return scores.reshape(*inputs.shape[:-1], -1)

    def _of_rows(self, rows: FloatArray) -> FloatArray:
        twice = np.empty((2, *rows.T.shape), np.float32)
        twice[:] = rows.T
        unknown = np.isnan(twice[0])
        twice[0, unknown], twice[1, unknown] = np.inf, -np.inf
        inputs = twice.reshape(-1, len(rows))
        left = inputs.take(self.columns.ravel(), axis=0) <= self.thresholds.reshape(-1, 1)
        # every bit where the row goes left, and else those that are not struck out
        standing = np.negative(left.astype(self.kept.dtype))
        standing |= self.kept.reshape(-1, 1)
        trees, boosters, most = self.leaves.shape
        reached = np.bitwise_and.reduce(standing.reshape(len(self.columns), -1), axis=0)
        leaf = np.bitwise_count((reached & -reached) - reached.dtype.type(1))
        begins = np.arange(0, self.leaves.size, most)[:, None]
        said = self.leaves.ravel().take(begins + leaf.reshape(-1, len(rows)))
        total = np.zeros((boosters, len(rows)))
        for tree in said.reshape(trees, boosters, -1):  # in LightGBM's order
            total += tree
        return total.T


@dataclass(frozen=True)
class _Tree:
    """One tree, its leaves from left to right.

    Attributes:
        columns: as for the table, per split.
        thresholds: the highest value that goes left, per split.
        struck: a bit per leaf to the left of the split, per split.
        leaves: what each says.
    """

    columns: list[int]
    thresholds: list[float]
    struck: list[int]
    leaves: list[float]

    @classmethod
    def of(cls, root: Mapping[str, Any], inputs: int) -> "_Tree":
        tree = cls([], [], [], [])
        tree._add(root, inputs)
        return tree

    def _add(self, node: Mapping[str, Any], inputs: int) -> None:
        if "leaf_value" in node:
            self.leaves.append(node["leaf_value"])
            return
        if node["decision_type"] != "<=" or node["missing_type"] == "Zero":
            raise ValueError("a table takes no splits by category, and none where zero is unknown")
        first = len(self.leaves)
        self._add(node["left_child"], inputs)
        self.columns.append(node["split_feature"] + (inputs if _unknown_goes_left(node) else 0))
        self.thresholds.append(node["threshold"])
        self.struck.append((1 << len(self.leaves)) - (1 << first))
        self._add(node["right_child"], inputs)


def _unknown_goes_left(node: Mapping[str, Any]) -> bool:
    """Where nothing was unknown in training, LightGBM takes the unknown for zero."""
    if node["missing_type"] == "NaN":
        return bool(node["default_left"])
    return bool(node["threshold"] >= 0)


def _rounded_down(thresholds: FloatArray) -> FloatArray:
    """The highest float32 that goes left at each threshold, so that comparing loses nothing."""
    near = np.clip(thresholds, -HIGHEST, HIGHEST).astype(np.float32)
    near = np.where(near > thresholds, np.nextafter(near, -HIGHEST), near)
    about_zero = np.where(near < 0, np.nextafter(-ZERO, -HIGHEST), ZERO)
    return np.where(np.abs(near) <= ZERO, about_zero, near)
