"""What was said of each moment, against a loop over forecasts, and read in pieces or at once."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from features.errors import Unavailable
from features.series import FloatArray
from forecaster.api.prom.told import (
    BANDS,
    PIECE_SECONDS,
    READ_AGAIN_SECONDS,
    Lead,
    ToldForecasts,
    told_of,
)
from forecaster.database import Database
from forecaster.database.forecast_paths import ForecastPaths, forecast_paths
from forecaster.database.forecasts import Forecasts
from models.forecast import Horizon
from tests.fakes.demand import FRAGMENT, MONDAY, WHOLE
from tests.fakes.forecasts import HORIZON, forecast_of

STEP, REACH, LEVELS = 300, 12, len(BANDS)
ORIGINS = st.lists(st.integers(0, 30), unique=True, min_size=1, max_size=12).map(sorted)


def paths(steps: list[int], step_seconds: int = STEP, reach: int = REACH) -> ForecastPaths:
    """Forecasts whose every number is its own."""
    shape = (len(steps), reach, LEVELS)
    numbers = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    return ForecastPaths(WHOLE, step_seconds, MONDAY + STEP * np.array(steps), numbers)


@given(ORIGINS)
def test_the_latest_word_on_each_moment(steps: list[int]) -> None:
    """Of all forecasts from before a moment the newest says it, if it reaches so far."""
    made = paths(steps)
    told = told_of([made])[WHOLE, Lead.LATEST]
    expected: dict[float, FloatArray] = {}
    for row, origin in enumerate(made.origins_seconds.tolist()):
        for step in range(REACH):
            at = origin + (step + 1) * STEP
            later = [other for other in made.origins_seconds.tolist() if origin < other < at]
            if not later:
                expected[float(at)] = made.path_gpus[row, step]
    assert sorted(expected) == told.times_seconds.tolist()
    np.testing.assert_array_equal([expected[at] for at in sorted(expected)], told.gpus)


@given(ORIGINS)
def test_half_an_hour_ahead_each_forecast_says_one_moment(steps: list[int]) -> None:
    """The step that closes half an hour after the origin."""
    made = paths(steps)
    told = told_of([made])[WHOLE, Lead.HALF_HOUR]
    np.testing.assert_array_equal(made.origins_seconds + 1_800, told.times_seconds)
    np.testing.assert_array_equal(made.path_gpus[:, 5], told.gpus)


def test_a_horizon_that_is_too_short_has_nothing_half_an_hour_ahead() -> None:
    """And a step that does not divide it says nothing of just that moment."""
    assert {(WHOLE, Lead.LATEST)} == set(told_of([paths([0], reach=5)]))
    assert {(WHOLE, Lead.LATEST)} == set(told_of([paths([0], step_seconds=700)]))


def test_a_new_step_ends_what_was_said_on_the_old_one() -> None:
    """From the first origin with another step on that one counts."""
    told = told_of([paths([0]), paths([2], step_seconds=60)])[WHOLE, Lead.LATEST]
    expected = [300.0, 600.0, *(600.0 + 60 * step for step in range(1, 13))]
    assert expected == (told.times_seconds - MONDAY).tolist()
    assert 60 == told.step_seconds


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database.open(f"sqlite:///{tmp_path / 'tidecast.db'}")


def keep(database: Database, step: int, now_gpus: float, horizon: Horizon = HORIZON) -> int:
    origin = MONDAY + STEP * step
    made = {one: forecast_of(one, origin, now_gpus, horizon=horizon) for one in (WHOLE, FRAGMENT)}
    Forecasts(database).keep(made, horizon, origin, origin + 20)
    return origin


def test_what_is_read_little_by_little_is_what_is_read_at_once(database: Database) -> None:
    """However often somebody looked between, and however far back."""
    watching = ToldForecasts(database)
    for step in range(60):
        now = keep(database, step, now_gpus=float(step)) + 20
        if step > 30 and step % 7 == 0:
            watching.read(now - 600, now)
    now += 10
    little, once = watching.read(MONDAY, now), ToldForecasts(database).read(MONDAY, now)
    assert once.keys() == little.keys()
    for key, told in once.items():
        np.testing.assert_array_equal(told.times_seconds, little[key].times_seconds)
        np.testing.assert_array_equal(told.gpus, little[key].gpus)


def test_weeks_are_read_in_pieces_that_join(database: Database) -> None:
    """What a forecast says beyond the end of its piece is not lost, nor told twice."""
    for step in range(0, 12 * 288, 9):
        now = keep(database, step, now_gpus=float(step))
    told = ToldForecasts(database).read(MONDAY, now)
    once = told_of(forecast_paths(database, MONDAY, now + 1))
    for key, expected in once.items():
        np.testing.assert_array_equal(expected.times_seconds, told[key].times_seconds)
        np.testing.assert_array_equal(expected.gpus, told[key].gpus)


def test_silence_that_fills_a_piece_ends_what_was_said_before_it(database: Database) -> None:
    """The forecast of the piece before does not reach into it."""
    border = MONDAY - READ_AGAIN_SECONDS + PIECE_SECONDS
    last = keep(database, (border - MONDAY) // STEP - 1, now_gpus=1.0)
    for origin in (border, border + STEP):
        Forecasts(database).keep({WHOLE: Unavailable("no data")}, HORIZON, origin, origin + 20)
    told = ToldForecasts(database).read(MONDAY, border + 86_400)[WHOLE, Lead.LATEST].band("p10")
    moments = np.array([last + STEP, last + 2.0 * STEP, last + 3.0 * STEP])
    np.testing.assert_array_equal([1.0, np.nan, np.nan], told.at(moments))


def test_one_that_was_made_again_counts_in_its_newest_form(database: Database) -> None:
    """Nothing that was held of it stays."""
    now = keep(database, 0, now_gpus=1.0) + 20
    watching = ToldForecasts(database)
    watching.read(MONDAY, now)
    keep(database, 0, now_gpus=5.0)
    told = watching.read(MONDAY, now + 60)[WHOLE, Lead.LATEST]
    assert 5.0 == told.band("p10").values[0]


def test_where_nothing_could_be_said_nothing_is(database: Database) -> None:
    """It ends what the forecast before it said, and the next one goes on."""
    keep(database, 0, now_gpus=1.0)
    origin = MONDAY + 2 * STEP
    Forecasts(database).keep({WHOLE: Unavailable("no data")}, HORIZON, origin, origin + 20)
    now = keep(database, 4, now_gpus=3.0)
    told = ToldForecasts(database).read(MONDAY, now)[WHOLE, Lead.LATEST].band("p10")
    moments = MONDAY + STEP * np.array([1.0, 2, 3, 4, 5, 16, 17.5])
    np.testing.assert_array_equal([1, 1, np.nan, np.nan, 3, 3, np.nan], told.at(moments))


def test_what_is_old_is_let_go(database: Database) -> None:
    """Memory does not grow with the years."""
    now = keep(database, 0, now_gpus=1.0)
    watching = ToldForecasts(database)
    watching.read(MONDAY, now)
    assert {} == watching.read(now + 40 * 86_400, now + 40 * 86_400)


def test_a_question_about_now_reads_little(database: Database) -> None:
    """What lies further back than forecasts are made again is not read for it."""
    keep(database, 0, now_gpus=1.0)
    now = keep(database, 100, now_gpus=2.0)
    assert now - MONDAY > READ_AGAIN_SECONDS
    told = ToldForecasts(database).read(now, now)[WHOLE, Lead.LATEST]
    assert now < told.times_seconds[0]
