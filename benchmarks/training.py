"""Fitting and forecasting 64 pools of 30 days, against Prophet on the same data."""

import numpy as np

from benchmarks.clusters import context, panel
from benchmarks.measuring import Row, milliseconds, peak_memory_mb, seconds, timed
from models.combined import Combined
from models.lightgbm_quantiles import LightGBMQuantiles
from models.prophet import ProphetCarried

PROPHET_POOLS = 4
"""Prophet fits each pool alone, so a few pools tell what all of them would take."""


def rows() -> list[Row]:
    """Times of the fits and of a warm forecast, and Prophet's time as a ratio to ours."""
    history, situation = panel(64), context()
    origin = np.array([len(history)])
    trees = timed(lambda: LightGBMQuantiles().fit(history, situation), runs=3)
    novice = Combined(warm_up_days=())
    whole = timed(lambda: novice.fit(history, situation), runs=3)
    memory = peak_memory_mb()
    fitted = novice.fit(history, situation)
    tick = timed(lambda: fitted.predict(history, origin, situation), runs=15, warm_ups=3)
    many = panel(1000)
    stranger = novice.fit(many, situation)
    crowd = timed(lambda: stranger.predict(many, origin, situation), runs=5, warm_ups=1)
    some = history.select(history.pools[:PROPHET_POOLS])
    prophet = timed(lambda: ProphetCarried().fit(some, situation), runs=1)
    scaled = prophet.cpu_seconds / PROPHET_POOLS * len(history.pools)
    return [
        Row("lightgbm, fit 64 pools x 30 days", seconds(trees), "<= 10 s"),
        Row("combined, fit 64 pools x 30 days", seconds(whole), "<= 3 s"),
        Row("combined, memory at its peak", f"{memory:.0f} MB", "<= 500 MB"),
        Row("combined, forecast of 64 pools, warm", milliseconds(tick), "<= 15 ms"),
        Row("combined, forecast of 1,000 pools, warm", milliseconds(crowd), "<= 250 ms"),
        Row(f"Prophet, fit 64 pools ({PROPHET_POOLS} measured)", f"CPU {scaled:.0f} s"),
        Row("Prophet / lightgbm", f"{scaled / trees.cpu_seconds:.0f} x"),
        Row("Prophet / combined", f"{scaled / whole.cpu_seconds:.0f} x", ">= 50 x"),
    ]
