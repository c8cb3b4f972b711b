"""Online combination: weights that are earned, against a plain loop, and a bound on the regret."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.combination import (
    EAGERNESS,
    FLEET_SHARE,
    HALF_LIFE_DAYS,
    KEPT_SHARE,
    Record,
    combined,
)
from models.forecast import QUANTILE_LEVELS
from models.scores import pinball_loss

PRIOR = np.array([0.25, 0.25, 0.5])
PER_DAY = 48.0
EVERYONE = np.ones((2, 3), dtype=bool)


def lived(losses, own):
    """A record after some rounds, with weights as they were in each."""
    record = Record.blank(2, 1, PRIOR)
    for round_losses, round_own in zip(losses, own, strict=True):
        weights = record.weights(np.isfinite(round_losses).all(axis=-1))
        record = record.updated(round_losses, round_own, weights, PER_DAY)
    return record


def naive_weights(losses, own):
    """The same by plain loops over pools, members and rounds, one level."""
    keep = 0.5 ** (1 / (HALF_LIFE_DAYS * PER_DAY))
    pools, members = len(losses[0]), len(PRIOR)
    regret = [[0.0] * members for _ in range(pools)]
    variance, loss, rounds = [0.0] * pools, [0.0] * pools, [0.0] * pools

    def weights():
        out = []
        share = [
            sum(regret[p][m] / max(loss[p], 1e-9) for p in range(pools)) / pools
            if rounds[0]
            else 0.0
            for m in range(members)
        ]
        for p in range(pools):
            odds = [
                math.log(PRIOR[m])
                - EAGERNESS
                * (
                    regret[p][m] / math.sqrt(variance[p] + 1e-9)
                    + FLEET_SHARE * share[m] * math.sqrt(rounds[p])
                )
                for m in range(members)
            ]
            top = max(odds)
            raised = [math.exp(one - top) for one in odds]
            total = sum(raised)
            out.append(
                [
                    (1 - KEPT_SHARE) * raised[m] / total + KEPT_SHARE * PRIOR[m]
                    for m in range(members)
                ]
            )
        return out

    for round_losses, round_own in zip(losses, own, strict=True):
        now = weights()
        for p in range(pools):
            mean = sum(round_losses[p][m][0] * now[p][m] for m in range(members))
            beyond = [round_losses[p][m][0] - mean for m in range(members)]
            regret[p] = [keep * regret[p][m] + beyond[m] for m in range(members)]
            variance[p] = keep * variance[p] + sum(
                now[p][m] * beyond[m] ** 2 for m in range(members)
            )
            loss[p] = keep * loss[p] + round_own[p][0]
            rounds[p] = keep * rounds[p] + 1
    return weights()


@given(st.integers(0, 1000), st.integers(1, 12))
@settings(max_examples=40)
def test_weights_equal_a_plain_loop(seed, rounds):
    """Regret, its spread and the fleet's share are what loops over them give."""
    random = np.random.default_rng(seed)
    losses = random.random((rounds, 2, 3, 1))
    own = random.random((rounds, 2, 1)) + 0.1
    np.testing.assert_allclose(
        lived(losses, own).weights(EVERYONE)[..., 0], naive_weights(losses, own), rtol=1e-9
    )


@given(st.integers(0, 1000), st.integers(0, 20))
@settings(max_examples=40)
def test_weights_add_up_and_the_silent_have_none(seed, rounds):
    """Whatever happened, weights are shares of those who speak."""
    random = np.random.default_rng(seed)
    record = lived(random.random((rounds, 2, 3, 1)) * 50, random.random((rounds, 2, 1)))
    speaks = random.random((2, 3)) < 0.7
    weights = record.weights(speaks)[..., 0]
    np.testing.assert_allclose(weights.sum(axis=1), speaks.any(axis=1))
    assert (weights[~speaks] == 0).all()
    assert (weights[speaks] > 0).all()


def test_the_better_member_wins_and_the_worse_is_kept():
    """A hundred rounds of half the loss leave little doubt, and a small share for the others."""
    losses = np.tile(np.array([1.0, 1.0, 0.5])[None, None, :, None], (100, 2, 1, 1))
    losses += np.random.default_rng(1).normal(0, 0.2, losses.shape)
    weights = lived(losses, np.ones((100, 2, 1))).weights(EVERYONE)[0, :, 0]
    assert weights[2] > 0.95
    assert weights[0] >= KEPT_SHARE * 0.25


def test_an_unknown_outcome_teaches_nothing():
    """A round whose outcome is not known leaves the pool's record as it was."""
    record = lived(np.ones((3, 2, 3, 1)) * [[[1.0], [2.0], [3.0]]], np.ones((3, 2, 1)))
    blind = record.updated(
        np.full((2, 3, 1), np.nan), np.array([[np.nan], [np.nan]]), record.weights(EVERYONE), 48
    )
    np.testing.assert_array_equal(record.regret, blind.regret)
    np.testing.assert_array_equal(record.rounds, blind.rounds)


@pytest.mark.parametrize("seed", range(3))
def test_never_much_worse_than_the_best_member(seed):
    """On changing fortunes the combination loses at most three per cent more than the best."""
    random = np.random.default_rng(seed)
    record = Record.blank(1, len(QUANTILE_LEVELS), PRIOR)
    spread = np.array([-2, -1, 0, 1, 2, 3, 5.0])
    total = np.zeros(len(QUANTILE_LEVELS))
    each = np.zeros((3, len(QUANTILE_LEVELS)))
    for round_number in range(1500):
        scale = 8.0 if (round_number // 300) % 2 else 2.0
        came = random.exponential(scale, 1)
        members = np.stack([spread, 4 * spread, 4 + spread * random.choice([1, 3])])[None]
        weights = record.weights(np.ones((1, 3), dtype=bool))
        said = np.sort(combined(members, weights), axis=-1)
        losses, own = pinball_loss(members, came[:, None]), pinball_loss(said, came)
        record = record.updated(losses, own, weights, PER_DAY)
        total += own[0]
        each += losses[0]
    assert (total <= 1.03 * each.min(axis=0)).all()


def test_combined_leaves_out_the_silent_and_is_silent_with_all():
    """A mean of those who speak; nothing where none does."""
    members = np.array([[[1.0], [np.nan], [3.0]], [[np.nan]] * 3])
    weights = np.array([[[0.5], [0.0], [0.5]], [[0.0]] * 3])
    np.testing.assert_array_equal(combined(members, weights), [[2.0], [np.nan]])


def test_record_reads_back():
    """What is saved and read back weighs the same."""
    record = lived(np.random.default_rng(1).random((5, 2, 3, 1)), np.ones((5, 2, 1)))
    again = Record.from_plain(record.plain())
    np.testing.assert_array_equal(record.weights(EVERYONE), again.weights(EVERYONE))


def test_a_new_pool_starts_with_the_prior_and_the_fleet():
    """A pool without a record gets the prior, whatever the others have learned."""
    record = lived(np.random.default_rng(1).random((9, 2, 3, 1)), np.ones((9, 2, 1)))
    weights = record.of_pools(np.array([1, -1])).weights(EVERYONE)[..., 0]
    np.testing.assert_allclose(weights[1], PRIOR)


def test_each_pool_starts_from_its_own_prior():
    """Priors stay with their pools in any order, and a new pool gets the mean of them."""
    priors = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
    weights = Record.blank(2, 1, priors).of_pools(np.array([1, 0, -1])).weights(np.ones((3, 3)) > 0)
    np.testing.assert_allclose(weights[..., 0], [priors[1], priors[0], priors.mean(axis=0)])
