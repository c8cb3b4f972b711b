"""Demand history from a log of jobs, a Parquet or CSV file with one job per row.

Such a log is complete for the time from its first submission to its last end: where it names no
job there was no demand. Beyond that time nothing is known. It must never quietly drop a job: what
cannot be counted is refused, and what is assumed is told in the warnings.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from features.errors import BadInput
from features.job_demand import Jobs, demand_of_jobs, starts_of_jobs
from features.series import FloatArray
from features.sources.protocol import SourceAnswer
from features.sources.table_file import (
    moments,
    numbers,
    read_table,
    refuse_mixed_times,
    refuse_rows,
    refuse_too_many_rows,
    require_columns,
    selected,
)

if TYPE_CHECKING:
    import pandas as pd

REQUIRED_COLUMNS = ("submit", "end", "gpus")


@dataclass(frozen=True)
class JobTable:
    """A file of jobs; columns `submit`, `end` and `gpus`, and where known others.

    `submit`, `start` and `end` are ISO times with an offset, Unix seconds, or (before 2000) seconds
    since the trace began. `start` is when a job began to run, `duration` its seconds of running:
    without a start a job counts as running from its submission; without a duration as well, in a
    table that has one of the two columns, it never ran and waits until its end. `gpus` are those of
    the whole job, below 1 for a shared GPU. `node_gpus` are those of a full node, `gpu_type` names
    the pool, and `job_id` must not come twice.

    Attributes:
        path: the file.
        select: only rows in which each of these columns has this value.
        gpu_type_column: which column names the GPU type.
        default_gpu_type: the GPU type where that column says nothing.
        node_gpus: GPUs of a full node where the table does not say.
        since_seconds: leave out what lies before; jobs that began earlier still count after it.
        until_seconds: leave out what lies at or after.
    """

    path: Path
    select: Mapping[str, str] = field(default_factory=dict)
    gpu_type_column: str = "gpu_type"
    default_gpu_type: str = "gpu"
    node_gpus: float = 8.0
    since_seconds: int | None = None
    until_seconds: int | None = None

    @property
    def name(self) -> str:
        """The file's name."""
        return str(self.path)

    def history(self, step_seconds: int) -> SourceAnswer:
        """All that the table knows between since and until, on a grid of this step.

        Raises:
            BadInput: the file cannot be used, or knows nothing of that time.
        """
        jobs, _ = self._loaded
        first = int(jobs.submit_seconds.min() // step_seconds) * step_seconds
        stop = int(-(-jobs.end_seconds.max() // step_seconds)) * step_seconds
        answer = self.demand(first, stop, step_seconds)
        if not answer.series:
            raise BadInput(
                f"{self.path}: holds no whole step of {step_seconds} s inside the wanted time; it "
                f"runs from {first} to {stop} (seconds); check --since and --until"
            )
        return answer

    def demand(self, start_seconds: int, end_seconds: int, step_seconds: int) -> SourceAnswer:
        """Demand of every pool in [start, end), as far as the table knows it.

        Raises:
            BadInput: the file cannot be used.
        """
        jobs, warnings = self._loaded
        known_from = int(jobs.submit_seconds.min() // step_seconds) * step_seconds
        known_until = int(-(-jobs.end_seconds.max() // step_seconds)) * step_seconds
        first = max(start_seconds, known_from, self.since_seconds or 0)
        stop = min(end_seconds, known_until, *_given(self.until_seconds))
        pools = 2 * len(np.unique(jobs.gpu_type))
        refuse_too_many_rows(self.path, pools, stop - first, step_seconds)
        return SourceAnswer(demand_of_jobs(jobs, first, stop, step_seconds), warnings)

    @cached_property
    def _loaded(self) -> tuple[Jobs, tuple[str, ...]]:
        table = read_table(self.path)
        require_columns(self.path, table, REQUIRED_COLUMNS, "a job table needs them")
        frame = selected(self.path, table, self.select)
        self._refuse_repeated_jobs(frame)
        gpus = self._gpus(frame)
        asks = gpus > 0
        if not asks.any():
            raise BadInput(f"{self.path}: no job asks for a GPU; check the column 'gpus'")
        submit, start, end, warnings = self._times(frame[asks])
        jobs = Jobs(
            submit_seconds=submit,
            start_seconds=start,
            end_seconds=end,
            gpus=gpus[asks],
            node_gpus=self._node_gpus(frame[asks]),
            gpu_type=self._gpu_type(frame[asks]),
        )
        if not asks.all():
            warnings += (f"{np.count_nonzero(~asks)} jobs ask for no GPU; they are left out",)
        return jobs, warnings

    def _refuse_repeated_jobs(self, frame: "pd.DataFrame") -> None:
        if "job_id" in frame.columns:
            again = frame["job_id"].duplicated() & frame["job_id"].notna()
            problem = "a 'job_id' that stands in an earlier row too; keep one row per job"
            refuse_rows(self.path, frame, again.to_numpy(np.bool_), problem)

    def _gpus(self, frame: "pd.DataFrame") -> FloatArray:
        gpus = numbers(self.path, frame, "gpus")
        refuse_rows(
            self.path, frame, np.isnan(gpus), "no 'gpus'; give the job's GPUs, or leave it out"
        )
        refuse_rows(self.path, frame, gpus < 0, "'gpus' is negative; correct it")
        return gpus

    def _times(
        self, frame: "pd.DataFrame"
    ) -> tuple[FloatArray, FloatArray, FloatArray, tuple[str, ...]]:
        """When each job was submitted, started and ended, and what was assumed."""
        submit, end = (moments(self.path, frame, name) for name in ("submit", "end"))
        unknown = np.full(len(frame), np.nan)
        start = moments(self.path, frame, "start") if "start" in frame.columns else unknown
        for name, values in (("submit", submit), ("end", end)):
            problem = f"no '{name}'; a job that still runs ends when the table was made"
            refuse_rows(self.path, frame, np.isnan(values), problem)
        refuse_mixed_times(self.path, frame, submit, np.where(np.isnan(start), submit, start), end)
        problem = "'end' lies before 'submit' or 'start'; correct it"
        refuse_rows(self.path, frame, end < np.fmax(submit, start), problem)
        if "duration" in frame.columns:
            duration = numbers(self.path, frame, "duration")
        else:
            duration = unknown if "start" in frame.columns else end - submit
        not_said = int(np.count_nonzero(np.isnan(start) & ~np.isnan(duration)))
        warnings: tuple[str, ...] = ()
        if not_said:
            warnings = (
                f"{not_said} of {len(frame)} jobs have no start and count as running from their "
                "submission; the pending demand is a lower bound",
            )
        return submit, starts_of_jobs(submit, start, end, duration), end, warnings

    def _node_gpus(self, frame: "pd.DataFrame") -> FloatArray:
        if "node_gpus" not in frame.columns:
            return np.full(len(frame), float(self.node_gpus))
        said = numbers(self.path, frame, "node_gpus")
        refuse_rows(
            self.path, frame, said <= 0, "'node_gpus' is not positive; leave it empty if unknown"
        )
        return np.where(np.isnan(said), float(self.node_gpus), said)

    def _gpu_type(self, frame: "pd.DataFrame") -> NDArray[np.object_]:
        if self.gpu_type_column not in frame.columns:
            if self.gpu_type_column != "gpu_type":
                why = "name pools by a column that exists"
                require_columns(self.path, frame, (self.gpu_type_column,), why)
            return np.full(len(frame), self.default_gpu_type, dtype=object)
        named = frame[self.gpu_type_column].astype("string").str.strip()
        return named.replace("", None).fillna(self.default_gpu_type).to_numpy(object)


def _given(seconds: int | None) -> tuple[int, ...]:
    return () if seconds is None else (seconds,)
