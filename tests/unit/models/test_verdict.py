"""The verdict: quick to fall, slow to come back, never trusting what it does not know."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from features.errors import BadInput
from features.rises import future_peak
from models.forecast import Horizon
from models.live_score import DAY, WEEK, LiveScore, live_score
from models.verdict import Standing, Verdict, verdict
from models.verdict_settings import Limits, VerdictSettings
from tests.fakes.demand import FRAGMENT
from tests.fakes.live_scores import (
    LEVELS,
    STEP_SECONDS,
    bursty_demand,
    score,
    span,
    stored,
    unscored,
)

MINUTES = 60
HOURS = 3_600
PER_DAY = 86_400 // STEP_SECONDS
RESTORED_AFTER = VerdictSettings().restored_after_seconds
GOOD = score()
DOUBTFUL = score(day=span(own_gpus=1.09, ratio_error=0.06))  # too poor to rise, too good to fall
POOR = score(day=span(own_gpus=1.14, ratio_error=0.045))
BAD = score(day=span(own_gpus=1.4))
SILENT = score(hour=unscored(12), day=unscored(288), week=unscored(2016))


def at(now_seconds: int, one: LiveScore) -> LiveScore:
    """The same score at another time."""
    return replace(one, now_seconds=now_seconds)


def told(scores: Sequence[LiveScore], every_seconds: int) -> list[Verdict]:
    """The verdicts on scores that follow each other."""
    given_so_far: list[Verdict] = []
    for index, one in enumerate(scores):
        previous = given_so_far[-1] if given_so_far else None
        given_so_far.append(verdict(at(index * every_seconds, one), previous))
    return given_so_far


@pytest.mark.parametrize(
    ("first", "standing"),
    [
        (GOOD, Standing.TRUST),
        (DOUBTFUL, Standing.CAUTION),
        (POOR, Standing.CAUTION),
        (BAD, Standing.DEMOTE),
        (SILENT, Standing.CAUTION),
    ],
)
def test_the_first_verdict_follows_from_the_score(first: LiveScore, standing: Standing) -> None:
    """Trust has to be earned at the limits for a rise, and nothing known is caution."""
    found = verdict(first, None)
    assert standing is found.standing
    assert found.reasons
    assert (0, 0) == (found.since_seconds, found.given_seconds)


@pytest.mark.parametrize(("then", "falls_to"), [(POOR, "caution"), (BAD, "demote")])
def test_a_bad_score_falls_at_once(then: LiveScore, falls_to: str) -> None:
    """And the verdict says since when, and why."""
    found = told([GOOD, then, then], 5 * MINUTES)
    assert ["trust", falls_to, falls_to] == [one.standing for one in found]
    assert [0, 300, 300] == [one.since_seconds for one in found]
    assert "over 1 d the pinball loss at 0.9" in found[1].reasons[0]


@pytest.mark.parametrize(
    ("doubtful", "doubt"),
    [
        (DOUBTFUL, "1 is allowed"),
        (score(day=span(scored=230)), "85% are needed: 288 were due, 230 made, 230 scored"),
    ],
)
def test_what_is_doubtful_keeps_trust_but_does_not_bring_it_back(
    doubtful: LiveScore, doubt: str
) -> None:
    """Coming back is harder than staying."""
    assert "trust" == told([GOOD, doubtful], HOURS)[-1].standing
    held = told([POOR, *[doubtful] * 48], HOURS)[-1]
    assert "caution" == held.standing
    assert "held at caution: the record is not good enough to rise" == held.reasons[0]
    assert held.reasons[1].endswith(doubt)


def test_a_standing_rises_one_step_at_a_time_after_holding_good() -> None:
    """Six hours for each step; a poor score on the way begins the wait anew."""
    found = told([BAD, GOOD, GOOD, GOOD, DOUBTFUL, *[GOOD] * 13], 1 * HOURS)
    standings = [one.standing for one in found]
    assert ["demote"] * 11 + ["caution"] * 6 + ["trust"] == standings
    assert "held at demote: good for 2.0 of 6 h" == found[3].reasons[0]
    assert "raised from demote: good for 6 h" == found[11].reasons[0]
    assert (11 * HOURS, 17 * HOURS) == (found[11].since_seconds, found[17].since_seconds)
    assert found[17].good_since_seconds is None


def test_silence_never_raises() -> None:
    """Nothing scored for days: the demoted stay so, the trusted fall to caution."""
    assert {"demote"} == {one.standing for one in told([BAD, *[SILENT] * 99], HOURS)}
    assert "caution" == told([GOOD, SILENT], HOURS)[-1].standing


def test_a_bad_score_says_what_is_missing_too() -> None:
    """The reader of a demotion sees all that is wrong."""
    reasons = verdict(score(hour=unscored(12), day=span(own_gpus=1.4)), None).reasons
    assert 2 == len(reasons)
    assert "no forecast of the last 1 h could be scored" in reasons[1]


@given(
    st.lists(st.tuples(st.sampled_from([GOOD, DOUBTFUL, POOR, BAD, SILENT]), st.integers(1, 30)))
)
@settings(max_examples=60, deadline=None)
def test_every_rise_was_waited_for(stretches: list[tuple[LiveScore, int]]) -> None:
    """Before a rise all scores of the restore period were good, and it is one step."""
    scores = [one for one, count in stretches for _ in range(count)]
    found = told(scores, 30 * MINUTES)
    waited = RESTORED_AFTER // (30 * MINUTES)
    rises = [i for i in range(1, len(found)) if found[i].standing.rank < found[i - 1].standing.rank]
    for i in rises:
        assert all(one is GOOD for one in scores[i - waited : i + 1])
        assert 1 == found[i - 1].standing.rank - found[i].standing.rank
    assert all(later - earlier >= waited for earlier, later in pairwise(rises))
    assert all(one.standing is Standing.DEMOTE for i, one in enumerate(found) if scores[i] is BAD)
    assert all(
        one.standing is not Standing.TRUST
        for i, one in enumerate(found)
        if scores[i] in (POOR, SILENT)
    )


@given(
    st.lists(st.tuples(st.integers(1, 12), st.integers(1, 12)), min_size=1, max_size=15),
    st.sampled_from([POOR, BAD]),
)
@settings(max_examples=40, deadline=None)
def test_noise_around_a_threshold_does_not_flap(
    alternating: list[tuple[int, int]], other: LiveScore
) -> None:
    """Good stretches shorter than the restore period change the verdict once and for all."""
    scores = [GOOD]
    for good, bad in alternating:
        scores += [GOOD] * good + [other] * bad
    standings = [one.standing for one in told(scores, 30 * MINUTES)]
    changes = sum(a is not b for a, b in pairwise(standings))
    assert 1 == changes


def test_a_new_regime_is_noticed_within_hours_and_forgiven_within_days() -> None:
    """Bursts grow fourfold on day 18; the forecasts take three days to learn it."""
    demand = bursty_demand(days=30, seed=3)
    turn, learned, first = 18 * PER_DAY, 21 * PER_DAY, 15 * PER_DAY
    wild = np.where(np.arange(len(demand)) < turn, 1, 4)
    demand = replace(demand, demand_gpus=40 + wild * (demand.demand_gpus - 40))
    rows = np.arange(first, len(demand))
    horizon = Horizon.of(STEP_SECONDS, peak_seconds=STEP_SECONDS)
    came = future_peak(demand.demand_gpus, horizon.peak_steps)
    now = demand.demand_gpus[rows - 1]
    calm_rises = came[1:turn] - demand.demand_gpus[: turn - 1]
    usual = np.quantile(calm_rises[: -horizon.peak_steps], LEVELS, method="higher")
    rises = np.where(rows < learned, 1, 4)[:, None] * usual
    # a fifth of the truth makes the forecasts better than persistence
    said = now[:, None] + 0.8 * rises + 0.2 * (np.nan_to_num(came[rows], nan=40.0) - now)[:, None]
    forecasts = replace(stored(demand, rows, np.maximum(said, 0)), horizon=horizon)
    found: list[Verdict] = []
    for hour in range(17 * 24, 30 * 24):
        score_then = live_score(forecasts, demand, demand.start_seconds + hour * HOURS)
        found.append(verdict(score_then, found[-1] if found else None))
    standings = [one.standing for one in found[24:]]  # by hours since the turn
    assert ["trust", "caution", "demote", "caution", "trust"] == [
        standing for standing, _ in groupby(standings)
    ]
    assert standings.index(Standing.DEMOTE) <= 12
    assert 72 + 24 < standings.index(Standing.TRUST, 12) < 72 + 72


def test_a_bad_week_is_forgiven_once_a_day_was_good_throughout() -> None:
    """And counts again when it lies wholly behind the rise."""
    bad_week = score(day=DOUBTFUL.spans[DAY], week=span(own_gpus=1.4, windows=336))
    good_day = score(week=bad_week.spans[WEEK])
    found = told([BAD, *[good_day] * 13, *[bad_week] * 170], HOURS)
    assert "trust" == found[13].standing
    week_hours = 7 * 24
    assert {"trust"} == {one.standing for one in found[13 : 13 + week_hours]}
    assert "demote" == found[13 + week_hours].standing
    assert "over 7 d" in found[13 + week_hours].reasons[0]


@pytest.mark.parametrize(
    ("previous", "problem"),
    [
        (replace(verdict(GOOD, None), pool=FRAGMENT), "says nothing about"),
        (replace(verdict(GOOD, None), given_seconds=1), "younger than the score"),
    ],
)
def test_a_previous_verdict_must_be_this_pools_and_older(previous: Verdict, problem: str) -> None:
    """Anything else would make nonsense of the hysteresis."""
    with pytest.raises(BadInput, match=problem):
        verdict(GOOD, previous)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"restored_within": Limits(1.03, 1.1, 0.1)}, "must be as strict as"),
        ({"restored_within": Limits(1.0, 1.3, 0.1)}, "must be as strict as"),
        ({"demoted_beyond": Limits(1.05, 1.5, 0.02)}, "must be as strict as"),
        ({"restored_scored_share": 0.7}, "a scored share of 0.75 to fall and 0.7 to rise"),
        ({"scored_share": 0.0}, "both lie in"),
        ({"restored_after_seconds": 0}, "both must be above zero"),
        ({"least_windows": 0}, "both must be above zero"),
        ({"ratio_level": 0.8}, "no quantile 0.8"),
        ({"coverage_levels": (0.1,)}, "no share between 0 and 1"),
    ],
)
def test_settings_without_hysteresis_are_refused(change: dict[str, object], problem: str) -> None:
    """It can never be easier to come back than to fall."""
    with pytest.raises(BadInput, match=problem):
        replace(VerdictSettings(), **change)  # type: ignore[arg-type]
