"""Who may be champion: better and equal pass, worse and merely noisy do not."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.forecast import QUANTILE_LEVELS, QuantileArrays
from models.promotion import (
    Comparison,
    compare,
    preferred,
    silent_share,
    verdict_on_challenger,
    verdict_on_first,
)
from models.scores import pinball_loss
from models.targets import Targets

POOLS, DAYS, PER_DAY, STEPS = 3, 7, 48, 4
ORIGINS = DAYS * PER_DAY
BLOCKS = np.arange(ORIGINS) // PER_DAY
MARGIN = 0.05


def came(seed=1):
    random = np.random.default_rng(seed)
    path = random.gamma(4.0, 10.0, (POOLS, ORIGINS, STEPS))
    return Targets(path=path, peak=path.max(axis=-1))


def said(outcome, off_gpus):
    """Forecasts that lie this far from what came, at every level; it may differ by origin."""
    off = np.broadcast_to(off_gpus, (POOLS, ORIGINS))
    spread = np.array(QUANTILE_LEVELS) - 0.5
    return QuantileArrays(
        path=outcome.path[..., None] + off[:, :, None, None] + spread,
        peak=outcome.peak[..., None] + off[:, :, None] + spread,
    )


def judged(challenger, champion, outcome):
    return verdict_on_challenger(
        compare(challenger, champion, outcome, BLOCKS),
        silent_share(challenger, champion),
        MARGIN,
    )


def test_a_better_challenger_is_promoted():
    """Half the error, and the reasons say by how much."""
    outcome = came()
    verdict = judged(said(outcome, 5.0), said(outcome, 10.0), outcome)
    assert verdict.promote
    assert ["peak 0.9", "peak 0.95", "path WQL"] == [one.measure for one in verdict.comparisons]
    assert all(one.high < -0.5 for one in verdict.comparisons)
    assert all("not worse than the champion" in reason for reason in verdict.reasons)


def test_an_equal_challenger_is_promoted():
    """It has newer history, and costs nothing."""
    outcome = came()
    verdict = judged(said(outcome, 10.0), said(outcome, 10.0), outcome)
    assert verdict.promote
    assert {(0.0, 0.0, 0.0)} == {(c.difference, c.low, c.high) for c in verdict.comparisons}


def test_a_worse_challenger_is_refused():
    """Each measure on which it is worse is named."""
    outcome = came()
    verdict = judged(said(outcome, 12.0), said(outcome, 10.0), outcome)
    assert not verdict.promote
    assert 3 == len(verdict.reasons)
    assert all("beyond the margin of 5%" in reason for reason in verdict.reasons)


def test_worse_on_one_measure_is_enough():
    """A good path does not make up for a bad peak."""
    outcome = came()
    champion, better = said(outcome, 10.0), said(outcome, 9.0)
    verdict = judged(dataclasses.replace(better, peak=said(outcome, 12.0).peak), champion, outcome)
    assert not verdict.promote
    assert ["peak 0.9", "peak 0.95"] == [reason.split(":")[0] for reason in verdict.reasons]


def test_noise_is_no_reason_to_change_the_champion():
    """One day far better and one far worse: equal in sum, and shown to be nothing."""
    outcome = came()
    day = np.arange(ORIGINS) // PER_DAY
    uneven = np.where(day == 0, 20.0, np.where(day == 1, 0.01, 10.0))
    verdict = judged(said(outcome, uneven), said(outcome, 10.0), outcome)
    assert all(abs(one.difference) < 0.01 for one in verdict.comparisons)
    assert not verdict.promote
    assert all("too uncertain" in reason for reason in verdict.reasons)


def test_noise_within_days_is_averaged_out():
    """Random errors of the same size on both sides tell nobody apart."""
    outcome, random = came(), np.random.default_rng(5)
    one, other = (said(outcome, random.uniform(9.9, 10.1, (POOLS, ORIGINS))) for _ in range(2))
    assert judged(one, other, outcome).promote


def test_a_silent_challenger_is_refused():
    """What the champion could answer, its successor must answer too."""
    outcome = came()
    champion, challenger = said(outcome, 10.0), said(outcome, 1.0)
    challenger.peak[0] = np.nan
    assert 1 / POOLS == pytest.approx(silent_share(challenger, champion))
    verdict = judged(challenger, champion, outcome)
    assert not verdict.promote
    assert ("it says nothing on 33% of what the champion has an answer to",) == verdict.reasons


def test_a_silent_champion_gives_way():
    """There is nothing to lose."""
    outcome = came()
    verdict = judged(said(outcome, 10.0), said(outcome, np.nan), outcome)
    assert verdict.promote
    assert () == verdict.comparisons


def test_the_first_has_the_benefit_of_the_doubt():
    """Against persistence an uncertain model passes, one that is seen to be worse does not."""
    uncertain = [Comparison("peak 0.9", -0.02, -0.3, 0.4)]
    assert verdict_on_first(uncertain, MARGIN).promote
    assert not verdict_on_challenger(uncertain, 0.0, MARGIN).promote
    worse = verdict_on_first([*uncertain, Comparison("path WQL", 0.06, -0.1, 0.2)], MARGIN)
    assert not worse.promote
    assert ["path WQL"] == [reason.split(":")[0] for reason in worse.reasons]
    assert not verdict_on_first((), MARGIN).promote


def test_the_best_liked_that_is_good_enough_is_put_forward():
    """A small lead of another candidate does not outweigh the user's order; a large one does."""

    def loses(difference):
        return [Comparison("peak 0.9", difference, difference, difference)]

    close = {"liked": loses(-0.10), "other": loses(-0.14), "persistence": loses(0.0)}
    assert "liked" == preferred(close, MARGIN)
    assert "other" == preferred({**close, "other": loses(-0.16)}, MARGIN)
    assert "persistence" == preferred({"mute": [], "persistence": loses(0.0)}, MARGIN)


def test_unknown_outcomes_are_left_out_and_never_zero():
    """A gap in what came changes nothing but the number of windows."""
    outcome = came()
    gap = dataclasses.replace(outcome, path=outcome.path.copy(), peak=outcome.peak.copy())
    gap.path[:, :PER_DAY], gap.peak[:, :PER_DAY] = np.nan, np.nan
    compared = compare(said(outcome, 5.0), said(outcome, 10.0), gap, BLOCKS)
    rest = slice(PER_DAY, None)
    one, other = (
        pinball_loss(said(outcome, 5.0).peak, gap.peak),
        pinball_loss(said(outcome, 10.0).peak, gap.peak),
    )
    at = QUANTILE_LEVELS.index(0.9)
    ours, theirs = one[:, rest, at].sum(axis=1), other[:, rest, at].sum(axis=1)
    assert np.mean(2 * (ours - theirs) / (ours + theirs)) == pytest.approx(compared[0].difference)
    assert () == compare(said(outcome, 5.0), said(outcome, 5.0), blank(outcome), BLOCKS)


def blank(outcome):
    return Targets(path=outcome.path * np.nan, peak=outcome.peak * np.nan)


def test_an_idle_pool_says_nothing():
    """Where both lose nothing there is no difference, and no division by zero."""
    outcome = Targets(np.zeros((POOLS, ORIGINS, STEPS)), np.zeros((POOLS, ORIGINS)))
    exact = QuantileArrays(
        path=np.zeros((POOLS, ORIGINS, STEPS, len(QUANTILE_LEVELS))),
        peak=np.zeros((POOLS, ORIGINS, len(QUANTILE_LEVELS))),
    )
    assert {0.0} == {one.difference for one in compare(exact, exact, outcome, BLOCKS)}


@given(st.floats(0.01, 100), st.floats(0.01, 100))
def test_a_difference_stands_for_the_ratio_of_losses(ours, theirs):
    """On one pool exactly; and exchanging the two turns its sign."""
    difference = 2 * (ours - theirs) / (ours + theirs)
    assert ours / theirs == pytest.approx(Comparison("m", difference, 0, 0).ratio)
    assert theirs / ours == pytest.approx(Comparison("m", -difference, 0, 0).ratio)


def test_against_no_loss_any_loss_is_infinite():
    """And no loss against any is zero."""
    assert math.inf == Comparison("m", 2.0, 2.0, 2.0).ratio
    assert 0.0 == Comparison("m", -2.0, -2.0, -2.0).ratio
