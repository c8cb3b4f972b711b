"""The traces that the peers are compared on, as the command line names them."""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np

from features.calendar import CalendarSettings, ClusterCalendar
from features.errors import BadInput
from features.events import NoKnownEvents
from features.panel import DemandPanel
from features.series import DemandSeries
from features.sources.demand_table import DemandTable
from features.sources.job_table import JobTable
from forecaster.cli.times import check_order, parse_time
from models.forecast import Horizon
from models.protocol import Context

JOB_STEP_SECONDS = 300


@dataclass(frozen=True, eq=False)
class Trace:
    """A trace on its own grid.

    Attributes:
        name: what the table calls it.
        panel: the pools that are large enough.
        context: horizon and calendar.
    """

    name: str
    panel: DemandPanel
    context: Context


def traces(chosen: argparse.Namespace) -> Iterator[Trace]:
    """Every file that was named, one after the other.

    Raises:
        BadInput: a file cannot be used, or none of its pools is large enough.
    """
    zone = ZoneInfo("UTC")
    since = parse_time(chosen.since, "--since", zone) if chosen.since else None
    until = parse_time(chosen.until, "--until", zone) if chosen.until else None
    check_order(since, until)
    for path in chosen.jobs:
        jobs = JobTable(
            path,
            gpu_type_column=chosen.gpu_type_column,
            since_seconds=since,
            until_seconds=until,
        )
        yield _trace(path, jobs.history(JOB_STEP_SECONDS).series, chosen.minimum_gpus)
    for path in chosen.demand:
        columns = tuple(name for name in chosen.pool_columns.split(",") if name)
        table = DemandTable(path, columns, since_seconds=since, until_seconds=until)
        yield _trace(path, table.history().series, chosen.minimum_gpus)


def _trace(path: Path, series: tuple[DemandSeries, ...], minimum_gpus: float) -> Trace:
    panel = DemandPanel.of(series)
    mean = np.nanmean(panel.demand_gpus, axis=1)
    large = [pool for pool, gpus in zip(panel.pools, mean, strict=True) if gpus > minimum_gpus]
    if not large:
        raise BadInput(
            f"{path}: no pool has a mean demand over {minimum_gpus:g} GPUs; lower --minimum-gpus"
        )
    calendar = ClusterCalendar(CalendarSettings(time_zone="UTC"))
    context = Context(Horizon.of(panel.step_seconds), calendar, NoKnownEvents())
    return Trace(path.stem, panel.select(large), context)
