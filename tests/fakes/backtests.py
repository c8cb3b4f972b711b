"""A small backtest made by hand: two pools, three models, a gap."""

from collections.abc import Sequence

import numpy as np

from features.calendar import CalendarSettings, ClusterCalendar
from features.events import NoKnownEvents
from features.panel import DemandPanel
from features.pool import Pool
from features.series import DemandSeries, FloatArray
from models.backtest import YARDSTICKS, BacktestResult
from models.forecast import QUANTILE_LEVELS, Horizon, QuantileArrays
from models.protocol import Context
from models.targets import now_gpus, targets_of

STEP_SECONDS = 300
ROWS, ORIGINS = 3 * 288, 2 * 288
GAP = slice(700, 736)  # three hours of the replayed days
MONDAY_SECONDS = 1_775_433_600  # 2026-04-06T00:00:00Z
HORIZON = Horizon.of(STEP_SECONDS)


def sample_series(name: str, start_seconds: int = MONDAY_SECONDS) -> DemandSeries:
    """Three days of a tide between 10 and 50 GPUs that is unknown in `GAP`."""
    demand = np.round(30 + 20 * np.sin(2 * np.pi * np.arange(ROWS) / 288))
    demand[GAP] = np.nan
    return DemandSeries(Pool.parse(name), start_seconds, STEP_SECONDS, demand)


def sample_result(
    names: Sequence[str] = ("a100/whole-node", "t4/fragment"),
    start_seconds: int = MONDAY_SECONDS,
    good_model: str = "good",
) -> BacktestResult:
    """Two replayed days in which the good model knows what comes, give or take a GPU."""
    panel = DemandPanel.of([sample_series(name, start_seconds) for name in names])
    origins = np.arange(ROWS - ORIGINS, ROWS)
    came = targets_of(panel, origins, HORIZON)
    now = now_gpus(panel, origins)
    said = {one.name: _around(now, spread=10.0) for one in YARDSTICKS}
    known_peak = np.where(np.isnan(came.peak), now, came.peak)
    said[good_model] = _around(known_peak, spread=1.0)
    calendar = ClusterCalendar(CalendarSettings("Europe/Berlin", ("DE",)))
    return BacktestResult(
        panel=panel,
        context=Context(HORIZON, calendar, NoKnownEvents()),
        origins=origins,
        forecasts=said,
        actual_peak=came.peak,
        actual_path=came.path,
        now_gpus=now,
    )


def _around(centre_gpus: FloatArray, spread: float) -> QuantileArrays:
    offsets = spread * (np.array(QUANTILE_LEVELS) - 0.5)
    peak = centre_gpus[..., None] + offsets
    return QuantileArrays(
        path=np.repeat(peak[:, :, None, :], HORIZON.steps, axis=2), peak=peak
    ).made_valid()
