"""The forecasts file holds each forecast once, and says 'not known' as nothing."""

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from features.calendar import ClusterCalendar
from features.events import NoKnownEvents
from features.panel import DemandPanel
from features.pool import Pool
from features.series import DemandSeries
from forecaster import forecast_file
from forecaster.forecast_file import write_forecasts
from models.backtest import BacktestResult
from models.forecast import QUANTILE_LEVELS, Horizon, QuantileArrays
from models.protocol import Context

START_SECONDS = 1_772_323_200  # 2026-03-01T00:00:00Z
STEP_SECONDS = 300
POOLS = ("a100/fragment", "a100/whole-node")
MODELS = ("persistence", "lightgbm")
ORIGINS = 5
HORIZON = Horizon(step_seconds=STEP_SECONDS, steps=3, peak_steps=2)


@pytest.fixture
def result() -> BacktestResult:
    """Two pools, two models, five origins; every number is another one, and one is missing."""
    panel = DemandPanel.of(
        [
            DemandSeries(Pool.parse(pool), START_SECONDS, STEP_SECONDS, np.full(20, 8.0))
            for pool in POOLS
        ]
    )
    shape = (len(POOLS), ORIGINS, HORIZON.steps, len(QUANTILE_LEVELS))
    forecasts = {
        model: QuantileArrays(
            path=np.arange(np.prod(shape), dtype=np.float64).reshape(shape) + 10_000 * number,
            peak=np.arange(np.prod(shape[:2]) * shape[3], dtype=np.float64).reshape(
                shape[0], shape[1], shape[3]
            )
            + 10_000 * number
            + 5_000,
        )
        for number, model in enumerate(MODELS)
    }
    forecasts["lightgbm"].peak[1, 2] = np.nan
    return BacktestResult(
        panel=panel,
        context=Context(HORIZON, ClusterCalendar(), NoKnownEvents()),
        origins=np.arange(12, 12 + ORIGINS),
        forecasts=forecasts,
        actual_peak=np.zeros(shape[:2]),
        actual_path=np.zeros(shape[:3]),
        now_gpus=np.zeros(shape[:2]),
    )


@pytest.mark.parametrize("piece", [2, 2016])
def test_every_forecast_stands_in_one_row(
    result: BacktestResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    """A naive loop over pools, models, origins and steps finds each number in its place."""
    monkeypatch.setattr(forecast_file, "ORIGINS_PER_PIECE", piece)
    path = tmp_path / "forecasts.parquet"
    write_forecasts(result, path)
    rows = pq.read_table(path).to_pylist()
    found = {
        (row["pool"], row["model"], row["origin"], row["kind"], row["seconds_ahead"]): [
            row[f"q{level:g}"] for level in QUANTILE_LEVELS
        ]
        for row in rows
    }
    expected = {}
    for model, forecasts in result.forecasts.items():
        for index, pool in enumerate(POOLS):
            for number in range(ORIGINS):
                seconds = START_SECONDS + (12 + number) * STEP_SECONDS
                key = (pool, model, datetime.fromtimestamp(seconds, tz=UTC))
                known = not np.isnan(forecasts.peak[index, number, 0])
                quantiles = forecasts.peak[index, number].tolist()
                expected[(*key, "peak", 600)] = quantiles if known else [None] * 7
                for step in range(3):
                    expected[(*key, "step", 300 * (step + 1))] = forecasts.path[
                        index, number, step
                    ].tolist()
    assert len(expected) == len(rows)
    assert expected == found


def test_quantile_columns_are_named_by_their_level() -> None:
    """As documented."""
    assert ("q0.1", "q0.25", "q0.5", "q0.75", "q0.9", "q0.95", "q0.99") == (
        forecast_file.QUANTILE_COLUMNS
    )
