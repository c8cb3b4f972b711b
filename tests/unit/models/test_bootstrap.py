"""Intervals from resampled days: they hold the figure, and tell noise from more than that."""

import dataclasses

import numpy as np
import pytest

from features.calendar import CalendarSettings, ClusterCalendar
from features.events import NoKnownEvents
from models.backtest import backtest, scores
from models.bootstrap import ratio_intervals
from models.forecast import Horizon
from models.protocol import Context
from models.zoo import models_named
from tests.fakes.demand import tidal_panel

CONTEXT = Context(Horizon.of(300), ClusterCalendar(CalendarSettings()), NoKnownEvents())


@pytest.fixture(scope="module")
def result():
    return backtest(tidal_panel(days=9), models_named(["seasonal-naive"]), CONTEXT, days=6)


def test_the_figure_is_the_score_and_lies_within(result):
    """On all days the ratio is the geometric mean of the scores, inside its interval."""
    got = ratio_intervals(result, "seasonal-naive")
    for level in (0.5, 0.9, 0.99):
        ratios = [
            one.pinball_ratio[level] for one in scores(result) if one.model == "seasonal-naive"
        ]
        assert np.exp(np.mean(np.log(ratios))) == pytest.approx(got[level].value)
        assert got[level].low <= got[level].value <= got[level].high


def test_a_model_far_worse_is_far_from_one(result):
    """Seasonal naive on bursts is worse than persistence, beyond doubt."""
    assert ratio_intervals(result, "seasonal-naive")[0.5].low > 1.2


def test_a_yardstick_against_itself_is_never_below_one(result):
    """No drawing of days makes a yardstick better than the better of both."""
    assert ratio_intervals(result, "persistence")[0.9].low >= 1.0 - 1e-12


def test_the_better_yardstick_counts(result):
    """Spoiling one of the two yardsticks changes nothing."""
    spoiled = result.forecasts["persistence-all"]
    spoiled = dataclasses.replace(spoiled, peak=spoiled.peak + 500)
    other = dataclasses.replace(result, forecasts={**result.forecasts, "persistence-all": spoiled})
    assert ratio_intervals(other, "seasonal-naive")[0.9].value == pytest.approx(
        ratio_intervals(result, "seasonal-naive")[0.9].value
    )


def test_silence_is_not_a_loss_of_zero(result):
    """A model that is silent half the time is judged, like the yardstick, on the other half."""
    whole = result.forecasts["seasonal-naive"]
    peak = whole.peak.copy()
    peak[:, ::2] = np.nan
    quiet = dataclasses.replace(whole, peak=peak)
    other = dataclasses.replace(result, forecasts={**result.forecasts, "seasonal-naive": quiet})
    ratios = [one.pinball_ratio[0.9] for one in scores(other) if one.model == "seasonal-naive"]
    assert np.exp(np.mean(np.log(ratios))) == pytest.approx(
        ratio_intervals(other, "seasonal-naive")[0.9].value
    )


def test_chosen_pools_alone_count(result):
    """One pool's interval is that of its own ratio."""
    (own,) = [
        one.pinball_ratio[0.9]
        for one in scores(result)
        if one.model == "seasonal-naive" and one.pool == result.panel.pools[1]
    ]
    assert own == pytest.approx(ratio_intervals(result, "seasonal-naive", [1])[0.9].value)
