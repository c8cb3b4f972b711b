"""The history as arrays that are ready to be read by time, kept as long as its files stay the same.

A pull replaces the newest file of each pool, so that little is read again. A damaged file is named
and left out; what the others hold is known all the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

import numpy as np

from features.errors import BadInput
from features.pool import Pool
from features.series import DemandSeries, FloatArray
from forecaster.history.partitions import Partition, partitions_in, read_partition

COLUMNS = ("demand_gpus", "capacity_gpus", "pending_gpus", "queued_jobs")
"""What is kept of the history; all else can be read from the store."""

_Stamp = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class PoolHistory:
    """One pool's history; the value of a step stands at the moment at which the step closes.

    Attributes:
        step_seconds: spacing of the newest steps.
        closes_seconds: Unix time at which each step closes, ascending, shape (steps,).
        columns: values by the names of `COLUMNS`, NaN where not known, shape (steps,) each.
    """

    step_seconds: int
    closes_seconds: FloatArray
    columns: Mapping[str, FloatArray]

    @property
    def observed_seconds(self) -> int | None:
        """When the newest step closed whose demand is known; None where none is."""
        known = np.flatnonzero(~np.isnan(self.columns["demand_gpus"]))
        return int(self.closes_seconds[known[-1]]) if len(known) else None


@dataclass(frozen=True)
class History:
    """What the store holds.

    Attributes:
        pools: by pool.
        problems: files that are damaged and what to do about each, a line each.
    """

    pools: Mapping[Pool, PoolHistory]
    problems: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _File:
    """One file as it was read."""

    stamp: _Stamp
    pool: Pool | None
    history: PoolHistory | None
    problem: str | None


class HistorySamples:
    """Reads the store's files, each once for every time it is written."""

    def __init__(self, directory: Path) -> None:
        """Nothing is read yet.

        Args:
            directory: the store's.
        """
        self._directory = directory
        self._lock = Lock()
        self._files: dict[Path, _File] = {}
        self._joined: dict[Pool, tuple[tuple[_Stamp, ...], PoolHistory]] = {}
        self.reads = 0
        """Files that had to be read since the start."""

    @property
    def files(self) -> int:
        """Files that are held now."""
        return len(self._files)

    def read(self) -> History:
        """The history as the files have it now."""
        with self._lock:
            found = [
                self._file(one) for some in partitions_in(self._directory).values() for one in some
            ]
            present = [one for one in found if one is not None]
            self._files = dict(present)
            return self._history([file for _, file in present])

    def _file(self, partition: Partition) -> tuple[Path, _File] | None:
        """A file, read again if it is another than before; None if it has just gone."""
        try:
            status = partition.path.stat()
        except OSError:
            return None
        stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        held = self._files.get(partition.path)
        if held is not None and held.stamp == stamp:
            return partition.path, held
        self.reads += 1
        try:
            series = read_partition(partition)
        except BadInput as error:
            return partition.path, _File(stamp, None, None, str(error))
        return partition.path, _File(stamp, series.pool, _history_of(series), None)

    def _history(self, files: Sequence[_File]) -> History:
        by_pool: dict[Pool, list[_File]] = {}
        for file in files:
            if file.pool is not None:
                by_pool.setdefault(file.pool, []).append(file)
        self._joined = {pool: self._joined_up(pool, some) for pool, some in by_pool.items()}
        return History(
            {pool: joined for pool, (_, joined) in sorted(self._joined.items())},
            tuple(file.problem for file in files if file.problem is not None),
        )

    def _joined_up(
        self, pool: Pool, files: Sequence[_File]
    ) -> tuple[tuple[_Stamp, ...], PoolHistory]:
        stamps = tuple(file.stamp for file in files)
        held = self._joined.get(pool)
        if held is not None and held[0] == stamps:
            return held
        parts = [file.history for file in files if file.history is not None]
        columns = {name: np.concatenate([part.columns[name] for part in parts]) for name in COLUMNS}
        closes = np.concatenate([part.closes_seconds for part in parts])
        return stamps, PoolHistory(parts[-1].step_seconds, closes, columns)


def _history_of(series: DemandSeries) -> PoolHistory:
    closes = (series.times_seconds + series.step_seconds).astype(np.float64)
    columns = {name: getattr(series, name) for name in COLUMNS}
    return PoolHistory(series.step_seconds, closes, columns)
