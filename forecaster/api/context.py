"""What every request may use: the database's repositories, history, settings and the time.

It is made once, and hands out values that are read anew at most once a second, so that many
requests cost the database little.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import Any, TypeVar

from actuator.policy import OperatingMode, Policy
from features.errors import TidecastError
from features.pool import Pool
from forecaster.acting_wiring import connection_of
from forecaster.api.forecast_documents import ForecastDocuments, newest_forecasts
from forecaster.api.history_samples import HistorySamples
from forecaster.api.known_tokens import KnownTokens
from forecaster.api.pool_levels import LEVEL_SECONDS, PoolLevel, level_of
from forecaster.api.prom.catalogue import Catalogue
from forecaster.api.prom.told import ToldForecasts
from forecaster.api.token_review import OwnOrReviewedTokens
from forecaster.database import Database
from forecaster.database.announcements import Announcements
from forecaster.database.audit_log import AuditLog
from forecaster.database.forecasts import Forecasts, KeptForecast
from forecaster.database.idempotency import IdempotencyKeys
from forecaster.database.job_runs import JobRuns
from forecaster.database.node_events import NodeEvents
from forecaster.database.plans import Plans
from forecaster.database.policy_versions import PolicyVersions
from forecaster.database.pool_modes import DEFAULT_MODE, PoolModes
from forecaster.database.protections import Protections
from forecaster.database.refusals import NotThere
from forecaster.database.scores import KeptScore, Scores
from forecaster.database.tokens import Tokens
from forecaster.json_shapes import PlanAnswer
from forecaster.surroundings import holidays_of
from forecaster.wiring import Workspace

FRESH_SECONDS = 1
HISTORY_FRESH_SECONDS = 60
"""History grows once in some minutes, and is read from many files."""

FORECAST_SECONDS = 3_600
"""An older forecast is none any more."""

Answer = TypeVar("Answer")


@dataclass
class ApiContext:
    """What every request may use.

    Attributes:
        workspace: settings, history and registry.
        database: everything else.
        clock: Unix time.
        plan_now: plans at once, where a cycle runs beside the API.
    """

    workspace: Workspace
    database: Database
    clock: Callable[[], int]
    plan_now: Callable[[], None] = lambda: None
    _lock: Lock = field(default_factory=Lock, init=False, repr=False)
    _read: dict[str, tuple[int, Any]] = field(default_factory=dict, init=False, repr=False)

    def newest_forecasts(self) -> Mapping[Pool, KeptForecast]:
        """The newest forecast of each pool."""
        since = self.clock() - FORECAST_SECONDS
        return self._fresh("forecasts", lambda: Forecasts(self.database).newest(since))

    def newest_scores(self) -> Mapping[Pool, KeptScore]:
        """The newest score and verdict of each pool."""
        return self._fresh("scores", Scores(self.database).newest)

    def newest_plan(self) -> PlanAnswer | None:
        """The plan of the last cycle; None before the first."""
        return self._fresh("plan", Plans(self.database).newest)

    def policy(self) -> Policy | None:
        """The policy in force, without the modes that people have set since; None before any."""
        return self._fresh("policy", self._policy)

    def levels(self) -> Mapping[Pool, PoolLevel]:
        """The newest that is known of each pool of the history; pools of long ago included."""
        return self._fresh("levels", self._levels, HISTORY_FRESH_SECONDS)

    def pools(self) -> tuple[Pool, ...]:
        """Every pool of the history or the policy, in order."""
        policy = self.policy()
        planned = (Pool.parse(one.pool) for one in policy.pools) if policy else ()
        return tuple(sorted({*self.levels(), *planned}))

    def mode_of(self, pool: str) -> OperatingMode:
        """What may be done for a pool, as a person or else the policy says."""
        held = self._fresh("modes", self.modes.modes).get(pool)
        return self.policy_mode(pool) if held is None else held.mode

    def policy_mode(self, pool: str) -> OperatingMode:
        """What may be done for a pool where nobody has set it; forecasts alone without a policy."""
        policy = self.policy()
        planned = policy.pools if policy else ()
        return next((one.mode for one in planned if one.pool == pool), DEFAULT_MODE)

    def read_anew(self) -> None:
        """Read everything anew, because something was just changed."""
        with self._lock:
            self._read.clear()

    def pool_named(self, name: str) -> Pool:
        """A pool by its name.

        Raises:
            NotThere: neither the history nor the policy has it.
        """
        pool = Pool.parse(name)
        if pool not in self.pools():
            raise NotThere(
                f"neither the history nor the policy has a pool '{name[:100]}'; GET /v1/pools has "
                "all of them"
            )
        return pool

    def _policy(self) -> Policy | None:
        current = self.policies.current()
        return None if current is None else current.policy

    def _levels(self) -> Mapping[Pool, PoolLevel]:
        store, since = self.workspace.store, self.clock() - LEVEL_SECONDS
        pools = store.pools()
        try:
            recent = {one.pool: one for one in store.series(pools, since_seconds=since)}
        except TidecastError:  # a damaged file; which pools there are is known all the same
            recent = {}
        return {pool: level_of(recent.get(pool)) for pool in pools}

    def _fresh(
        self, name: str, read: Callable[[], Answer], fresh_seconds: int = FRESH_SECONDS
    ) -> Answer:
        """A value that is at most so old."""
        now_seconds = self.clock()
        with self._lock:
            held = self._read.get(name)
            if held is None or not 0 <= now_seconds - held[0] < fresh_seconds:
                held = (now_seconds, read())
                self._read[name] = held
        value: Answer = held[1]
        return value

    @cached_property
    def forecast_documents(self) -> ForecastDocuments:
        """The newest forecasts, ready to be sent."""
        return ForecastDocuments(
            lambda before: newest_forecasts(self.pools(), self.newest_forecasts(), before),
            self.clock,
        )

    @cached_property
    def announcements(self) -> Announcements:
        """Flood announcements."""
        return Announcements(self.database)

    @cached_property
    def audit(self) -> AuditLog:
        """Decisions on record."""
        return AuditLog(self.database)

    @cached_property
    def catalogue(self) -> Catalogue:
        """Forecasts, history and announcements as series."""
        return Catalogue(
            self.database,
            self.history_samples,
            ToldForecasts(self.database),
            holidays_of(self.workspace.calendar),
        )

    @cached_property
    def forecasts(self) -> Forecasts:
        """Forecasts as they were given."""
        return Forecasts(self.database)

    @cached_property
    def history_samples(self) -> HistorySamples:
        """The history, ready to be read by time."""
        return HistorySamples(self.workspace.history_directory)

    @cached_property
    def idempotency(self) -> IdempotencyKeys:
        """Requests that may come again."""
        return IdempotencyKeys(self.database)

    @cached_property
    def job_runs(self) -> JobRuns:
        """Runs of scheduled jobs."""
        return JobRuns(self.database)

    @cached_property
    def modes(self) -> PoolModes:
        """What may be done for each pool."""
        return PoolModes(self.database)

    @cached_property
    def node_events(self) -> NodeEvents:
        """Nodes that sites have lost."""
        return NodeEvents(self.database)

    @cached_property
    def policies(self) -> PolicyVersions:
        """Policy versions."""
        return PolicyVersions(self.database)

    @cached_property
    def protections(self) -> Protections:
        """Marks on nodes and pods."""
        return Protections(self.database)

    @cached_property
    def scores(self) -> Scores:
        """Scores and verdicts over time."""
        return Scores(self.database)

    @cached_property
    def known_tokens(self) -> KnownTokens:
        """Who may call."""
        own, audience = Tokens(self.database), self.workspace.settings.service.cluster_audience
        if not audience:
            return KnownTokens(own, self.clock)
        reviewed = OwnOrReviewedTokens(own, lambda: connection_of(self.workspace), audience)
        return KnownTokens(reviewed, self.clock)
