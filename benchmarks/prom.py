"""`/prom` over the loopback interface: a month of twenty pools, at the history's own step.

The server runs in a thread of this very process, so that what is timed is more than a client of
another process would wait for.
"""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import httpx
import numpy as np
from sqlalchemy import insert

from benchmarks import clusters
from benchmarks.measuring import Row, milliseconds, timed
from features.series import DemandSeries
from forecaster.api.app import create_app
from forecaster.api.context import ApiContext
from forecaster.clock import now_seconds
from forecaster.database import Database
from forecaster.database.tables import FORECASTS
from forecaster.settings import Settings
from forecaster.wiring import Workspace
from models.forecast import QUANTILE_LEVELS
from tests.fakes.served import served

POOLS, DAYS = 20, 30
STEP = clusters.STEP_SECONDS
RANGES = {
    "demand that came, every 5 min": ("gpu_demand:actual", STEP, "<= 300 ms"),
    "demand that came, as a panel of 1000 points": ("gpu_demand:actual", 2_592, ""),
    "sum of all pools": ("sum(gpu_demand:actual)", STEP, ""),
    "one band of the forecasts": (
        'gpu_demand:predicted{band="p90",lead="latest"}',
        STEP,
        "<= 300 ms",
    ),
}


def rows() -> list[Row]:
    """Ranges of 30 days x 20 pools, and the first of each kind after a start."""
    now = now_seconds() // STEP * STEP
    with tempfile.TemporaryDirectory() as place:
        workspace = Workspace(Settings(data_directory=Path(place) / "data"))
        history = [
            replace(clusters.series(index, DAYS), start_seconds=now - DAYS * 86_400)
            for index in range(POOLS)
        ]
        workspace.store.import_series(history)
        with workspace.open_database() as database:
            _keep_forecasts(database, history)
            return _measured(workspace, database, now)


def _measured(workspace: Workspace, database: Database, now: int) -> list[Row]:
    app = create_app(ApiContext(workspace, database, now_seconds))
    found: list[Row] = []
    with served(app) as url, httpx.Client(base_url=url, timeout=60) as client:
        for what, (query, step, goal) in RANGES.items():
            ask = _asking(client, query, step, now)
            first = timed(ask, runs=1, warm_ups=0)
            if goal:
                found.append(Row(f"{what}, first", milliseconds(first)))
            found.append(Row(what, milliseconds(timed(ask)), goal))
        answer = ask()
        found.append(Row("its answer", f"{len(answer.content) / 1e6:.1f} MB"))
        assert client.get("/metrics").status_code == httpx.codes.OK
        found.append(Row("/metrics", milliseconds(timed(lambda: client.get("/metrics")))))
    return found


def _asking(client: httpx.Client, query: str, step: int, now: int) -> Callable[[], httpx.Response]:
    asked = {"query": query, "start": now - DAYS * 86_400, "end": now, "step": step}

    def ask() -> httpx.Response:
        answer = client.get("/prom/api/v1/query_range", params=asked)
        assert answer.status_code == httpx.codes.OK, answer.text
        return answer

    return ask


def _keep_forecasts(database: Database, history: list[DemandSeries]) -> None:
    """A forecast of each pool every 5 minutes, as large as real ones."""
    document = {
        "now_gpus": 1 / 3,
        "history_seconds": DAYS * 86_400,
        "observed_share": 1.0,
        "last_observed_seconds": 0,
        "notes": ["30.0 days of history"],
        "explanation": {"now": 1 / 3},
        "sentence": "As now; nothing speaks for a change.",
    }
    levels = np.array(QUANTILE_LEVELS)
    with database.writing() as connection:
        for one in history:
            paths = one.demand_gpus[:, None, None] + np.arange(1, 13)[:, None] * levels
            origins = one.start_seconds + STEP * np.arange(1, len(one) + 1)
            connection.execute(
                insert(FORECASTS),
                [
                    {
                        "pool": str(one.pool),
                        "origin_seconds": origin,
                        "model_name": "combined",
                        "model_version": "1",
                        "made_seconds": origin + 30,
                        "step_seconds": STEP,
                        "peak_steps": 6,
                        "peak_gpus": path[0].astype("<f8").tobytes(),
                        "path_gpus": path.astype("<f4").tobytes(),
                        "document": document,
                    }
                    for origin, path in zip(origins.tolist(), paths, strict=True)
                ],
            )
