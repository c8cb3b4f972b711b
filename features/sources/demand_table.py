"""Demand history from a table of demand, a Parquet or CSV file.

A long table has a row per time and pool, a wide one a row per time and a column per pool. A time
without a row, and an empty cell, stay unknown. Rows must never be averaged, shifted or filled to
make them fit a grid.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from features.errors import BadInput
from features.pool import Pool
from features.series import COLUMNS, BoolArray, DemandSeries, FloatArray, IntArray
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

ALIASES = {"t": "time", "demand": "demand_gpus"}
_HIGHEST = ("demand_gpus", "demand_nodes")
_SUMMED = ("submitted_jobs", "submitted_gpus")


@dataclass(frozen=True)
class DemandTable:
    """A file of demand; long (`time`, `pool`, `demand_gpus`) or wide (`time` and pool columns).

    `time` (or `t`) is when a step begins: an ISO time with an offset, Unix seconds, or (before
    2000) seconds since the trace began. `pool` is written `a100/whole-node`; `demand_gpus` (or
    `demand`) is the highest demand of the step. A long table may have any other column of a
    `DemandSeries`, and `capped`.

    Attributes:
        path: the file.
        pool_columns: of a wide table, the columns that are the demand of a pool each, written as
            the column's name, or `column=pool` to name the pool otherwise.
        select: only rows in which each of these columns has this value.
        since_seconds: leave out what lies before.
        until_seconds: leave out what lies at or after.
    """

    path: Path
    pool_columns: tuple[str, ...] = ()
    select: Mapping[str, str] = field(default_factory=dict)
    since_seconds: int | None = None
    until_seconds: int | None = None

    @property
    def name(self) -> str:
        """The file's name."""
        return str(self.path)

    @property
    def step_seconds(self) -> int:
        """The table's own step, its smallest spacing.

        Raises:
            BadInput: the file cannot be used, or no pool has two times.
        """
        spacings = [np.diff(rows.times_seconds) for rows in self._loaded]
        steps = [int(spacing.min()) for spacing in spacings if len(spacing)]
        if not steps:
            raise BadInput(f"{self.path}: one time alone has no spacing; give at least two rows")
        return min(steps)

    def history(self, step_seconds: int | None = None) -> SourceAnswer:
        """All that the table knows between since and until.

        Args:
            step_seconds: the table's own step (None) or a multiple of it.

        Raises:
            BadInput: the file cannot be used, or knows nothing of that time.
        """
        own = self.step_seconds
        step = step_seconds or own
        first = min(int(rows.times_seconds[0]) for rows in self._loaded) // step * step
        stop = max(int(rows.times_seconds[-1]) for rows in self._loaded) + own
        answer = self.demand(first, stop, step)
        if not answer.series:
            raise BadInput(
                f"{self.path}: holds no whole step of {step} s inside the wanted time; it runs "
                f"from {first} to {stop} (seconds); check --since and --until"
            )
        return answer

    def demand(self, start_seconds: int, end_seconds: int, step_seconds: int) -> SourceAnswer:
        """Demand of every pool in [start, end), as far as the table knows it.

        Raises:
            BadInput: the file cannot be used, or not on a grid of this step.
        """
        own = self.step_seconds
        if step_seconds % own:
            raise BadInput(
                f"{self.path}: has a step of {own} s, which cannot become one of "
                f"{step_seconds} s; take a multiple of {own}"
            )
        start = max(start_seconds, self.since_seconds or start_seconds)
        end = min(end_seconds, self.until_seconds or end_seconds)
        cut = (
            _coarser(self._laid(rows, own), step_seconds).between(start, end)
            for rows in self._loaded
        )
        return SourceAnswer(tuple(series for series in cut if len(series)))

    def _laid(self, rows: "_PoolRows", step_seconds: int) -> DemandSeries:
        off = rows.times_seconds % step_seconds != 0
        if off.any():
            raise BadInput(
                f"{self.path}: {rows.pool} has {np.count_nonzero(off)} times off the grid of "
                f"{step_seconds} s, its smallest spacing (the first is "
                f"{rows.times_seconds[off][0]}); begin steps at multiples of it"
            )
        span = int(rows.times_seconds[-1] - rows.times_seconds[0])
        refuse_too_many_rows(self.path, len(self._loaded), span, step_seconds)
        return DemandSeries.from_rows(rows.pool, step_seconds, rows.times_seconds, rows.columns)

    @cached_property
    def _loaded(self) -> tuple["_PoolRows", ...]:
        table = read_table(self.path)
        names = {old: new for old, new in ALIASES.items() if new not in table.columns}
        chosen = selected(self.path, table, self.select).rename(columns=names)
        frame, times = self._cut(chosen, self._times(chosen))
        pools = self._wide(frame, times) if self.pool_columns else self._long(frame, times)
        return tuple(sorted(pools, key=lambda rows: rows.pool))

    def _times(self, frame: "pd.DataFrame") -> IntArray:
        require_columns(self.path, frame, ("time",), "a demand table needs it (or 't')")
        seconds = moments(self.path, frame, "time")
        refuse_rows(self.path, frame, np.isnan(seconds), "no 'time'; say when the step begins")
        refuse_mixed_times(self.path, frame, seconds)
        problem = "'time' is a fraction of a second; begin steps at whole ones"
        refuse_rows(self.path, frame, seconds % 1 != 0, problem)
        return seconds.astype(np.int64)

    def _cut(self, frame: "pd.DataFrame", times: IntArray) -> tuple["pd.DataFrame", IntArray]:
        """The rows between since and until, so that what lies outside need not be sound."""
        inside = times >= (self.since_seconds or 0)
        if self.until_seconds is not None:
            inside &= times < self.until_seconds
        if not inside.any():
            raise BadInput(
                f"{self.path}: holds nothing inside the wanted time; it runs from {times.min()} "
                f"to {times.max()} (seconds); check --since and --until"
            )
        return frame[inside], times[inside]

    def _wide(self, frame: "pd.DataFrame", times: IntArray) -> Iterator["_PoolRows"]:
        self._refuse_repeated_rows(frame, times, np.zeros(len(times), dtype=np.int64))
        column_of: dict[Pool, str] = {}
        for entry in self.pool_columns:
            column, _, name = (entry, "", entry) if entry in frame else entry.rpartition("=")
            require_columns(self.path, frame, (column or entry,), "name pool columns that exist")
            pool = Pool.parse(name)
            if pool in column_of:
                raise BadInput(
                    f"{self.path}: two columns are named for the pool '{pool}'; take one"
                )
            column_of[pool] = column
        for pool, column in column_of.items():
            columns = {"demand_gpus": self._amounts(frame, column)}
            yield _PoolRows.sorted(pool, times, columns)

    def _long(self, frame: "pd.DataFrame", times: IntArray) -> Iterator["_PoolRows"]:
        why = "a demand table needs it, unless pool columns are named"
        require_columns(self.path, frame, ("pool", "demand_gpus"), why)
        names = frame["pool"].astype("string").str.strip().fillna("").to_numpy(object)
        refuse_rows(self.path, frame, names == "", "no 'pool'; name it")
        texts, pool_of = np.unique(names, return_inverse=True)
        pools = [Pool.parse(text) for text in texts]
        place = {pool: index for index, pool in enumerate(dict.fromkeys(pools))}
        pool_of = np.array([place[pool] for pool in pools])[pool_of]
        self._refuse_repeated_rows(frame, times, pool_of)
        columns = self._columns(frame)
        for pool, index in place.items():
            chosen = pool_of == index
            of_pool = {name: values[chosen] for name, values in columns.items()}
            yield _PoolRows.sorted(pool, times[chosen], of_pool)

    def _columns(self, frame: "pd.DataFrame") -> dict[str, FloatArray | BoolArray]:
        columns: dict[str, FloatArray | BoolArray] = {
            name: self._amounts(frame, name) for name in COLUMNS if name in frame.columns
        }
        if "capped" in frame.columns:
            columns["capped"] = self._capped(frame)
        return columns

    def _refuse_repeated_rows(
        self, frame: "pd.DataFrame", times: IntArray, pool_of: IntArray
    ) -> None:
        import pandas as pd

        again = pd.DataFrame({"time": times, "pool": pool_of}).duplicated().to_numpy()
        problem = "a time and pool that an earlier row has too; keep one of the two"
        refuse_rows(self.path, frame, again, problem)

    def _amounts(self, frame: "pd.DataFrame", column: str) -> FloatArray:
        amounts = numbers(self.path, frame, column)
        problem = f"'{column}' is negative; correct it, or leave it empty where it is not known"
        refuse_rows(self.path, frame, amounts < 0, problem)
        return amounts

    def _capped(self, frame: "pd.DataFrame") -> BoolArray:
        said = frame["capped"].astype("string").str.lower().fillna("false")
        wrong = ~said.isin(["true", "false", "1", "0", "1.0", "0.0"]).to_numpy(np.bool_)
        refuse_rows(self.path, frame, wrong, "'capped' is neither true nor false")
        return said.isin(["true", "1", "1.0"]).to_numpy(np.bool_)


@dataclass(frozen=True, eq=False)
class _PoolRows:
    """Rows of one pool in the order of time.

    Attributes:
        pool: whose rows.
        times_seconds: when each step begins, shape (rows,).
        columns: by the names of `DemandSeries`, shape (rows,) each.
    """

    pool: Pool
    times_seconds: IntArray
    columns: Mapping[str, FloatArray | BoolArray]

    @classmethod
    def sorted(
        cls, pool: Pool, times_seconds: IntArray, columns: Mapping[str, FloatArray | BoolArray]
    ) -> "_PoolRows":
        """The rows of a pool, put in order."""
        order = np.argsort(times_seconds)
        ordered = {name: values[order] for name, values in columns.items()}
        return cls(pool, times_seconds[order], ordered)


def _coarser(series: DemandSeries, step_seconds: int) -> DemandSeries:
    """The series on a longer step; a step is known only if all of its parts are."""
    if step_seconds == series.step_seconds:
        return series
    parts = step_seconds // series.step_seconds
    first = series.start_seconds // step_seconds * step_seconds
    before = (series.start_seconds - first) // series.step_seconds
    after = -(before + len(series)) % parts

    def parts_of(name: str) -> FloatArray:
        values = np.asarray(getattr(series, name), dtype=np.float64)
        return np.pad(values, (before, after), constant_values=np.nan).reshape(-1, parts)

    columns: dict[str, FloatArray] = {}
    for name in COLUMNS:
        if name in _HIGHEST:
            columns[name] = parts_of(name).max(axis=1)
        elif name in _SUMMED:
            columns[name] = parts_of(name).sum(axis=1)
        else:
            columns[name] = parts_of(name)[:, -1]
    capped = np.any(parts_of("capped") > 0, axis=1)
    return DemandSeries(
        pool=series.pool, start_seconds=first, step_seconds=step_seconds, capped=capped, **columns
    )
