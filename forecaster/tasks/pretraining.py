"""Grows the trees that come with the package from public job tables: `make pretrain TRACES=DIR`.

What it grows them on is written in `models/pretrained_trees/traces.yaml` and nowhere else. The
same tables give the same files, to the byte.
"""

import hashlib
import sys
from pathlib import Path

import numpy as np
import yaml
from pydantic import AwareDatetime, BaseModel, ConfigDict

from features.calendar import CalendarSettings, ClusterCalendar
from features.errors import BadInput, TidecastError
from features.events import NoKnownEvents
from features.panel import DemandPanel
from features.sources.job_table import JobTable
from models.forecast import Horizon
from models.pretrained import pretrained_trees
from models.protocol import Context
from models.shipped import SHIPPED, write_trees

LARGEST_BYTES = 1_000_000


class Trace(BaseModel):
    """One job table and the window of it to learn from."""

    model_config = ConfigDict(extra="forbid")

    file: str
    since: AwareDatetime
    until: AwareDatetime
    gpu_type_column: str = "gpu_type"
    licence: str
    credit: str


class Recipe(BaseModel):
    """All tables, and which of their pools count."""

    model_config = ConfigDict(extra="forbid")

    traces: list[Trace]
    least_mean_demand_gpus: float
    step_seconds: int


def pretrain(traces_directory: Path, target: Path = SHIPPED) -> int:
    """Grow the trees and write them; returns how many bytes they take.

    Raises:
        BadInput: a table is missing or unusable, or the trees are too large to ship.
    """
    recipe = Recipe.model_validate(yaml.safe_load((SHIPPED / "traces.yaml").read_text()))
    panels = [_panel(traces_directory / one.file, one, recipe) for one in recipe.traces]
    context = Context(
        Horizon.of(recipe.step_seconds), ClusterCalendar(CalendarSettings()), NoKnownEvents()
    )
    origin = {
        "step_seconds": recipe.step_seconds,
        "traces": [
            {
                **one.model_dump(mode="json", exclude={"gpu_type_column"}),
                "sha256": hashlib.sha256((traces_directory / one.file).read_bytes()).hexdigest(),
                "pools": len(panel.pools),
            }
            for one, panel in zip(recipe.traces, panels, strict=True)
        ],
    }
    written = write_trees(target, pretrained_trees(panels, context), origin)
    if written > LARGEST_BYTES:
        raise BadInput(f"the trees take {written} bytes; {LARGEST_BYTES} are the most to ship")
    return written


def _panel(path: Path, trace: Trace, recipe: Recipe) -> DemandPanel:
    table = JobTable(
        path,
        gpu_type_column=trace.gpu_type_column,
        since_seconds=int(trace.since.timestamp()),
        until_seconds=int(trace.until.timestamp()),
    )
    series = table.history(recipe.step_seconds).series
    large = [one for one in series if np.nanmean(one.demand_gpus) >= recipe.least_mean_demand_gpus]
    return DemandPanel.of(large)


def main() -> None:
    """The command behind `make pretrain`."""
    if len(sys.argv) != 2:  # noqa: PLR2004 - the program and its one argument
        sys.exit("usage: python -m forecaster.tasks.pretraining DIRECTORY_OF_JOB_TABLES")
    try:
        written = pretrain(Path(sys.argv[1]))
    except TidecastError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
    sys.stdout.write(f"{written} bytes in {SHIPPED}\n")


if __name__ == "__main__":
    main()
