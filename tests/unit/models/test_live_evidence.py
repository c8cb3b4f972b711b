"""What counts against forecasts, and what is put down to chance."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.live_evidence import (
    chance_of_misses,
    chance_of_ratio,
    good_record,
    good_throughout,
    limits_passed,
    missing_evidence,
)
from models.live_score import LiveScore, SpanScore
from models.verdict_settings import Limits, VerdictSettings
from tests.fakes.live_scores import score, span, unscored

SETTINGS = VerdictSettings()
LIMITS = SETTINGS.demoted_beyond


@given(st.integers(1, 40), st.data())
def test_the_chance_of_misses_is_the_binomial_tail(windows: int, data: st.DataObject) -> None:
    """As the sum over all ways to miss so often."""
    misses = data.draw(st.integers(0, windows))
    one = span(windows=windows, coverage={0.9: 1 - misses / windows})
    expected = sum(
        math.comb(windows, k) * 0.15**k * 0.85 ** (windows - k) for k in range(misses, windows + 1)
    )
    assert pytest.approx(expected) == chance_of_misses(one, 0.9, 0.15)


def test_the_chance_of_a_ratio_is_the_normal_tail() -> None:
    """Two errors beyond the limit: 2.3 %; at the limit: a half."""
    one = span(own_gpus=1.25, ratio_error=0.1)
    assert pytest.approx(0.02275, abs=1e-5) == chance_of_ratio(one, 0.9, 1.05)
    assert pytest.approx(0.5) == chance_of_ratio(one, 0.9, 1.25)


def test_without_an_error_a_ratio_is_certain() -> None:
    """Beyond the limit or not; an error that is not known is refused."""
    certain = span(own_gpus=1.1, ratio_error=0.0)
    assert (0.0, 1.0) == tuple(chance_of_ratio(certain, 0.9, limit) for limit in (1.05, 1.2))
    with pytest.raises(ValueError, match="is not known"):
        chance_of_ratio(span(ratio_error=math.nan), 0.9, 1.05)


def test_a_good_record_passes_no_limit_and_says_so() -> None:
    """Not even the strictest."""
    assert () == missing_evidence(score(), 0.85, 24)
    assert () == limits_passed(score().spans, SETTINGS.restored_within, SETTINGS)
    expected = (
        "over 1 d 90.0% of peaks were at or below the 0.9 quantile, whose pinball loss was "
        "0.90 GPUs against 1.00 of 'the same as now'"
    )
    assert expected == good_record(score(), 0.9)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (
            score(day=span(own_gpus=1.4)),
            "over 1 d the pinball loss at 0.9 was 1.40 ± 0.05 times that of 'the same as now' "
            "(48 separate windows); 1.05 is allowed",
        ),
        (
            score(week=span(own_gpus=1.4, windows=336)),
            "over 7 d the pinball loss at 0.9 was 1.40 ± 0.05 times that of 'the same as now' "
            "(336 separate windows); 1.05 is allowed",
        ),
        (
            score(day=span(persistence_gpus=0.0)),
            "over 1 d the pinball loss at 0.9 was 0.90 GPUs where 'the same as now' lost nothing "
            "(48 separate windows)",
        ),
        (
            score(day=span(coverage={0.95: 0.75})),
            "over 1 d 25.0% of peaks were above the 0.95 quantile (48 separate windows); "
            "7.5% is allowed",
        ),
    ],
)
def test_a_bad_record_passes_a_limit(bad: LiveScore, reason: str) -> None:
    """One line with its numbers."""
    assert (reason,) == limits_passed(bad.spans, LIMITS, SETTINGS)


@pytest.mark.parametrize(
    "day",
    [
        span(own_gpus=1.10, ratio_error=0.05),
        span(own_gpus=1.4, windows=23),
        span(own_gpus=0.08, persistence_gpus=0.04),
        span(coverage={0.9: 0.80}),
        span(coverage={0.9: 0.0, 0.95: 0.0, 0.99: 0.5}, windows=1),
    ],
    ids=["within its error", "few windows", "crumbs", "a few misses", "one window"],
)
def test_what_may_be_chance_is_no_finding(day: SpanScore) -> None:
    """A difference within its error, or from too few windows, or of no weight."""
    assert () == limits_passed(score(day=day).spans, LIMITS, SETTINGS)


@pytest.mark.parametrize(
    ("day", "good"),
    [
        (span(), True),
        (span(own_gpus=1.02), False),
        (span(coverage={0.99: 0.98}), False),
        (span(windows=23), False),
        (unscored(288), False),
    ],
    ids=["good", "poor ratio", "poor coverage", "few windows", "unscored"],
)
def test_a_span_is_good_throughout_or_not(day: SpanScore, good: bool) -> None:
    """One figure beyond the strictest limits suffices, be it by chance."""
    assert good == good_throughout(day, SETTINGS)


def test_an_hour_needs_more_than_a_day_to_be_believed() -> None:
    """It is looked at 24 times as often, so that its limit of chance is a 24th."""
    misses = span(windows=2, coverage={0.9: 0.0})  # by chance once in 44 hours
    limits = Limits(ratio=1.05, misses=1.5, chance=0.05)
    assert () == limits_passed(score(hour=misses).spans, limits, SETTINGS)
    assert 1 == len(limits_passed(score(day=misses).spans, limits, SETTINGS))


def test_an_hour_above_the_highest_quantile_is_noticed() -> None:
    """The first sign of a new regime."""
    hour = span(due=12, scored=12, windows=2, coverage={0.99: 0.0})
    assert 1 == len(limits_passed(score(hour=hour).spans, SETTINGS.cautious_beyond, SETTINGS))


@pytest.mark.parametrize(
    ("poor", "reason"),
    [
        (
            score(hour=unscored(12), day=unscored(288), week=unscored(2016)),
            "no forecast of the last 7 d could be scored: 2016 were due, 0 made, 0 scored",
        ),
        (
            score(hour=unscored(12)),
            "no forecast of the last 1 h could be scored: 12 were due, 0 made, 0 scored",
        ),
        (
            score(day=span(scored=200)),
            "too few forecasts of the last 1 d could be scored, 75% are needed: "
            "288 were due, 200 made, 200 scored",
        ),
        (
            score(week=span(windows=23)),
            "only 23 separate windows of the last 7 d could be compared with 'the same as now', "
            "24 are needed",
        ),
    ],
)
def test_too_little_evidence_says_what_is_missing(poor: LiveScore, reason: str) -> None:
    """One line with its counts."""
    assert (reason,) == missing_evidence(poor, 0.75, 24)


def test_an_hour_in_which_nothing_was_due_lacks_nothing() -> None:
    """A pool that is forecast every two hours is not stale in between."""
    assert () == missing_evidence(score(hour=unscored(0)), 0.75, 24)
