"""Builds the working parts from the settings: store, calendar, sources, models.

This is the one place that knows which classes stand behind the protocols. It must not do any of
their work.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from pydantic import ValidationError

from features.baselines import DAY_SECONDS
from features.calendar import CalendarSettings, ClusterCalendar
from features.errors import BadInput
from features.events import NoKnownEvents
from features.panel import DemandPanel
from features.pool import Pool
from features.sources.pod_settings import PodSettings, SharedResource
from features.sources.prometheus import PrometheusSource
from features.sources.prometheus_connection import PrometheusConnection
from features.sources.queries import CustomPool, CustomQueries, queries_for
from features.sources.query_plan import Profile, QueryProfile
from forecaster.cpu_quota import cpus_allowed
from forecaster.fan_out import FanOut
from forecaster.history import HistoryStore
from forecaster.settings import Settings, load_settings
from forecaster.settings.serving import ServiceSettings
from models.forecast import Horizon
from models.protocol import Context
from models.registry import ModelRegistry
from models.tracking import ExperimentTracker

if TYPE_CHECKING:
    from forecaster.database import Database


@dataclass(frozen=True)
class Workspace:
    """A data directory and the settings that apply to it.

    Attributes:
        settings: what the user set.
    """

    settings: Settings

    @classmethod
    def open(cls, config: Path | None) -> "Workspace":
        """The workspace of a settings file (or of the default one).

        Raises:
            BadInput: the settings are wrong.
        """
        return cls(load_settings(config))

    def listening_on(self, host: str | None, port: int | None) -> "Workspace":
        """The same with the service at another address; None leaves what the settings say.

        Raises:
            BadInput: the address may not be listened on with these settings.
        """
        given = {"host": host, "port": port}
        wanted = {name: value for name, value in given.items() if value is not None}
        try:
            service = ServiceSettings(**{**dict(self.settings.service), **wanted})
        except ValidationError as error:
            raise BadInput(
                f"--host: {error.errors()[0]['msg'].removeprefix('Value error, ')}"
            ) from None
        return Workspace(self.settings.model_copy(update={"service": service}))

    @property
    def history_directory(self) -> Path:
        """Where the history store lies."""
        return self.settings.data_directory / "history"

    @property
    def models_directory(self) -> Path:
        """Where trained models lie, a directory for each version."""
        return self.settings.data_directory / "models"

    @property
    def registry(self) -> ModelRegistry:
        """The trained versions of all models, and the champion among them."""
        return ModelRegistry(self.models_directory)

    def open_database(self) -> "Database":
        """The database of policies, audit and announcements; who opens it closes it.

        Raises:
            BadInput: its URL is wrong, or a newer Tidecast made it.
            SourceUnavailable: it is locked, full or out of reach.
        """
        from forecaster.database import Database

        group = self.settings.database
        file = self.settings.data_directory.resolve() / "tidecast.db"
        url = group.url.get_secret_value() if group.url else f"sqlite:///{file}"
        return Database.open(url, group.busy_timeout_seconds)

    @property
    def tracker(self) -> ExperimentTracker | None:
        """MLflow, or None where the user wants no record there."""
        group = self.settings.mlflow
        if not group.enabled:
            return None
        here = self.settings.data_directory.resolve()
        return ExperimentTracker(
            uri=group.tracking_uri or f"sqlite:///{here / 'mlflow.db'}",
            name=group.name,
            artifact_location=None if group.tracking_uri else (here / "mlflow-artifacts").as_uri(),
            timeout_seconds=group.timeout_seconds,
        )

    @property
    def fan_out(self) -> FanOut:
        """Where fits and replays run, and how many at a time."""
        group, cpus = self.settings.compute, cpus_allowed()
        return FanOut(group.backend, group.workers or cpus, group.scheduler, threads=cpus)

    @property
    def zone(self) -> ZoneInfo:
        """The cluster's time zone."""
        return ZoneInfo(self.settings.calendar.time_zone)

    @property
    def store(self) -> HistoryStore:
        """The history store."""
        return HistoryStore(self.history_directory, self.settings.history.keep_days)

    @property
    def calendar(self) -> ClusterCalendar:
        """The cluster's calendar."""
        group = self.settings.calendar
        return ClusterCalendar(
            CalendarSettings(
                time_zone=group.time_zone,
                countries=group.countries,
                promotion_days=group.promotion_days,
                release_dates=group.release_dates,
                multipliers=group.multipliers,
            )
        )

    def calendar_warnings(self, panel: DemandPanel) -> list[str]:
        """What the calendar will not know of the days that follow a panel."""
        return list(self.calendar.warnings(panel.end_seconds)) if panel.has_calendar else []

    @property
    def prometheus_connection(self) -> PrometheusConnection:
        """How to reach Prometheus.

        Raises:
            BadInput: no Prometheus is set.
        """
        group = self.settings.prometheus
        if group.url is None:
            raise BadInput(
                "no Prometheus is set; set prometheus.url in tidecast.yaml or the environment "
                "variable TIDECAST_PROMETHEUS__URL"
            )
        password = group.password.get_secret_value()
        return PrometheusConnection(
            url=group.url,
            token=group.token.get_secret_value(),
            basic_auth=(group.username, password) if group.username else None,
            headers=tuple((name, text.get_secret_value()) for name, text in group.headers.items()),
            ca_file=group.ca_file,
            verify_tls=group.verify_tls,
            request_timeout_seconds=group.request_timeout_seconds,
            attempts=group.attempts,
            max_series=group.max_series,
            max_bytes=group.max_bytes,
            max_points=group.max_points,
        )

    @property
    def pod_settings(self) -> PodSettings:
        """What the cluster calls its GPUs, and which pods are no demand."""
        group = self.settings.prometheus.pods
        shared = tuple(SharedResource(one.name_pattern, one.gpus) for one in group.shared_resources)
        return PodSettings(
            selector=group.selector,
            gpu_resources=group.gpu_resources,
            shared_resources=shared,
            type_labels=group.type_labels,
            dcgm_metric=group.dcgm_metric,
            default_gpu_type=group.default_gpu_type,
            gpus_per_node=group.gpus_per_node,
            default_gpus_per_node=group.default_gpus_per_node,
            node_shape_label=group.node_shape_label,
            placeholder_pods=group.placeholder_pods,
            placeholder_priority_classes=group.placeholder_priority_classes,
        )

    @property
    def queries(self) -> QueryProfile:
        """The questions of the profile that is set."""
        profile = self.settings.prometheus.profile
        if profile is not Profile.CUSTOM:
            return queries_for(profile, self.pod_settings)
        group = self.settings.prometheus.custom
        pools = tuple(
            CustomPool(
                Pool.parse(one.pool),
                one.demand_gpus,
                tuple(one.model_dump(exclude={"pool", "demand_gpus"}, exclude_none=True).items()),
            )
            for one in group.pools
        )
        return CustomQueries(pools, group.presence)

    @property
    def prometheus(self) -> PrometheusSource:
        """Prometheus as a source of history.

        Raises:
            BadInput: no Prometheus is set, or a query of the user's cannot be one.
        """
        return PrometheusSource(
            self.prometheus_connection,
            self.queries,
            known_pools=self.store.pools(),
            stale_after_seconds=self.settings.prometheus.stale_after_seconds,
        )

    def context(self, step_seconds: int) -> Context:
        """What models may know beside the history.

        Raises:
            BadInput: the peak window and the horizon do not fit the step.
        """
        forecast = self.settings.forecast
        return Context(
            horizon=Horizon.of(
                step_seconds, forecast.horizon_seconds, forecast.peak_window_seconds
            ),
            calendar=self.calendar,
            events=NoKnownEvents(),
        )

    def panel(self, pool: str | None = None, until_seconds: int | None = None) -> DemandPanel:
        """The history of one pool or of all of them, aligned.

        Args:
            pool: this pool alone.
            until_seconds: leave out what was not known by then.

        Raises:
            BadInput: the store lacks the pool, holds nothing before then, or holds pools whose
                steps differ.
        """
        pools = None if pool is None else [Pool.parse(pool)]
        return DemandPanel.of(self.store.series(pools, until_seconds=until_seconds))

    def training_panel(
        self, step_seconds: int, until_seconds: int, judge_days: float = 0.0
    ) -> DemandPanel:
        """The newest days before a moment, of every pool on the same grid, to learn from.

        Args:
            step_seconds: spacing of the series.
            until_seconds: Unix time up to which history counts.
            judge_days: more days than `forecast.train_days`, for those that are kept to judge on.

        Raises:
            BadInput: the store holds nothing of those days.
        """
        days = self.settings.forecast.train_days + judge_days
        since = until_seconds - int(days * DAY_SECONDS)
        held = self.store.series(since_seconds=since, until_seconds=until_seconds)
        return DemandPanel.of([one for one in held if one.step_seconds == step_seconds])
