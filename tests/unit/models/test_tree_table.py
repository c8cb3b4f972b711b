"""Trees as tables: what comes out is what LightGBM says, to the last digit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from models.tree_table import ROWS_AT_ONCE, TreeTable
from models.trees import BY_COLUMN, Rows, booster_of, grown

COLUMNS = 6


def _boosters(leaves=12, *, unknown_share=0.1, rounds=(9, 4)):
    """Boosters of two levels on the same rows; the last input is never unknown."""
    random = np.random.default_rng(leaves)
    inputs = np.round(random.normal(0, 2, (600, COLUMNS)), 1).astype(np.float32)
    inputs[:, :-1][random.random((600, COLUMNS - 1)) < unknown_share] = np.nan
    target = np.nansum(inputs, axis=1) + random.normal(0, 1, 600)
    growth = {"num_leaves": leaves, "min_data_in_leaf": 5, "objective": "quantile", "max_bin": 31}
    levels = [
        ({**growth, "alpha": level}, number)
        for level, number in zip((0.5, 0.9), rounds, strict=True)
    ]
    return grown(Rows(inputs, target), levels, BY_COLUMN)


BOOSTERS = _boosters()
TABLE = TreeTable.of(BOOSTERS)
EDGES = sorted(set(TABLE.thresholds.ravel().tolist()))
VALUES = st.floats(width=32) | st.sampled_from(EDGES)


def _asked_one_by_one(boosters, rows):
    return np.stack([one.predict(rows, raw_score=True) for one in boosters], axis=-1)


@settings(max_examples=50, deadline=None)
@given(arrays(np.float32, (8, COLUMNS), elements=VALUES))
def test_any_row_gets_what_lightgbm_says(rows):
    """Unknown and infinite values, zeros and values on an edge go the way LightGBM sends them."""
    np.testing.assert_array_equal(_asked_one_by_one(BOOSTERS, rows), TABLE.raw_scores(rows))


@pytest.mark.parametrize("leaves", [2, 8, 9, 30, 64])
def test_trees_of_any_size_get_what_lightgbm_says(leaves):
    """A leaf's bit is found in as many bits as there are leaves."""
    boosters = _boosters(leaves, unknown_share=0.0)
    rows = np.random.default_rng(1).normal(0, 2, (200, COLUMNS)).astype(np.float32)
    rows[::7, 2] = np.nan
    table = TreeTable.of(boosters)
    np.testing.assert_array_equal(_asked_one_by_one(boosters, rows), table.raw_scores(rows))


def test_more_rows_than_are_held_at_once():
    """Rows of every block come out in their place, in the shape they came in."""
    rows = np.random.default_rng(2).normal(0, 2, (5, ROWS_AT_ONCE // 2, COLUMNS))
    rows = rows.astype(np.float32)
    expected = _asked_one_by_one(BOOSTERS, rows.reshape(-1, COLUMNS))
    np.testing.assert_array_equal(expected.reshape(5, ROWS_AT_ONCE // 2, 2), TABLE.raw_scores(rows))


def test_a_tree_without_splits_says_its_only_leaf():
    """Where nothing could be learned LightGBM keeps a constant."""
    constant = grown(
        Rows(np.ones((50, COLUMNS), np.float32), np.full(50, 3.0)),
        [({"objective": "quantile", "alpha": 0.5}, 3)],
        BY_COLUMN,
    )
    rows = np.zeros((4, COLUMNS), np.float32)
    scores = TreeTable.of(constant).raw_scores(rows)
    np.testing.assert_array_equal(_asked_one_by_one(constant, rows), scores)


def test_the_boosters_of_a_restored_text_are_the_same_table():
    """A table made of a booster's text is that of the booster."""
    restored = [booster_of(one.model_to_string().encode()) for one in BOOSTERS]
    rows = np.random.default_rng(3).normal(0, 2, (20, COLUMNS)).astype(np.float32)
    np.testing.assert_array_equal(TABLE.raw_scores(rows), TreeTable.of(restored).raw_scores(rows))


def test_trees_that_are_too_large_are_refused():
    """There is a bit for 64 leaves and no more."""
    with pytest.raises(ValueError, match="leaves; a table takes 64"):
        TreeTable.of(_boosters(90, unknown_share=0.0))


def test_splits_where_zero_is_unknown_are_refused():
    """A table must not answer where it cannot answer as LightGBM does."""
    inputs = np.random.default_rng(4).integers(0, 5, (400, COLUMNS)).astype(np.float32)
    growth = {"objective": "quantile", "alpha": 0.5, "min_data_in_leaf": 5, "zero_as_missing": True}
    boosters = grown(Rows(inputs, inputs.sum(axis=1)), [(growth, 2)], BY_COLUMN)
    with pytest.raises(ValueError, match="none where zero is unknown"):
        TreeTable.of(boosters)
