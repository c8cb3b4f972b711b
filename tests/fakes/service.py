"""A filled workspace and its API, without a socket: what `tidecast serve` answers from."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from fastapi import FastAPI

from features.errors import Unavailable
from features.pool import Pool, Shape
from features.series import DemandSeries
from forecaster.api.app import create_app
from forecaster.api.context import ApiContext
from forecaster.database import Database
from forecaster.database.announcements import Announcements
from forecaster.database.forecasts import Forecasts
from forecaster.database.job_runs import Claim, JobRuns, RunStanding
from forecaster.database.plans import Plans
from forecaster.database.scores import KeptScore, Scores
from forecaster.database.tokens import Tokens
from forecaster.json_shapes import PlanAnswer, PlannedLater, PlanOfPool, PlanReason
from forecaster.scopes import Scope
from forecaster.settings import Settings
from forecaster.settings.training import MlflowSettings
from forecaster.wiring import Workspace
from models.verdict import Standing, Verdict
from tests.fakes.announcements import FLOOD, HOUR
from tests.fakes.decisions import START_SECONDS, put_on_record
from tests.fakes.demand import FRAGMENT, WHOLE, tidal_series
from tests.fakes.forecasts import HORIZON, forecast_of
from tests.fakes.live_scores import score

DAYS = 3
NOW_SECONDS = START_SECONDS + DAYS * 86_400  # a day after the decisions on record
SILENT = Pool("h100", Shape.MIXED)
HOST = "127.0.0.1"


@dataclass
class Clock:
    """Unix time, as a test sets it."""

    seconds: int = NOW_SECONDS

    def __call__(self) -> int:
        """The time."""
        return self.seconds


@dataclass
class Service:
    """The API of a workspace, called as a client calls it.

    Attributes:
        context: what its requests may use.
        clock: its time.
        token: sent with every request; none if empty.
    """

    context: ApiContext
    clock: Clock
    token: str = ""
    app: FastAPI = field(init=False)

    def __post_init__(self) -> None:
        self.app = create_app(self.context)
        self._runner = asyncio.Runner()

    def close(self) -> None:
        """Let go of its event loop."""
        self._runner.close()

    def get(self, path: str, **sent: Any) -> httpx.Response:
        """Ask for something."""
        return self.request("GET", path, **sent)

    def post(self, path: str, **sent: Any) -> httpx.Response:
        """Send something new."""
        return self.request("POST", path, **sent)

    def put(self, path: str, **sent: Any) -> httpx.Response:
        """Put something in its place."""
        return self.request("PUT", path, **sent)

    def delete(self, path: str, **sent: Any) -> httpx.Response:
        """Take something away."""
        return self.request("DELETE", path, **sent)

    def request(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, **sent: Any
    ) -> httpx.Response:
        """One request, with the token if there is one."""
        bearer = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return self._runner.run(self._request(method, path, bearer | dict(headers or {}), sent))

    async def _request(
        self, method: str, path: str, headers: Mapping[str, str], sent: Mapping[str, Any]
    ) -> httpx.Response:
        transport = httpx.ASGITransport(app=self.app, client=(HOST, 50_000))
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}") as client:
            return await client.request(method, path, headers=headers, **sent)


@contextmanager
def service(directory: Path, **settings: Any) -> Iterator[Service]:
    """The API of a filled workspace.

    Args:
        directory: an empty one, for its files.
        settings: keys of the group `service`.
    """
    usual = Settings(data_directory=directory / "data", mlflow=MlflowSettings(enabled=False))
    group = usual.service.model_copy(update=settings)
    workspace = Workspace(usual.model_copy(update={"service": group}))
    fill(workspace)
    with workspace.open_database() as database:
        fill_database(database)
        clock = Clock()
        opened = Service(ApiContext(workspace, database, clock), clock)
        try:
            yield opened
        finally:
            opened.close()


def token(service: Service, *scopes: Scope) -> str:
    """A token that allows these."""
    tokens = Tokens(service.context.database)
    return tokens.create("ada", frozenset(scopes), service.clock()).secret


def fill(workspace: Workspace) -> None:
    """Three days of two pools up to now, and of one that was never observed."""
    series = [
        tidal_series(pool, DAYS, seed, start_seconds=START_SECONDS)
        for seed, pool in enumerate((WHOLE, FRAGMENT))
    ]
    never = np.full(len(series[0]), np.nan)
    unknown = DemandSeries(SILENT, START_SECONDS, series[0].step_seconds, never)
    workspace.store.import_series([*series, unknown])


def fill_database(database: Database) -> None:
    """Forecasts, policies, decisions, a plan, scores, announcements and runs."""
    put_on_record(database)
    made = {
        WHOLE: forecast_of(WHOLE, NOW_SECONDS, now_gpus=40.0),
        FRAGMENT: forecast_of(FRAGMENT, NOW_SECONDS, now_gpus=12.0),
        SILENT: Unavailable("no step of its history was observed; pull or import some"),
    }
    Forecasts(database).keep(made, HORIZON, NOW_SECONDS, NOW_SECONDS)
    Plans(database).keep(plan())
    why = ("2016 forecasts were as good as they said",)
    verdict = Verdict(WHOLE, Standing.TRUST, why, NOW_SECONDS - 86_400, NOW_SECONDS)
    Scores(database).keep(KeptScore(score(NOW_SECONDS), verdict))
    announce(database, "past", -5 * HOUR)
    announce(database, "soon", 600)
    runs = JobRuns(database)
    run = runs.begin(Claim("forecast", NOW_SECONDS, "test", NOW_SECONDS + 60), NOW_SECONDS)
    assert run is not None
    runs.end(run, RunStanding.DONE, "2 pools forecast", NOW_SECONDS + 1)


def announce(database: Database, identifier: str, from_now_seconds: int) -> None:
    """Two hours of 64 GPUs more, announced a day ago."""
    begin = NOW_SECONDS + from_now_seconds
    said = replace(
        FLOOD,
        identifier=identifier,
        start_seconds=begin,
        end_seconds=begin + 2 * HOUR,
        announced_seconds=NOW_SECONDS - 24 * HOUR,
    )
    Announcements(database).create(said)


def plan() -> PlanAnswer:
    """A plan of now that asks for two nodes more, and for two more in ten minutes."""
    later = PlannedLater(
        at="2026-03-04T00:10:00Z",
        at_seconds=NOW_SECONDS + 600,
        needed_by_seconds=NOW_SECONDS + 1_800,
        desired_nodes=9,
    )
    pool = PlanOfPool(
        pool=str(WHOLE),
        operating_mode="forecast-only",
        mode="predictive",
        current_nodes=5,
        desired_nodes=7,
        bound_by="step-limit",
        held_back=True,
        reasons=[PlanReason(code="step-limit", text="at most 2 nodes more in one cycle")],
        needed_by_seconds=NOW_SECONDS + 900,
        scheduled=later,
        node_pools=[],
        advice=[],
        seen={"demand_gpus": 40.0, "capacity_gpus": 40.0, "forecast": None},
    )
    return PlanAnswer(
        made="2026-03-04T00:00:00Z",
        made_seconds=NOW_SECONDS,
        policy_version=1,
        pools=[pool],
        shadow_policy_version=None,
        shadow_pools=[],
        warnings=[],
    )
