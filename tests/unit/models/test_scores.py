"""Scores against naive loops over every origin, step and level."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from models.forecast import QUANTILE_LEVELS, QuantileArrays
from models.scores import pinball_loss, pool_scores
from models.targets import Targets
from tests.fakes.demand import FRAGMENT, WHOLE

POOLS = (WHOLE, FRAGMENT)
SHAPE = (2, 7, 3)


def made_up(seed, missing):
    random = np.random.default_rng(seed)
    path = np.sort(random.integers(0, 20, (*SHAPE, 7)).astype(float), axis=-1)
    peak = np.sort(random.integers(0, 20, (*SHAPE[:2], 7)).astype(float), axis=-1)
    silent = random.random(SHAPE[:2]) < missing
    path[silent] = np.nan
    peak[silent] = np.nan
    return QuantileArrays(path=path, peak=peak)


def came_up(seed):
    random = np.random.default_rng(seed)
    path = random.integers(0, 20, SHAPE).astype(float)
    peak = random.integers(0, 20, SHAPE[:2]).astype(float)
    path[random.random(SHAPE) < 0.2] = np.nan
    peak[random.random(SHAPE[:2]) < 0.2] = np.nan
    return Targets(path=path, peak=peak)


def one_pinball(level, quantile, came):
    return level * (came - quantile) if came >= quantile else (1 - level) * (quantile - came)


def mean(values):
    return sum(values) / len(values) if values else math.nan


def naive_pinball(forecast, came, pool, level, where):
    return mean(
        [
            one_pinball(QUANTILE_LEVELS[level], forecast.peak[pool, o, level], came.peak[pool, o])
            for o in range(SHAPE[1])
            if where[pool, o] and not math.isnan(came.peak[pool, o])
        ]
    )


def naive_path_pinball(forecast, came, pool, where):
    return mean(
        [
            one_pinball(QUANTILE_LEVELS[i], forecast.path[pool, o, h, i], came.path[pool, o, h])
            for o in range(SHAPE[1])
            for h in range(SHAPE[2])
            for i in range(7)
            if where[pool, o] and not math.isnan(came.path[pool, o, h])
        ]
    )


@given(st.integers(0, 10_000))
@settings(max_examples=50)
def test_scores_equal_naive_loops(seed):
    """Pinball, ratio, coverage, WQL and MAE are what plain loops find."""
    said, came = made_up(seed, missing=0.3), came_up(seed + 1)
    yardsticks = [made_up(seed + 2, 0.0), made_up(seed + 3, 0.0)]
    scores = pool_scores("some", POOLS, said, came, yardsticks)
    where = ~np.isnan(said.peak[..., 0])
    for pool, score in enumerate(scores):
        scored = [o for o in range(SHAPE[1]) if where[pool, o] and not np.isnan(came.peak[pool, o])]
        assert score.origins == len(scored)
        for index, level in enumerate(QUANTILE_LEVELS):
            own = naive_pinball(said, came, pool, index, where)
            best = min(naive_pinball(one, came, pool, index, where) for one in yardsticks)
            np.testing.assert_allclose(score.pinball[level], own)
            expected = own / best if best > 0 else math.nan
            np.testing.assert_allclose(score.pinball_ratio[level], expected)
            q = said.peak[pool, :, index]
            at_or_below = mean([came.peak[pool, o] <= q[o] for o in scored])
            below = mean([came.peak[pool, o] < q[o] for o in scored])
            np.testing.assert_allclose(score.coverage[level], at_or_below)
            np.testing.assert_allclose(score.coverage_below[level], below)
        known = [
            (o, h)
            for o in range(SHAPE[1])
            for h in range(SHAPE[2])
            if not np.isnan(came.path[pool, o, h])
        ]
        weight = mean([came.path[pool, o, h] for o, h in known])
        own_path = naive_path_pinball(said, came, pool, where)
        np.testing.assert_allclose(score.wql, 2 * own_path / weight)
        error = mean(
            [
                abs(said.path[pool, o, h, 3 - 1] - came.path[pool, o, h])
                for o, h in known
                if where[pool, o]
            ]
        )
        np.testing.assert_allclose(score.mae_gpus, error)


def test_perfect_forecast_loses_nothing():
    """Saying what came, at every level, costs nothing."""
    came = np.array([3.0, 0.0])
    np.testing.assert_array_equal(pinball_loss(np.repeat(came[:, None], 7, 1), came), 0)


def test_unknown_outcome_is_unknown_loss():
    """What came is not known, so neither is the loss."""
    assert np.isnan(pinball_loss(np.zeros((1, 7)), np.array([np.nan]))).all()


def test_a_silent_model_scores_nothing():
    """A model that never spoke has no score, rather than a perfect one."""
    silent = made_up(1, missing=1.1)
    score = pool_scores("silent", POOLS, silent, came_up(2), [made_up(3, 0.0)])[0]
    assert 0 == score.origins
    assert math.isnan(score.pinball[0.9])
    assert math.isnan(score.wql_ratio)
