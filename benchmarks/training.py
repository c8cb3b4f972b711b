"""Fitting and forecasting 64 pools of 30 days, against Prophet on the same data."""

import subprocess
import sys
from collections.abc import Callable
from statistics import median

import numpy as np

from benchmarks.clusters import context, panel
from benchmarks.measuring import Row, Timing, milliseconds, peak_memory_mb, seconds, timed
from models.combined import Combined
from models.lightgbm_quantiles import LightGBMQuantiles
from models.prophet import ProphetCarried
from models.shipped import shipped_trees

PROPHET_POOLS = 4
"""Prophet fits each pool alone, so a few pools tell what all of them would take."""
TURNS = 3
EVERY_STEP = ProphetCarried(fit_minutes=5)


def rows() -> list[Row]:
    """Times of the fits and of a warm forecast, and Prophet's time as a ratio to ours."""
    history, situation = panel(64), context()
    origin = np.array([len(history)])
    trees = timed(lambda: LightGBMQuantiles().fit(history, situation), runs=3)
    champion = Combined(warm_up_days=(), pretrained=shipped_trees())
    some = history.select(history.pools[:PROPHET_POOLS])
    # Prophet works in a process of its own, which CPU seconds of this one do not count
    whole, prophet = _in_turn(
        lambda: champion.fit(history, situation), lambda: EVERY_STEP.fit(some, situation)
    )
    fitted = champion.fit(history, situation)
    tick = timed(lambda: fitted.predict(history, origin, situation), runs=15, warm_ups=3)
    many = panel(1000)
    crowd_fit = champion.fit(many, situation)
    crowd = timed(lambda: crowd_fit.predict(many, origin, situation), runs=5, warm_ups=1)
    scaled = prophet.wall_seconds / PROPHET_POOLS * len(history.pools)
    return [
        Row("lightgbm, fit 64 pools x 30 days", seconds(trees), "<= 10 s"),
        Row("combined, fit 64 pools x 30 days", seconds(whole), "<= 3 s"),
        Row("combined, memory of a process that fits", f"{_memory_of_a_fit():.0f} MB", "<= 500 MB"),
        Row("combined, forecast of 64 pools, warm", milliseconds(tick), "<= 15 ms"),
        Row("combined, forecast of 1,000 pools, warm", milliseconds(crowd), "<= 250 ms"),
        Row(f"Prophet, fit 64 pools ({PROPHET_POOLS} measured)", f"{scaled:.0f} s"),
        Row("Prophet / lightgbm", f"{scaled / trees.wall_seconds:.0f} x"),
        Row("Prophet / combined", f"{scaled / whole.wall_seconds:.0f} x", ">= 50 x"),
    ]


def _in_turn(*works: Callable[[], object]) -> list[Timing]:
    """Medians of works that take turns, so that a busy machine slows all of them alike."""
    turns = [[timed(work, runs=1, warm_ups=0) for work in works] for _ in range(TURNS)]
    return [
        Timing(median(one.wall_seconds for one in own), median(one.cpu_seconds for one in own))
        for own in zip(*turns, strict=True)
    ]


def _memory_of_a_fit() -> float:
    """Peak memory in MB of a fresh process that fits 64 pools and forecasts them once."""
    told = subprocess.run(
        [sys.executable, "-m", "benchmarks.training"], check=True, capture_output=True, text=True
    )
    return float(told.stdout)


def _fit_once() -> None:
    history, situation = panel(64), context()
    fitted = Combined(warm_up_days=(), pretrained=shipped_trees()).fit(history, situation)
    fitted.predict(history, np.array([len(history)]), situation)
    print(peak_memory_mb())


if __name__ == "__main__":
    _fit_once()
