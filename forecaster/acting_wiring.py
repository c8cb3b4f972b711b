"""Builds what a cycle talks to, from the settings: the wiring of the half that acts.

It must not do any of their work, and it opens nothing that the purpose at hand does not need: a
plan and a dry run write nowhere.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from actuator.audit import AuditEvent
from actuator.backends.back_end import BackEnd, Outcome
from actuator.backends.checkpoint_webhook import CheckpointWebhook
from actuator.backends.dry_run import DryRun
from actuator.backends.eviction import Drains
from actuator.backends.table import BACK_ENDS, BackEndsOnDemand
from actuator.backends.warm_up_jobs import WarmUpJobs, job_template
from actuator.cluster.access import ClusterAccess
from actuator.cluster.file import FileCluster
from actuator.cluster.protocol import Cluster
from actuator.cluster.read_settings import ReadSettings
from actuator.cluster.utilisation import ClusterWithUtilisation
from actuator.drain import DrainSettings
from actuator.policy import OperatingMode, Policy
from actuator.state import Protection
from actuator.warm_up import WarmUpSettings
from features.errors import BadInput
from features.sources.prometheus_http import PrometheusServer
from forecaster.announcements.board import AnnouncementBoard
from forecaster.cycle import AuditRecord, KeptState, NodeCarer, Parts
from forecaster.database import Database
from forecaster.database.announcements import Announcements
from forecaster.database.audit_log import AuditLog
from forecaster.database.cycle_memory import CycleMemory
from forecaster.database.kept_state import KeptInDatabase
from forecaster.database.node_events import NodeEvents
from forecaster.database.policy_versions import PolicyVersions
from forecaster.database.pool_modes import PoolMode, PoolModes
from forecaster.database.protections import ProtectedKind, Protections
from forecaster.kept import KeptInMemory
from forecaster.node_care import NodeCare
from forecaster.overlaid_cluster import OWN_MARK, OverlaidCluster, Overlay
from forecaster.surroundings import ForecastSource, ServiceSurroundings, holidays_of
from forecaster.wiring import Workspace

if TYPE_CHECKING:
    from actuator.cluster.connection import KubernetesConnection


SYNC_PAUSE_SECONDS = 0.1


class Purpose(StrEnum):
    """What cycles are run for."""

    PLAN = "plan"
    DRY_RUN = "dry-run"
    ACT = "act"


class Unrecorded:
    """Takes the place of the audit where nothing is acted on: every event is new, none is kept."""

    def append_all(self, events: Sequence[AuditEvent]) -> tuple[AuditEvent, ...]:
        """The events as they are."""
        return tuple(events)

    def close_all(
        self, outcomes: Mapping[str, tuple[Outcome, ...]], now_seconds: int
    ) -> tuple[str, ...]:
        """Nothing is kept, so nothing is closed."""
        return tuple(outcomes)

    def abandon(self, identifier: str, now_seconds: int) -> bool:
        """Nothing is open."""
        return False

    def open_events(self) -> tuple[AuditEvent, ...]:
        """Nothing is open."""
        return ()


@dataclass(frozen=True)
class ActingWorkspace:
    """A workspace whose cluster is planned for or acted on.

    Attributes:
        workspace: settings and data directory.
        database: policies, audit and memory.
        source: forecasts and what they are worth.
        purpose: what cycles are run for.
        state_file: the cluster as a file has it, instead of its API.
    """

    workspace: Workspace
    database: Database
    source: ForecastSource
    purpose: Purpose
    state_file: Path | None = None

    @contextmanager
    def parts(self) -> Iterator[Parts]:
        """What a cycle talks to, as long as it is needed.

        Raises:
            BadInput: no policy is in force, or the cluster cannot be read as it is configured.
            SourceUnavailable: the database does not answer.
        """
        policies = self._policies()
        with ExitStack() as opened:
            yield Parts(
                cluster=opened.enter_context(self._cluster(policies[0])),
                policies=self._policies,
                surroundings=self._surroundings(),
                kept=self._kept(),
                record=self._record,
                back_ends=self._back_ends(),
                node_care=self._node_care(),
            )

    def _policies(self) -> tuple[Policy, ...]:
        """The live policy, and the one that is tried beside it, as they are now."""
        versions = PolicyVersions(self.database)
        current, shadow = versions.current(), versions.shadow()
        if current is None:
            raise BadInput(
                "no policy is in force yet; write one (examples/policy.yaml shows how) and put it "
                "into force with 'tidecast policy apply FILE'"
            )
        live = _with_modes(current.policy, PoolModes(self.database).modes())
        if self.purpose is Purpose.DRY_RUN:
            live = _as_if_acting(live)
        return (live,) if shadow is None else (live, shadow.policy)

    @contextmanager
    def _cluster(self, policy: Policy) -> Iterator[Cluster]:
        group = self.workspace.settings.cluster
        if self.state_file is not None:  # a decision made again takes nothing from today
            yield FileCluster(self.state_file)
            return
        if group.state_file is not None:
            yield OverlaidCluster(FileCluster(group.state_file), self._overlay)
            return
        from actuator.cluster.kubernetes import KubernetesCluster

        with KubernetesCluster(self._connection, read_settings_of(self.workspace)) as cluster:
            cluster.expect({one.name: {} for pool in policy.pools for one in pool.node_pools})
            _wait_until_synced(cluster, group.sync_timeout_seconds)
            yield OverlaidCluster(self._with_utilisation(cluster), self._overlay)

    @cached_property
    def _connection(self) -> "KubernetesConnection":
        """The API server, one connection for reading and writing, for the sake of its pace."""
        return connection_of(self.workspace)

    def _with_utilisation(self, cluster: Cluster) -> Cluster:
        """The cluster with how busy its nodes are, where a Prometheus may know."""
        settings = self.workspace.settings
        query = settings.cluster.utilisation_query
        if settings.prometheus.url is None or not query:
            return cluster
        server = PrometheusServer(self.workspace.prometheus_connection)
        return ClusterWithUtilisation(cluster, server, query)

    def _overlay(self, now_seconds: int) -> Overlay:
        """What people and sites say beside the API."""
        marks: dict[ProtectedKind, dict[str, Protection]] = {kind: {} for kind in ProtectedKind}
        for one in Protections(self.database).active(now_seconds):
            marks[one.kind][one.name] = Protection(
                OWN_MARK, one.owner, one.reason, one.expires_seconds
            )
        return Overlay(
            nodes=marks[ProtectedKind.NODE],
            pods=marks[ProtectedKind.POD],
            lost_seconds=NodeEvents(self.database).lost(now_seconds),
        )

    def _surroundings(self) -> ServiceSurroundings:
        return ServiceSurroundings(
            source=self.source,
            board=lambda now: board_of(self.workspace, self.database, now),
            zone=self.workspace.zone,
            is_holiday=holidays_of(self.workspace.calendar),
        )

    def _kept(self) -> KeptState:
        """What the last real cycle kept; only a real cycle keeps anything there."""
        kept = KeptInDatabase(CycleMemory(self.database))
        return kept if self.purpose is Purpose.ACT else KeptInMemory(kept.load())

    @property
    def _record(self) -> AuditRecord:
        return AuditLog(self.database) if self.purpose is Purpose.ACT else Unrecorded()

    def _back_ends(self) -> Mapping[str, BackEnd]:
        if self.purpose is Purpose.ACT:
            return BackEndsOnDemand(lambda: self._connection)
        return dict.fromkeys(BACK_ENDS, DryRun())

    def _node_care(self) -> NodeCarer:
        """Warm-up and drain, where a cluster is really acted on."""
        group = self.workspace.settings.cluster
        on_file = self.state_file is not None or group.state_file is not None
        if self.purpose is not Purpose.ACT or on_file:
            return lambda *_: ()
        drain = group.drain
        settings = DrainSettings(
            allowed=drain.allowed,
            wait_seconds=drain.wait_seconds,
            asked_wait_seconds=drain.asked_wait_seconds,
            margin_factor=drain.margin_factor,
            horizon_seconds=drain.horizon_seconds,
        )
        return NodeCare(self._warm_ups(), self._drains(settings), settings, self._record)

    def _warm_ups(self) -> WarmUpJobs | None:
        group = self.workspace.settings.cluster
        if group.warm_up.job_file is None:
            return None
        try:
            template = job_template(group.warm_up.job_file.read_text(encoding="utf-8"))
        except OSError as error:
            raise BadInput(
                f"{group.warm_up.job_file}: the warm-up Job cannot be read "
                f"({error.strerror or error}); correct cluster.warm_up.job_file"
            ) from error
        settings = WarmUpSettings(group.warm_up.timeout_seconds, group.warm_up.on_failure)
        return WarmUpJobs(self._connection, template, settings, group.namespace)

    def _drains(self, settings: DrainSettings) -> Drains | None:
        if not settings.allowed:
            return None
        url = self.workspace.settings.cluster.drain.checkpoint_webhook
        return Drains(self._connection, CheckpointWebhook(url) if url else None)


def board_of(workspace: Workspace, database: Database, now_seconds: int) -> AnnouncementBoard:
    """What is announced, as it is known at a moment."""
    said = Announcements(database).active(now_seconds)
    return AnnouncementBoard(said, holidays_of(workspace.calendar))


def connection_of(workspace: Workspace) -> "KubernetesConnection":
    """The cluster's API server.

    Raises:
        BadInput: no way to a server is configured.
    """
    from actuator.cluster.connection import KubernetesConnection

    group = workspace.settings.cluster
    return KubernetesConnection(
        ClusterAccess(
            url=group.url,
            token=group.token.get_secret_value(),
            kubeconfig=group.kubeconfig,
            context=group.context,
            request_timeout_seconds=group.request_timeout_seconds,
            requests_per_second=group.requests_per_second,
        )
    )


def read_settings_of(workspace: Workspace) -> ReadSettings:
    """What the cluster calls its GPUs, as the Prometheus source knows it."""
    pods = workspace.pod_settings
    return ReadSettings(
        gpu_resources=pods.gpu_resources,
        shared_resources=pods.shared_resources,
        type_labels=pods.type_labels,
        node_pool_labels=workspace.settings.cluster.node_pool_labels,
    )


def _wait_until_synced(cluster: Cluster, timeout_seconds: float) -> None:
    """Give the first lists time to arrive; a cluster that stays silent is not in view, and held."""
    pause = Event()
    for _ in range(int(timeout_seconds / SYNC_PAUSE_SECONDS)):
        if cluster.state(0).synced:
            return
        pause.wait(SYNC_PAUSE_SECONDS)


def _with_modes(policy: Policy, modes: Mapping[str, PoolMode]) -> Policy:
    """The policy with the modes that people have set since, which go before its own."""
    return replace(
        policy,
        pools=tuple(
            replace(pool, mode=modes[pool.pool].mode) if pool.pool in modes else pool
            for pool in policy.pools
        ),
    )


def _as_if_acting(policy: Policy) -> Policy:
    """The policy with every pool that is only forecast as if it were acted on."""
    return replace(
        policy,
        pools=tuple(
            replace(pool, mode=OperatingMode.ACT)
            if pool.mode is OperatingMode.FORECAST_ONLY
            else pool
            for pool in policy.pools
        ),
    )
