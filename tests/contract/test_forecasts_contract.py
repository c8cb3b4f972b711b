"""What the store of forecasts keeps to, on every database."""

from dataclasses import replace

import numpy as np

from features.errors import Unavailable
from features.pool import Pool
from forecaster.database import Database
from forecaster.database.forecasts import Forecasts
from models.forecast import Forecast, Horizon
from tests.fakes.demand import FRAGMENT, MONDAY, WHOLE
from tests.fakes.forecasts import HORIZON, forecast_of

SILENT = Unavailable("no step of its history was observed")
DAY = 86_400


def keep(database: Database, made: Forecast | Unavailable, at: int, pool: Pool = WHOLE) -> None:
    """Keep what is said of one pool from an origin, ten seconds later."""
    Forecasts(database).keep({pool: made}, HORIZON, at, at + 10)


def test_a_forecast_comes_back_as_it_was_given(database: Database) -> None:
    """Its peak to the last digit, its path to seven."""
    made = forecast_of()
    keep(database, made, MONDAY)
    (kept,) = Forecasts(database).between(WHOLE, MONDAY, MONDAY + 1)
    said = kept.forecast
    assert isinstance(said, Forecast)
    assert made.peak_gpus.tolist() == said.peak_gpus.tolist()
    assert made.now_gpus == said.peak_gpus[0]
    np.testing.assert_allclose(said.path_gpus, made.path_gpus, rtol=1e-7)
    same = ("pool", "origin", "horizon", "levels", "now_gpus", "model_name", "model_version",
            "knowledge", "explanation", "sentence")  # fmt: skip
    for name in same:
        assert getattr(made, name) == getattr(said, name), name
    assert (WHOLE, MONDAY, MONDAY + 10) == (kept.pool, kept.origin_seconds, kept.made_seconds)


def test_no_forecast_is_kept_as_none_with_its_reason(database: Database) -> None:
    """It never becomes a number."""
    keep(database, SILENT, MONDAY)
    (kept,) = Forecasts(database).between(WHOLE, MONDAY, MONDAY + 1)
    assert SILENT == kept.forecast
    stored = Forecasts(database).stored(WHOLE, HORIZON, 300, MONDAY)
    assert stored is not None
    assert np.isnan(stored.peak_gpus).all()
    assert (("", ""),) == stored.models


def test_the_newest_is_what_was_said_last(database: Database) -> None:
    """Also where it was made from an older origin than what was said before it."""
    keep(database, forecast_of(origin_seconds=MONDAY), MONDAY)
    keep(database, SILENT, MONDAY + 300)
    late = forecast_of(origin_seconds=MONDAY, model_name="persistence")
    Forecasts(database).keep({WHOLE: late, FRAGMENT: SILENT}, HORIZON, MONDAY + 600, MONDAY + 610)
    newest = Forecasts(database).newest(MONDAY)
    assert {WHOLE, FRAGMENT} == set(newest)
    said = newest[WHOLE].forecast
    assert isinstance(said, Forecast)
    assert ("persistence", MONDAY) == (said.model_name, newest[WHOLE].origin_seconds)
    assert {FRAGMENT} == set(Forecasts(database).newest(MONDAY + 600))
    assert {} == Forecasts(database).newest(MONDAY + 601)


def test_what_is_said_again_from_one_origin_takes_its_place(database: Database) -> None:
    """A forecast that was made anew after an announcement is the one that counts."""
    for now_gpus in (1.0, 2.0):
        keep(database, forecast_of(now_gpus=now_gpus), MONDAY)
    kept = Forecasts(database).between(WHOLE, MONDAY, MONDAY + 1)
    assert [2.0] == [one.forecast.now_gpus for one in kept if isinstance(one.forecast, Forecast)]


def test_a_range_of_origins_is_that_of_one_pool(database: Database) -> None:
    """Oldest first; the end is not part of it."""
    for step in (2, 0, 1, 3):
        keep(database, forecast_of(origin_seconds=MONDAY + 300 * step), MONDAY + 300 * step)
    keep(database, forecast_of(FRAGMENT), MONDAY, FRAGMENT)
    found = Forecasts(database).between(WHOLE, MONDAY, MONDAY + 600)
    assert [MONDAY, MONDAY + 300] == [one.origin_seconds for one in found]


def test_what_a_score_is_made_from(database: Database) -> None:
    """One row per origin, due since the first that there was; other windows are left out."""
    for step in range(4):
        origin = MONDAY + 300 * step
        keep(database, forecast_of(origin_seconds=origin, now_gpus=step), origin)
    last = MONDAY + 900
    Forecasts(database).keep(
        {WHOLE: forecast_of(origin_seconds=last, now_gpus=9, model_name="persistence")},
        HORIZON, last, last + 20,
    )  # fmt: skip
    longer = Horizon.of(300, peak_seconds=3_600)
    Forecasts(database).keep(
        {WHOLE: forecast_of(origin_seconds=MONDAY + 1200, horizon=longer)}, longer, last, last
    )
    stored = Forecasts(database).stored(WHOLE, HORIZON, 300, MONDAY + 300)
    assert stored is not None
    assert (MONDAY, 300, HORIZON) == (stored.since_seconds, stored.every_seconds, stored.horizon)
    assert [MONDAY + 300, MONDAY + 600, MONDAY + 900] == stored.origins_seconds.tolist()
    assert [1.0, 2.0, 9.0] == stored.peak_gpus[:, 0].tolist()
    assert "persistence" == stored.models[2][0]
    assert Forecasts(database).stored(FRAGMENT, HORIZON, 300, MONDAY) is None
    shorter = replace(HORIZON, steps=6)
    assert Forecasts(database).stored(WHOLE, shorter, 300, MONDAY) is not None


def test_old_forecasts_are_removed(database: Database) -> None:
    """By their origin."""
    keep(database, forecast_of(), MONDAY)
    keep(database, forecast_of(origin_seconds=MONDAY + 300), MONDAY + 300)
    assert 0 == Forecasts(database).prune(MONDAY + 8 * DAY, keep_days=8)
    assert 1 == Forecasts(database).prune(MONDAY + 8 * DAY + 300, keep_days=8)
    assert {MONDAY + 300} == {one.origin_seconds for one in Forecasts(database).newest(0).values()}
