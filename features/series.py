"""The demand of one pool on a regular grid, with its invariants held from the first moment.

A gap stays a gap (NaN), a level is never negative, and every row says only what is known when its
step closes. No code may fill, interpolate or drop rows of a series on the way to a model.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from features.errors import BadInput
from features.pool import Pool

if TYPE_CHECKING:
    import pandas as pd

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

COLUMNS = (
    "demand_gpus",
    "running_gpus",
    "pending_gpus",
    "queued_jobs",
    "submitted_jobs",
    "submitted_gpus",
    "demand_nodes",
    "capacity_gpus",
)
CALENDAR_BEGINS_SECONDS = 946_684_800  # 2000-01-01; earlier times count from a trace's own start


def _unknown() -> FloatArray:
    return np.empty(0)


@dataclass(frozen=True, eq=False)
class DemandSeries:
    """Demand history of one pool; row i covers [start + i*step, start + (i+1)*step).

    Every array has one entry per row, shape (rows,). NaN says 'not known'; an array left out is
    not known throughout. Levels are taken when the step closes, but for `demand_gpus`.

    Attributes:
        pool: whose demand this is.
        start_seconds: Unix time, UTC, at which row 0 begins; a multiple of the step.
        step_seconds: length of a step.
        demand_gpus: highest GPUs requested by running and pending jobs inside the step.
        running_gpus: GPUs of running jobs at the step's close.
        pending_gpus: GPUs of jobs that wait at the step's close.
        queued_jobs: jobs that wait at the step's close.
        submitted_jobs: jobs submitted inside the step.
        submitted_gpus: GPUs of the jobs submitted inside the step.
        demand_nodes: nodes that the demand needs once packed.
        capacity_gpus: allocatable GPUs of ready, schedulable nodes.
        capped: True where the demand seen may be less than the demand there was: a quota or a
            full cluster kept jobs out of sight.

    Raises:
        BadInput: at construction, when an invariant does not hold.
    """

    pool: Pool
    start_seconds: int
    step_seconds: int
    demand_gpus: FloatArray
    running_gpus: FloatArray = field(default_factory=_unknown)
    pending_gpus: FloatArray = field(default_factory=_unknown)
    queued_jobs: FloatArray = field(default_factory=_unknown)
    submitted_jobs: FloatArray = field(default_factory=_unknown)
    submitted_gpus: FloatArray = field(default_factory=_unknown)
    demand_nodes: FloatArray = field(default_factory=_unknown)
    capacity_gpus: FloatArray = field(default_factory=_unknown)
    capped: BoolArray = field(default_factory=lambda: np.empty(0, dtype=np.bool_))

    def __post_init__(self) -> None:
        if self.step_seconds <= 0:
            raise BadInput(f"{self.pool}: a step of {self.step_seconds} s; it must be positive")
        if self.start_seconds % self.step_seconds:
            raise BadInput(
                f"{self.pool}: starts at {self.start_seconds} s, which is off the grid of "
                f"{self.step_seconds} s; align it to the step"
            )
        rows = len(self.demand_gpus)
        for name in COLUMNS:
            object.__setattr__(self, name, self._checked_column(name, rows))
        capped = self.capped if len(self.capped) else np.zeros(rows, dtype=np.bool_)
        if len(capped) != rows:
            raise BadInput(f"{self.pool}: 'capped' has {len(capped)} rows, demand has {rows}")
        object.__setattr__(self, "capped", np.asarray(capped, dtype=np.bool_))

    def _checked_column(self, name: str, rows: int) -> FloatArray:
        values = np.array(getattr(self, name), dtype=np.float64)
        if values.ndim != 1:
            raise BadInput(f"{self.pool}: '{name}' has {values.ndim} dimensions; it needs one")
        if not len(values):
            values = np.full(rows, np.nan)
        if len(values) != rows:
            raise BadInput(f"{self.pool}: '{name}' has {len(values)} rows, demand has {rows}")
        wrong = np.flatnonzero(np.isinf(values) | (values < 0))
        if len(wrong):
            raise BadInput(
                f"{self.pool}: '{name}' is {values[wrong[0]]} at "
                f"{self.time_text(int(wrong[0]))}; it must be finite and not negative, or "
                "missing where it is not known"
            )
        values.flags.writeable = False
        return values

    def __len__(self) -> int:
        return len(self.demand_gpus)

    @property
    def observed(self) -> BoolArray:
        """True where the demand of the step is known; shape (rows,)."""
        return ~np.isnan(self.demand_gpus)

    @property
    def end_seconds(self) -> int:
        """When the last row closes: the earliest origin that may use the whole series."""
        return self.start_seconds + len(self) * self.step_seconds

    @property
    def times_seconds(self) -> IntArray:
        """Unix time at which each row begins; shape (rows,)."""
        return self.start_seconds + self.step_seconds * np.arange(len(self), dtype=np.int64)

    @property
    def closing_gpus(self) -> FloatArray:
        """Demand when each step closes: running + pending, or the step's highest if unknown."""
        closing = self.running_gpus + self.pending_gpus
        return np.where(np.isnan(closing), self.demand_gpus, closing)

    @property
    def has_calendar(self) -> bool:
        """Whether times are real dates, and not seconds since a trace began."""
        return self.start_seconds >= CALENDAR_BEGINS_SECONDS

    def time_text(self, row: int) -> str:
        """When a row begins, as people write it."""
        moment = datetime.fromtimestamp(self.start_seconds + row * self.step_seconds, tz=UTC)
        return moment.isoformat(timespec="seconds").replace("+00:00", "Z")

    def between(self, start_seconds: int, end_seconds: int) -> "DemandSeries":
        """The rows that lie wholly inside [start, end); empty where there are none."""
        first = max(0, -(-(start_seconds - self.start_seconds) // self.step_seconds))
        stop = max(first, (end_seconds - self.start_seconds) // self.step_seconds)
        rows = slice(first, stop)
        columns = {name: getattr(self, name)[rows] for name in (*COLUMNS, "capped")}
        return replace(
            self, start_seconds=self.start_seconds + first * self.step_seconds, **columns
        )

    def to_frame(self) -> "pd.DataFrame":
        """One row per step: `time` (UTC), the columns of this class, `observed` and `capped`."""
        import pandas as pd

        times = pd.to_datetime(self.times_seconds, unit="s", utc=True)
        columns = {name: getattr(self, name) for name in COLUMNS}
        return pd.DataFrame(
            {"time": times, **columns, "observed": self.observed, "capped": self.capped}
        )

    @classmethod
    def from_rows(
        cls,
        pool: Pool,
        step_seconds: int,
        times_seconds: IntArray,
        columns: Mapping[str, FloatArray | BoolArray],
    ) -> "DemandSeries":
        """Lay rows on the grid they span; steps without a row become gaps.

        Args:
            pool: whose rows these are.
            step_seconds: the grid's step.
            times_seconds: when each row begins, Unix time, shape (rows,), in any order.
            columns: `demand_gpus` and any other column of the class, shape (rows,) each.

        Raises:
            BadInput: a time is off the grid, or two rows stand for the same step.
        """
        times = np.asarray(times_seconds, dtype=np.int64)
        if not len(times):
            raise BadInput(f"{pool}: no rows; give at least one step of demand")
        if np.any(times % step_seconds):
            wrong = int(times[np.flatnonzero(times % step_seconds)[0]])
            raise BadInput(f"{pool}: time {wrong} is off the grid of {step_seconds} s")
        start = int(times.min())
        position = (times - start) // step_seconds
        rows = int(position.max()) + 1
        if len(np.unique(position)) != len(position):
            instants, counts = np.unique(times, return_counts=True)
            twice = datetime.fromtimestamp(int(instants[counts > 1][0]), tz=UTC)
            raise BadInput(f"{pool}: more than one row for {twice:%Y-%m-%dT%H:%M:%SZ}; keep one")
        known = {item.name for item in fields(cls)}
        laid: dict[str, FloatArray | BoolArray] = {}
        for name, values in columns.items():
            if name not in known:
                raise BadInput(f"{pool}: unknown column '{name}'")
            column: FloatArray | BoolArray
            column = np.zeros(rows, dtype=np.bool_) if name == "capped" else np.full(rows, np.nan)
            column[position] = values
            laid[name] = column
        return cls(pool=pool, start_seconds=start, step_seconds=step_seconds, **laid)  # type: ignore[arg-type]  # columns are checked above
