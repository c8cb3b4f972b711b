"""The backtest gives models no more than they would have had, and leaves nothing out."""

import dataclasses
from collections.abc import Mapping

import numpy as np
import pytest

from features.calendar import CalendarSettings, ClusterCalendar
from features.errors import BadInput
from features.events import NoKnownEvents
from models.backtest import backtest, scores
from models.forecast import Horizon, QuantileArrays
from models.protocol import Context
from models.targets import targets_of
from models.zoo import models_named
from tests.fakes.demand import tidal_panel

CONTEXT = Context(Horizon.of(300), ClusterCalendar(CalendarSettings()), NoKnownEvents())
PANEL = tidal_panel(days=4)


@dataclasses.dataclass
class Watching:
    """A model that notes what it was given."""

    name: str = "watching"
    refit_seconds: int = 6 * 3600
    fits: list[int] = dataclasses.field(default_factory=list)
    asked: list[tuple[int, int, int]] = dataclasses.field(default_factory=list)

    def fit(self, panel, context):
        self.fits.append(len(panel))
        return self

    def predict(self, panel, origins, context):
        self.asked.append((self.fits[-1], int(origins[0]), int(origins[-1])))
        return QuantileArrays.unavailable(len(panel.pools), len(origins), context.horizon)

    def artifact(self) -> Mapping[str, bytes]:
        return {}

    def restore(self, artifact):
        return self


def test_every_fit_ends_where_its_forecasts_begin():
    """A fit sees only rows before the first origin it serves, and serves no longer than it may."""
    model = Watching()
    backtest(PANEL, [model], CONTEXT, days=1)
    first = len(PANEL) - 288
    assert [first, first + 72, first + 144, first + 216] == model.fits
    for fitted_on, first_origin, last_origin in model.asked:
        assert fitted_on == first_origin
        assert last_origin < fitted_on + 72


def test_every_step_is_an_origin_and_outcomes_are_what_came():
    """Origins are dense, and what came is read from the panel alone."""
    result = backtest(PANEL, [], CONTEXT, days=1)
    np.testing.assert_array_equal(result.origins, np.arange(3 * 288, 4 * 288))
    origin = int(result.origins[10])
    expected = PANEL.demand_gpus[:, origin : origin + 6].max(axis=1)
    np.testing.assert_array_equal(result.actual_peak[:, 10], expected)
    np.testing.assert_array_equal(result.actual_path[:, 10, 3], PANEL.demand_gpus[:, origin + 3])
    assert np.isnan(result.actual_peak[:, -5:]).all()


def test_better_yardstick_has_a_ratio_of_one():
    """Per pool and level one of the two yardsticks is the yardstick."""
    result = backtest(PANEL, models_named(["seasonal-naive"]), CONTEXT, days=1)
    table = {(str(one.pool), one.model): one for one in scores(result)}
    for pool in ("a100/whole-node", "a100/fragment"):
        for level in (0.5, 0.9, 0.99):
            ratios = [
                table[pool, name].pinball_ratio[level]
                for name in ("persistence", "persistence-all")
            ]
            assert min(ratios) == pytest.approx(1.0)
        assert table[pool, "seasonal-naive"].origins == 6 * 47 + 1


def test_too_few_days_are_refused():
    """There must be something left to learn from."""
    with pytest.raises(BadInput, match=r"4\.0 days of history cannot replay the last 4 days"):
        backtest(PANEL, [], CONTEXT, days=4)


def test_capped_steps_are_not_scored():
    """Where demand was cut short, nobody knows what came."""
    capped = PANEL.capped.copy()
    capped[0, 100] = True
    came = targets_of(
        dataclasses.replace(PANEL, capped=capped), np.array([94, 95, 101]), CONTEXT.horizon
    )
    np.testing.assert_array_equal(np.isnan(came.peak[0]), [False, True, False])
    np.testing.assert_array_equal(np.isnan(came.peak[1]), [False, False, False])


def test_progress_is_told():
    """Long work says how far it is."""
    told = []
    backtest(PANEL, [], CONTEXT, days=1, progress=lambda *step: told.append(step))
    assert ("persistence", 24, 24) in told
