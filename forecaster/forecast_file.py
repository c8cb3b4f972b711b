"""The forecasts of a backtest as one Parquet file, for whoever wants to score them on their own.

A row per pool, model, origin, kind and seconds ahead, and a column per quantile; a model that could
not say has empty quantiles, never zeros. The file is written piece by piece, so that memory stays
bounded by a few days of one pool.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from features.series import FloatArray, IntArray
from forecaster.files import replacing
from models.backtest import BacktestResult
from models.forecast import QUANTILE_LEVELS, Horizon

if TYPE_CHECKING:
    import pyarrow as pa

ORIGINS_PER_PIECE = 2016  # a week of 5-minute steps
QUANTILE_COLUMNS = tuple(f"q{level:g}" for level in QUANTILE_LEVELS)


def write_forecasts(result: BacktestResult, path: Path) -> None:
    """Write every forecast of a backtest.

    The columns are `pool`, `model`, `origin` (UTC), `kind` (`peak`: highest demand of the window
    that ends `seconds_ahead` after the origin; `step`: highest demand of the step that closes
    then), `seconds_ahead`, and `q0.1` to `q0.99` in GPUs.

    Raises:
        BadInput: the file cannot be written.
    """
    import pyarrow.parquet as pq

    with replacing(path) as part, pq.ParquetWriter(part, _schema(), compression="zstd") as writer:
        for piece in _pieces(result):
            writer.write_table(piece)


def _schema() -> "pa.Schema":
    import pyarrow as pa

    return pa.schema(
        [
            ("pool", pa.dictionary(pa.int32(), pa.string())),
            ("model", pa.dictionary(pa.int32(), pa.string())),
            ("origin", pa.timestamp("us", tz="UTC")),
            ("kind", pa.dictionary(pa.int32(), pa.string())),
            ("seconds_ahead", pa.int32()),
            *((name, pa.float64()) for name in QUANTILE_COLUMNS),
        ]
    )


def _pieces(result: BacktestResult) -> Iterator["pa.Table"]:
    seconds = result.panel.seconds_at(result.origins)
    for model, forecasts in result.forecasts.items():
        for index, pool in enumerate(result.panel.pools):
            for first in range(0, len(seconds), ORIGINS_PER_PIECE):
                some = slice(first, first + ORIGINS_PER_PIECE)
                # the peak stands before the path of its origin: shape (origins, 1 + steps, levels)
                quantiles = np.concatenate(
                    [forecasts.peak[index, some, None, :], forecasts.path[index, some]], axis=1
                )
                yield _piece(str(pool), model, seconds[some], quantiles, result.context.horizon)


def _piece(
    pool: str, model: str, origins_seconds: IntArray, quantiles: FloatArray, horizon: Horizon
) -> "pa.Table":
    import pyarrow as pa

    origins, kinds = quantiles.shape[:2]
    ahead = np.array(
        [horizon.peak_seconds, *(horizon.step_seconds * np.arange(1, horizon.steps + 1))]
    )
    kind = np.array([0] + [1] * horizon.steps)
    columns = [
        _same(pool, origins * kinds),
        _same(model, origins * kinds),
        pa.array(np.repeat(origins_seconds * 1_000_000, kinds)).cast(pa.timestamp("us", tz="UTC")),
        pa.DictionaryArray.from_arrays(
            pa.array(np.tile(kind, origins), pa.int32()), pa.array(["peak", "step"])
        ),
        pa.array(np.tile(ahead, origins), pa.int32()),
        *(
            pa.array(quantiles[..., level].ravel(), pa.float64(), from_pandas=True)
            for level in range(len(QUANTILE_COLUMNS))
        ),
    ]
    return pa.Table.from_arrays(columns, schema=_schema())


def _same(text: str, rows: int) -> "pa.DictionaryArray":
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows), pa.int32()), pa.array([text]))
