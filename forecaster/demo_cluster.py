"""A made-up cluster for those who have none yet: the tide of a team of twenty on twelve nodes.

Small jobs from nine to eleven, sweeps in the afternoon, long multi-node jobs at night, quiet
weekends, a rush before a holiday and a queue when the cluster is full. Everything follows from a
seed and the end time; it must never read a clock, so that the demo's numbers repeat.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import numpy as np

from features.calendar import CalendarSettings, ClusterCalendar, DayFlag
from features.job_demand import Jobs, demand_of_jobs
from features.series import COLUMNS, DemandSeries
from forecaster.demo_placement import JobRequest, placed

if TYPE_CHECKING:
    import pandas as pd

DEMO_END_SECONDS = 1_776_322_800  # Thursday 2026-04-16 09:00 in Berlin, two weeks after Easter
DEMO_DAYS = 35
DEMO_SEED = 7
GPU_TYPE = "a100"
NODES = 12
NODE_GPUS = 8

_NAMES = (
    *("ada", "alan", "barbara", "claude", "donald", "edsger", "emmy", "evelyn", "grace", "hedy"),
    *("ivan", "john", "katherine", "kurt", "leslie", "margaret", "niklaus", "radia", "sophie"),
    "tim",
)
_DAY_SECONDS = 86_400
_MONDAY, _SATURDAY = 0, 5
_WARM_UP_DAYS = 3  # so that the first day begins with the jobs of the evening before
_RUSH = 1.5  # how much more is submitted on the last working day before a holiday
_HOLIDAY_JOB = 0.12  # chance that a person leaves a job for the holiday who would not otherwise
_RETURN = 1.2  # and on the first one after
_QUIET = 0.15  # and on a day off


@dataclass(frozen=True)
class _Person:
    """One user's habits.

    Attributes:
        name: as it stands in the job table.
        activity: jobs submitted, relative to the team's mean.
        arrives_hour: local hour around which the first jobs of a day come.
        sweeps_per_day: parameter sweeps started on a working day.
        night_weekday: the day of the week (Monday 0) on which a long job is left for the night.
        gang_nodes: nodes of such a job.
    """

    name: str
    activity: float
    arrives_hour: float
    sweeps_per_day: float
    night_weekday: int
    gang_nodes: int


def demo_calendar() -> CalendarSettings:
    """The demo team's zone and holidays."""
    return CalendarSettings(time_zone="Europe/Berlin", countries=("DE",))


def demo_jobs(seed: int, end_seconds: int, days: int = DEMO_DAYS) -> "pd.DataFrame":
    """The made-up cluster's job table, in order of submission.

    Args:
        seed: the same seed and end give the same table, byte for byte.
        end_seconds: Unix time at which the table ends; nothing is submitted later.
        days: days before the end that the table covers.

    Returns:
        The columns of a job table (`job_id`, `submit`, `start`, `end`, `duration`, `gpus`,
        `nodes`, `node_gpus`, `gpu_type`, `user`, `cluster`, `kind`, `status`), times in Unix
        seconds. A job that waits or runs at the end has the start and end it will have.
    """
    import pandas as pd

    rng = np.random.default_rng(seed)
    begin_seconds = end_seconds - days * _DAY_SECONDS
    requests = sorted(
        (
            request
            for request in _requests(rng, begin_seconds, end_seconds)
            if request.submit_seconds < end_seconds
        ),
        key=lambda request: request.submit_seconds,
    )
    starts = placed(requests, NODES, NODE_GPUS)
    rows = [
        {
            "job_id": f"demo-{number:05d}",
            "submit": request.submit_seconds,
            "start": start,
            "end": start + request.run_seconds,
            "duration": request.run_seconds,
            "gpus": float(request.gpus),
            "nodes": float(-(-request.gpus // NODE_GPUS)),
            "node_gpus": float(NODE_GPUS),
            "gpu_type": GPU_TYPE,
            "user": request.user,
            "cluster": "demo",
            "kind": request.kind,
            "status": "Pass",
        }
        for number, (request, start) in enumerate(zip(requests, starts, strict=True))
        if start + request.run_seconds > begin_seconds
    ]
    return pd.DataFrame(rows)


def demo_series(
    seed: int, end_seconds: int, days: int = DEMO_DAYS, step_seconds: int = 300
) -> tuple[DemandSeries, ...]:
    """Demand of the made-up cluster's two pools, with its one outage as a gap.

    Args:
        seed: the same seed and end give the same series.
        end_seconds: Unix time at which the series end, rounded down to the grid.
        days: how far they reach back.
        step_seconds: the grid's step.
    """
    table = demo_jobs(seed, end_seconds, days)
    jobs = Jobs(
        submit_seconds=table["submit"].to_numpy(dtype=np.float64),
        start_seconds=table["start"].to_numpy(dtype=np.float64),
        end_seconds=table["end"].to_numpy(dtype=np.float64),
        gpus=table["gpus"].to_numpy(dtype=np.float64),
        node_gpus=table["node_gpus"].to_numpy(dtype=np.float64),
        gpu_type=table["gpu_type"].to_numpy(dtype=np.object_),
    )
    begin_seconds = end_seconds - days * _DAY_SECONDS
    series = demand_of_jobs(jobs, begin_seconds, end_seconds, step_seconds)
    return tuple(with_outage(one, *demo_outage(end_seconds)) for one in series)


def demo_outage(end_seconds: int) -> tuple[int, int]:
    """Start and end of the demo's one scrape outage: three working hours, 16 days before the end.

    The span lies on the grid of any step that divides an hour.
    """
    start = (end_seconds - 16 * _DAY_SECONDS) // 3600 * 3600 + 2 * 3600
    return start, start + 3 * 3600


def with_outage(series: DemandSeries, start_seconds: int, end_seconds: int) -> DemandSeries:
    """The same series with every row that touches [start, end) unknown."""
    times = series.times_seconds
    lost = (times + series.step_seconds > start_seconds) & (times < end_seconds)
    columns: dict[str, Any] = {
        name: np.where(lost, np.nan, getattr(series, name)) for name in COLUMNS
    }
    return replace(series, **columns, capped=series.capped & ~lost)


def _team(rng: np.random.Generator) -> list[_Person]:
    return [
        _Person(
            name=name,
            activity=float(rng.uniform(0.6, 1.4)),
            arrives_hour=float(rng.normal(9.4, 0.35)),
            sweeps_per_day=float(rng.choice([0.15, 0.4, 0.65])),
            night_weekday=index // 4 % _SATURDAY,
            gang_nodes=(1, 1, 2, 2, 3)[index % 5],
        )
        for index, name in enumerate(_NAMES)
    ]


def _requests(
    rng: np.random.Generator, begin_seconds: int, end_seconds: int
) -> Iterator[JobRequest]:
    """Everything the team submits, day by day and person by person."""
    calendar = ClusterCalendar(demo_calendar())
    team = _team(rng)
    clock = ZoneInfo(calendar.settings.time_zone)
    first = datetime.fromtimestamp(begin_seconds, tz=UTC).astimezone(clock).date()
    last = datetime.fromtimestamp(end_seconds, tz=UTC).astimezone(clock).date()
    first -= timedelta(days=_WARM_UP_DAYS)
    for index in range((last - first).days + 1):
        day = _Day.of(first + timedelta(days=index), calendar)
        yield from _scheduled_jobs(rng, day)
        for person in team:
            yield from _small_jobs(rng, day, person)
            yield from _trials(rng, day, person)
            yield from _sweeps(rng, day, person)
            yield from _night_jobs(rng, day, person)


@dataclass(frozen=True)
class _Day:
    """One local day.

    Attributes:
        midnight_seconds: Unix time at which it begins.
        intensity: how much is submitted, relative to a plain working day.
        before_break: whether a holiday follows, for which long jobs are left.
        weekday: day of the week, Monday 0.
    """

    midnight_seconds: int
    intensity: float
    before_break: bool
    weekday: int

    @classmethod
    def of(cls, day: date, calendar: ClusterCalendar) -> "_Day":
        midnight = datetime(
            day.year, day.month, day.day, tzinfo=ZoneInfo(calendar.settings.time_zone)
        )
        noon = np.array([int(midnight.timestamp()) + _DAY_SECONDS // 2])
        flags = calendar.flags(noon)
        before = bool(flags[DayFlag.BEFORE_HOLIDAY][0])
        intensity = 1.0 if calendar.is_working_day(noon)[0] else _QUIET
        if before:
            intensity = _RUSH
        elif flags[DayFlag.AFTER_HOLIDAY][0]:
            intensity = _RETURN
        return cls(int(midnight.timestamp()), intensity, before, day.weekday())

    def at(self, hour: float) -> int:
        """Unix time of an hour after local midnight."""
        return self.midnight_seconds + round(hour * 3600)


def _run_seconds(rng: np.random.Generator, median_minutes: float, spread: float) -> int:
    """A log-normal run time of at least a minute, the shape job logs of real clusters have."""
    return max(60, round(60 * median_minutes * float(rng.lognormal(0.0, spread))))


def _scheduled_jobs(rng: np.random.Generator, day: _Day) -> Iterator[JobRequest]:
    """What cron starts: an evaluation at night, a retraining at noon, one job for the week."""
    plan = [(2.0, 16, 100, "evaluation"), (12.5, 8, 75, "retraining")]
    if day.weekday == _MONDAY:
        plan.append((8.5, 16, 105 * 60, "pretraining"))
    for hour, gpus, minutes, kind in plan:
        submit = day.at(hour) + int(rng.integers(0, 90))
        yield JobRequest(submit, gpus, _run_seconds(rng, minutes, 0.1), "cron", kind)


def _trials(rng: np.random.Generator, day: _Day, person: _Person) -> Iterator[JobRequest]:
    """A full node for an hour or two, at any time of the day."""
    for _ in range(rng.poisson(0.15 * person.activity * day.intensity)):
        submit = day.at(float(rng.uniform(9.5, 17.5)))
        yield JobRequest(submit, NODE_GPUS, _run_seconds(rng, 80, 0.6), person.name, "trial")


def _small_jobs(rng: np.random.Generator, day: _Day, person: _Person) -> Iterator[JobRequest]:
    """Notebooks and first tries: most when the day begins, a few until the evening."""
    rate = day.intensity * person.activity
    early = rng.normal(person.arrives_hour + 0.5, 0.5, rng.poisson(2.6 * rate))
    later = rng.uniform(11.0, 18.5, rng.poisson(2.6 * rate))
    for hour in np.concatenate([early, later]):
        submit = day.at(float(hour))
        gpus = int(rng.choice([1, 2, 4], p=[0.5, 0.38, 0.12]))
        yield JobRequest(submit, gpus, _run_seconds(rng, 60, 0.7), person.name, "small")


def _sweeps(rng: np.random.Generator, day: _Day, person: _Person) -> Iterator[JobRequest]:
    """Many equal jobs at once, in the afternoon."""
    for _ in range(rng.poisson(person.sweeps_per_day * day.intensity)):
        submit = day.at(float(rng.triangular(12.5, 14.0, 17.5)))
        gpus = int(rng.choice([1, 2]))
        for _ in range(int(rng.integers(4, 9))):
            submit += int(rng.integers(2, 40))
            yield JobRequest(submit, gpus, _run_seconds(rng, 75, 0.35), person.name, "sweep")


def _night_jobs(rng: np.random.Generator, day: _Day, person: _Person) -> Iterator[JobRequest]:
    """Long trainings on whole nodes, left running when people go home."""
    habit = 0.85 if day.weekday == person.night_weekday else 0.02
    chance = habit * min(1.0, day.intensity) + (_HOLIDAY_JOB if day.before_break else 0.0)
    if rng.random() < chance:
        submit = day.at(float(rng.triangular(17.0, 18.5, 21.0)))
        hours = 20.0 if day.before_break else 9.0
        gpus = person.gang_nodes * NODE_GPUS
        yield JobRequest(submit, gpus, _run_seconds(rng, 60 * hours, 0.2), person.name, "training")
