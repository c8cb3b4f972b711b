"""Paths are read as they were kept, by both databases."""

import numpy as np

from features.errors import Unavailable
from forecaster.database import Database
from forecaster.database.forecast_paths import forecast_paths
from forecaster.database.forecasts import Forecasts
from models.forecast import Horizon
from tests.fakes.demand import FRAGMENT, MONDAY, WHOLE
from tests.fakes.forecasts import HORIZON, forecast_of

MINUTES = Horizon.of(60)
LATER = MONDAY + 86_400


def keep(database: Database, step: int, now_gpus: float | None, horizon: Horizon = HORIZON) -> None:
    """A forecast of one pool; that nothing can be said where no demand is given."""
    origin = MONDAY + 300 * step
    said = (
        Unavailable("no data")
        if now_gpus is None
        else forecast_of(WHOLE, origin, now_gpus, horizon=horizon)
    )
    Forecasts(database).keep({WHOLE: said}, horizon, origin, origin + 20)


def test_paths_are_what_the_forecasts_say(database: Database) -> None:
    """In the order of time, those of a new step apart, and 'not known' in its place."""
    keep(database, 9, 4.0, MINUTES)
    for step, now_gpus in ((2, None), (0, 1.0), (1, 2.0), (1, 3.0)):
        keep(database, step, now_gpus)
    other = {FRAGMENT: forecast_of(FRAGMENT, MONDAY)}
    Forecasts(database).keep(other, HORIZON, MONDAY, MONDAY)
    fragment, five, one = forecast_paths(database, MONDAY, LATER)
    assert (FRAGMENT, WHOLE, WHOLE) == (fragment.pool, five.pool, one.pool)
    assert (300, 60) == (five.step_seconds, one.step_seconds)
    assert [0, 300, 600] == (five.origins_seconds - MONDAY).tolist()
    assert [1.0, 3.0] == five.path_gpus[:2, 0, 0].tolist()
    assert np.isnan(five.path_gpus[2]).all()
    assert (1, 60, 7) == one.path_gpus.shape
    assert MONDAY + 2_700 + 3_600 == one.reach_seconds


def test_what_was_said_before_or_later_is_left_out(database: Database) -> None:
    """The first moment counts, the last does not."""
    for step in range(3):
        keep(database, step, 1.0)
    (found,) = forecast_paths(database, MONDAY + 300, LATER)
    assert [300, 600] == (found.origins_seconds - MONDAY).tolist()
    (found,) = forecast_paths(database, MONDAY, MONDAY + 600)
    assert [0, 300] == (found.origins_seconds - MONDAY).tolist()
    assert () == forecast_paths(database, MONDAY + 601, LATER)


def test_a_pool_of_which_nothing_was_ever_said_has_none(database: Database) -> None:
    """There is no form to give it."""
    keep(database, 0, None)
    assert () == forecast_paths(database, 0, LATER)
