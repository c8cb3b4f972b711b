"""Forecasts made by hand, for tests of what keeps them and what decides on them."""

from datetime import UTC, datetime

import numpy as np

from features.pool import Pool
from models.forecast import QUANTILE_LEVELS, Forecast, Horizon, Knowledge
from tests.fakes.demand import MONDAY, WHOLE

HORIZON = Horizon.of(300)


def forecast_of(
    pool: Pool = WHOLE,
    origin_seconds: int = MONDAY,
    now_gpus: float = 22 / 7,
    model_name: str = "combined",
    horizon: Horizon = HORIZON,
) -> Forecast:
    """A forecast whose peak and path rise from the demand of now."""
    rise = np.cumsum(np.array([0.0, 0.0, 0.1, 1 / 3, 2.0, 3.0, 1 / 7]))
    steps = np.linspace(0.1, 1.0, horizon.steps)
    return Forecast(
        pool=pool,
        origin=datetime.fromtimestamp(origin_seconds, UTC),
        horizon=horizon,
        levels=QUANTILE_LEVELS,
        now_gpus=now_gpus,
        path_gpus=now_gpus + steps[:, None] * rise,
        peak_gpus=now_gpus + rise,
        model_name=model_name,
        model_version="20260105T000000Z",
        knowledge=Knowledge(86_400, 0.75, origin_seconds, ("1.0 days of history",)),
        explanation={"now": now_gpus, "slope": 0.1},
        sentence="3 GPUs now; nothing speaks for a change.",
    )
