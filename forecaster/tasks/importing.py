"""From files to the store: what kind of table each file is, and what it says.

Every file is read whole before anything is stored, so that a bad one leaves the store as it was.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from features.errors import BadInput
from features.sources.demand_table import DemandTable
from features.sources.job_table import REQUIRED_COLUMNS, JobTable
from features.sources.protocol import SourceAnswer
from features.sources.table_file import read_table
from forecaster.json_shapes import ImportAnswer, ImportedFile, ImportedPool
from forecaster.wiring import Workspace

_TIME_COLUMNS = ("time", "t")


@dataclass(frozen=True)
class ImportOptions:
    """What the user said about the files beside their names.

    Attributes:
        select: keep the rows in which a column has this value.
        since_seconds: leave out what lies before.
        until_seconds: leave out what lies at or after.
        gpu_type: GPU type of the jobs whose table does not say.
        gpu_type_column: the column that says.
        pool_columns: columns of a wide demand table that are a pool each.
        step_seconds: spacing of the series; by default the settings' step.
        node_gpus: GPUs of a full node, where the table does not say.
    """

    select: Mapping[str, str] = field(default_factory=dict)
    since_seconds: int | None = None
    until_seconds: int | None = None
    gpu_type: str = "gpu"
    gpu_type_column: str = "gpu_type"
    pool_columns: tuple[str, ...] = ()
    step_seconds: int | None = None
    node_gpus: float = 8.0


def import_files(
    workspace: Workspace, files: Sequence[Path], options: ImportOptions
) -> ImportAnswer:
    """Read every file, then store what they say.

    Raises:
        BadInput: a file cannot be used, or the store cannot be written; nothing is stored then.
    """
    step = options.step_seconds or workspace.settings.history.step_seconds
    read = [(file, *_read(file, options, step)) for file in files]
    for _, _, answer in read:
        workspace.store.import_series(answer.series)
    return ImportAnswer(files=[_said(file, kind, answer) for file, kind, answer in read])


def _read(
    file: Path, options: ImportOptions, step_seconds: int
) -> tuple[Literal["jobs", "demand"], SourceAnswer]:
    columns = set(read_table(file).columns)
    if columns.intersection(REQUIRED_COLUMNS):
        jobs = JobTable(
            file,
            select=options.select,
            gpu_type_column=options.gpu_type_column,
            default_gpu_type=options.gpu_type,
            node_gpus=options.node_gpus,
            since_seconds=options.since_seconds,
            until_seconds=options.until_seconds,
        )
        return "jobs", jobs.history(step_seconds)
    if not columns.intersection(_TIME_COLUMNS):
        raise BadInput(
            f"{file}: is neither a table of jobs, which has the columns "
            f"{', '.join(REQUIRED_COLUMNS)}, nor one of demand, which has time, pool and "
            "demand_gpus; rename its columns"
        )
    demand = DemandTable(
        file,
        pool_columns=options.pool_columns,
        select=options.select,
        since_seconds=options.since_seconds,
        until_seconds=options.until_seconds,
    )
    coarser = None if step_seconds % demand.step_seconds else step_seconds
    return "demand", demand.history(options.step_seconds or coarser)


def _said(file: Path, kind: Literal["jobs", "demand"], answer: SourceAnswer) -> ImportedFile:
    return ImportedFile(
        file=str(file),
        kind=kind,
        step_seconds=answer.series[0].step_seconds,
        pools=[
            ImportedPool(
                pool=str(series.pool),
                start_seconds=series.start_seconds,
                end_seconds=series.end_seconds,
                observed_steps=int(series.observed.sum()),
            )
            for series in sorted(answer.series, key=lambda one: one.pool)
        ],
        warnings=list(answer.warnings),
    )
