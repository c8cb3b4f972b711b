"""How far trees travel: grown on all clusters but one, used on that one from its second day.

    python -m benchmarks.travel DIRECTORY_OF_TRACES

The traces are those of `models/pretrained_trees/traces.yaml`, here with their whole usable windows;
each cluster is replayed in its own days 2 to 8, before it has trees of its own.
"""

import sys
from pathlib import Path

import numpy as np

from benchmarks.accuracy import LEAST_MEAN_GPUS, SHOWN
from features.calendar import CalendarSettings, ClusterCalendar
from features.events import NoKnownEvents
from features.panel import DemandPanel
from features.series import DemandSeries
from features.sources.job_table import JobTable
from models.backtest import backtest, scores
from models.combined import Combined
from models.forecast import Horizon
from models.pretrained import pretrained_trees
from models.protocol import Context
from models.scores import PoolScore

STEP_SECONDS = 300
DAYS = 8
WINDOWS = {
    "jobs_philly.parquet": (1_506_988_800, 1_511_049_600, "gpu_type"),
    "jobs_itp.parquet": (1_615_420_800, 1_619_395_200, "cluster"),
}
"""First and last second of each usable window, and the column that tells clusters apart."""


def main() -> None:
    """Print a row per pool, and their geometric mean."""
    clusters = _clusters(Path(sys.argv[1]))
    context = Context(
        Horizon.of(STEP_SECONDS), ClusterCalendar(CalendarSettings()), NoKnownEvents()
    )
    made: list[PoolScore] = []
    head = " | ".join(f"{level:g}" for level in SHOWN)
    print(f"| pool | {head} | covered 0.9 |\n| --- |" + " --- |" * (len(SHOWN) + 1))
    for name, panel in clusters.items():
        trees = pretrained_trees([one for other, one in clusters.items() if other != name], context)
        young = panel.before(min(len(panel), DAYS * 86_400 // STEP_SECONDS))
        result = backtest(young, [Combined(pretrained=trees)], context, DAYS - 1)
        own = [one for one in scores(result) if one.model == "combined"]
        made += own
        for one in own:
            ratios = " | ".join(f"{one.pinball_ratio[level]:.3f}" for level in SHOWN)
            print(f"| {one.pool} | {ratios} | {one.coverage[0.9]:.3f} |", flush=True)
    means = " | ".join(
        f"{np.exp(np.nanmean([np.log(one.pinball_ratio[level]) for one in made])):.3f}"
        for level in SHOWN
    )
    print(f"| **geometric mean** | {means} | |")


def _clusters(directory: Path) -> dict[str, DemandPanel]:
    found: dict[str, list[DemandSeries]] = {}
    for file, (since, until, column) in WINDOWS.items():
        table = JobTable(
            directory / file, gpu_type_column=column, since_seconds=since, until_seconds=until
        )
        for one in table.history(STEP_SECONDS).series:
            begun = one.between(_first_demand(one), one.end_seconds)
            if np.nanmean(begun.demand_gpus) > LEAST_MEAN_GPUS:
                found.setdefault(f"{file} {one.pool.gpu_type}", []).append(begun)
    return {name: DemandPanel.of(series) for name, series in found.items()}


def _first_demand(one: DemandSeries) -> int:
    """A cluster's second day is counted from its first job."""
    return int(one.times_seconds[int(np.argmax(one.demand_gpus > 0))])


if __name__ == "__main__":
    main()
