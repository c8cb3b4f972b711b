"""A verdict says better, equal or worse only where the numbers do."""

import math

import pytest

from features.pool import Pool
from forecaster.report_words import best_score, gpus, number, percent, verdict
from models.forecast import QUANTILE_LEVELS
from models.scores import PoolScore


def score(
    model: str = "good",
    loss: float = 1.0,
    ratio: float = 1.0,
    coverage: float = 0.9,
    below: float = 0.85,
) -> PoolScore:
    def same(value: float) -> dict[float, float]:
        return dict.fromkeys(QUANTILE_LEVELS, value)

    return PoolScore(
        pool=Pool.parse("a100/fragment"),
        model=model,
        origins=100,
        pinball=same(loss),
        coverage=same(coverage),
        coverage_below=same(below),
        pinball_ratio=same(ratio),
        wql=0.1,
        wql_ratio=1.0,
        mae_gpus=1.0,
    )


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (0.91, "good is better than 'the same as now' by 9 % at the 0.9 quantile;"),
        (0.985, "The best model, good, is about as good as 'the same as now'"),
        (1.02, "The best model, good, is about as good as 'the same as now'"),
        (1.10, "The best model, good, is worse than 'the same as now' by 10 %"),
        (math.nan, "There is nothing to compare good with at the 0.9 quantile;"),
    ],
)
def test_the_verdict_follows_the_ratio(ratio: float, words: str) -> None:
    """A gain or loss counts from two per cent on."""
    assert verdict([score(ratio=ratio)]).startswith(words)


@pytest.mark.parametrize(
    ("coverage", "below", "words"),
    [
        (0.90, 0.85, "90 % of the peaks stayed at or below it, as it promises."),
        (0.86, 0.80, "86 % of the peaks stayed at or below it, fewer than it promises."),
        (0.97, 0.95, "97 % of the peaks stayed at or below it, more than it promises."),
        (0.97, 0.60, "97 % of the peaks stayed at or below it, as it promises."),
    ],
)
def test_the_verdict_says_whether_the_quantile_keeps_its_promise(
    coverage: float, below: float, words: str
) -> None:
    """Peaks that equal the quantile count for it on either side."""
    assert verdict([score(coverage=coverage, below=below)]).endswith(words)


def test_the_best_model_has_the_least_loss_that_is_known() -> None:
    """A model that was not scored cannot be the best one."""
    scored = [score("none", math.nan), score("worse", 2.0), score("better", 1.5)]
    best = best_score(scored)
    assert best is not None
    assert "better" == best.model
    assert best_score([score("none", math.nan)]) is None


def test_without_a_score_there_is_no_verdict() -> None:
    """Nothing is claimed where nothing was observed."""
    expected = "Too little of these days was observed to judge any forecast."
    assert expected == verdict([]) == verdict([score(loss=math.nan)])


def test_numbers_are_short_and_unknown_is_no_number() -> None:
    """No needless decimals, and never the word nan."""
    assert ("12", "12.5", "-") == (gpus(12.0), gpus(12.49), gpus(math.nan))
    assert ("0.12", "-") == (number(0.123), number(math.nan))
    assert ("91 %", "-") == (percent(0.912), percent(math.nan))
