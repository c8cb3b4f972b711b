"""A served week on a made-up cluster, on a real socket: what a browser sees of Tidecast.

Time stands still at a Wednesday morning, so that every look at it is the same.
"""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn

from actuator.plan import Mode, Reason
from features.pool import Pool, Shape
from features.series import DemandSeries, FloatArray
from forecaster.api.app import create_app
from forecaster.api.context import ApiContext
from forecaster.database import Database
from forecaster.database.announcements import Announcements
from forecaster.database.audit_log import AuditLog
from forecaster.database.forecasts import Forecasts
from forecaster.database.job_runs import Claim, JobRuns, RunStanding
from forecaster.database.plans import Plans
from forecaster.database.policy_versions import Authorship, PolicyVersions
from forecaster.database.scores import KeptScore, Scores
from forecaster.json_shapes import PlanAnswer, PlannedLater, PlanOfPool, PlanReason
from forecaster.settings import Settings
from forecaster.wiring import Workspace
from models.forecast import QUANTILE_LEVELS, Forecast, Knowledge
from models.verdict import Standing, Verdict
from tests.fakes.announcements import FLOOD
from tests.fakes.decisions import DONE, START_SECONDS, document, event
from tests.fakes.demand import FRAGMENT, WHOLE
from tests.fakes.forecasts import HORIZON
from tests.fakes.live_scores import score, span

HOUR, DAY = 3_600, 86_400
DAYS = 28
NOW_SECONDS = START_SECONDS + 3 * DAY + 9 * HOUR + 1_500  # Wednesday 2026-03-04, 10:25 in Berlin
NOW = datetime.fromtimestamp(NOW_SECONDS, UTC)
HOSTILE = Pool("<img src=x onerror=alert(1)>", Shape.FRAGMENT)
NODE_GPUS, NODES = 8, 12
DECISIONS = 30


@dataclass(frozen=True)
class PageService:
    """A running service.

    Attributes:
        address: where the page is, without a slash at the end.
        context: what its requests read, for tests that change it.
        server: to be stopped within a test that wants it gone.
    """

    address: str
    context: ApiContext
    server: uvicorn.Server

    @property
    def database(self) -> Database:
        """What jobs would write to."""
        return self.context.database


@contextmanager
def page_service(
    directory: Path, pools: tuple[Pool, ...] = (WHOLE, FRAGMENT), **settings: Any
) -> Iterator[PageService]:
    """A filled workspace behind uvicorn on a free port.

    Args:
        directory: an empty one, for its files.
        pools: those that there are; the first has a plan, a score and announcements.
        settings: keys of the group `service`.
    """
    made = Settings(data_directory=directory / "data", calendar={"time_zone": "Europe/Berlin"})
    group = made.service.model_copy(update=settings)
    workspace = Workspace(made.model_copy(update={"service": group}))
    workspace.store.import_series([demand_of(pool, seed) for seed, pool in enumerate(pools)])
    with workspace.open_database() as database, socket.socket() as listening:
        _fill(database, pools)
        listening.bind(("127.0.0.1", 0))
        context = ApiContext(workspace, database, lambda: NOW_SECONDS)
        server = uvicorn.Server(uvicorn.Config(create_app(context), log_config=None))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield PageService(f"http://127.0.0.1:{listening.getsockname()[1]}", context, server)
        finally:
            server.should_exit = True
            thread.join(timeout=10)


def demand_of(pool: Pool, seed: int) -> DemandSeries:
    """Four weeks of tide with calm weekends and a gap in yesterday's night, up to now."""
    random = np.random.default_rng(seed)
    start = NOW_SECONDS - DAYS * DAY
    seconds = np.arange(start, NOW_SECONDS, HORIZON.step_seconds)
    hour, day = seconds % DAY / HOUR, (seconds // DAY + 3) % 7
    tide = 34 + 34 * np.clip(np.sin((hour - 6) / 13 * np.pi), 0, None) * np.where(day < 5, 1, 0.3)
    bursts = np.convolve(8.0 * random.poisson(0.04, len(seconds)), np.exp(-np.arange(60) / 15))
    demand = np.round(tide + bursts[: len(seconds)])
    demand[-250:-240] = np.nan
    capacity = np.full(len(seconds), float(NODES * NODE_GPUS))
    capacity[-150:-60] -= 2 * NODE_GPUS
    return DemandSeries(
        pool, start, HORIZON.step_seconds, np.minimum(demand, 92), capacity_gpus=capacity
    )


def forecast_of(pool: Pool, now_gpus: float) -> Forecast:
    """A rise over the morning whose uncertainty widens."""
    at = np.linspace(1 / HORIZON.steps, 1.0, HORIZON.steps)[:, None]
    spread = np.array([-9.0, -4.0, 0.0, 5.0, 13.0, 18.0, 30.0])
    path: FloatArray = now_gpus + 14 * at + spread * np.sqrt(at)
    return Forecast(
        pool=pool,
        origin=NOW,
        horizon=HORIZON,
        levels=QUANTILE_LEVELS,
        now_gpus=now_gpus,
        path_gpus=path,
        peak_gpus=now_gpus + 9 + np.maximum(spread, -8.0) * 0.8,
        model_name="combined",
        model_version="20260304T023000Z",
        knowledge=Knowledge(DAYS * DAY, 0.99, NOW_SECONDS, ()),
        explanation={
            "now": now_gpus,
            "seasonal": 7.0,
            "slope": 3.5,
            "calendar": 0.0,
            "events": -1.5,
        },
        sentence=f"{now_gpus:.0f} GPUs now; the time of day and what has been happening raise it.",
    )


def plan_of(pool: Pool, **changes: Any) -> PlanAnswer:
    """A plan of now that asks for a node more, and for one more in twenty minutes."""
    later = PlannedLater(
        at="2026-03-04T09:45:00Z",
        at_seconds=NOW_SECONDS + 1_200,
        needed_by_seconds=NOW_SECONDS + 2_400,
        desired_nodes=14,
    )
    planned = PlanOfPool(
        pool=str(pool),
        operating_mode="forecast-only",
        mode="predictive",
        current_nodes=12,
        desired_nodes=13,
        bound_by="need",
        held_back=False,
        reasons=[
            PlanReason(
                code="need", text="the 0.9 quantile of demand passes 80 % of 96 GPUs in 25 min"
            ),
            PlanReason(code="buffer", text="with the buffer of 1.2 it takes 13 nodes"),
        ],
        needed_by_seconds=NOW_SECONDS + 1_500,
        scheduled=later,
        node_pools=[],
        advice=[],
        seen={"demand_gpus": 70.0, "capacity_gpus": 96.0, "capacity_nodes": 12.0, "forecast": None},
    )
    return PlanAnswer(
        made="2026-03-04T09:24:40Z",
        made_seconds=NOW_SECONDS - 20,
        policy_version=1,
        pools=[planned.model_copy(update=changes)],
        shadow_policy_version=None,
        shadow_pools=[],
        warnings=[],
    )


def end_run(database: Database, standing: RunStanding, detail: str, job: str = "forecast") -> None:
    """A run of a job that ended so, five seconds ago."""
    runs = JobRuns(database)
    run = runs.begin(Claim(job, NOW_SECONDS - 5, "test", NOW_SECONDS + 60), NOW_SECONDS - 5)
    assert run is not None
    runs.end(run, standing, detail, NOW_SECONDS - 5)


def keep_verdict(database: Database, pool: Pool, standing: Standing, at_seconds: int) -> None:
    """A good score, and this standing since two days."""
    age_days = (NOW_SECONDS - at_seconds) / DAY
    own_gpus = 0.86 + 0.02 * age_days + 0.03 * np.sin(age_days * 5)
    week = span(due=2016, scored=1998, windows=333, own_gpus=own_gpus, ratio_error=0.02)
    made = replace(score(at_seconds, week=week), pool=pool)
    why = ("1998 forecasts of a week were as good as they said",)
    verdict = Verdict(pool, standing, why, at_seconds - 2 * DAY, at_seconds)
    Scores(database).keep(KeptScore(made, verdict))


def _fill(database: Database, pools: tuple[Pool, ...]) -> None:
    made = {pool: forecast_of(pool, 62.0 - 9 * place) for place, pool in enumerate(pools)}
    Forecasts(database).keep(made, HORIZON, NOW_SECONDS, NOW_SECONDS)
    ada = Authorship("ada", START_SECONDS - 60, "to begin with")
    PolicyVersions(database).apply(document(pool=str(pools[0])), ada)
    Plans(database).keep(plan_of(pools[0]))
    _decide(AuditLog(database), str(pools[0]))
    for hours in range(6 * 24, -1, -3):
        keep_verdict(database, pools[0], Standing.TRUST, NOW_SECONDS - hours * HOUR)
    flood = replace(
        FLOOD,
        identifier="sweep",
        pool=str(pools[0]),
        start_seconds=NOW_SECONDS + 2_100,
        end_seconds=NOW_SECONDS + 3 * HOUR,
        amount=32.0,
        reason="sweep before the deadline",
        announced_seconds=NOW_SECONDS - DAY,
        certainty=0.8,
    )
    Announcements(database).create(flood, "person")
    end_run(database, RunStanding.DONE, "2 pools forecast")


def _decide(log: AuditLog, pool: str) -> None:
    """Decisions of three days, each third one held."""
    held = (Reason("cooldown", "the last scale-up was 12 min ago, under 30"),)
    for number in range(DECISIONS):
        minute = 60 + number * 150
        if number % 3 == 1:
            one = event(minute, pool, version=1, mode=Mode.HELD, desired_nodes=5, targets=(),
                        reasons=held, bound_by="cooldown", needed_by_seconds=None)  # fmt: skip
        else:
            one = event(minute, pool, version=1, held_back=False)
        log.append(one)
        if one.actions:
            log.close(one.identifier, (DONE,), one.made_seconds + 5)
