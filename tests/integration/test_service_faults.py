"""What goes wrong around the service, hours of it in fast time: jobs and cycles by a told clock.

Prometheus is a real server on a socket that says what a test wants, the store and the database are
real; only the cluster and the clock are not.
"""

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from math import nan
from pathlib import Path
from threading import Event
from zoneinfo import ZoneInfo

import pytest

from actuator.state import ClusterState
from features.errors import SourceUnavailable
from features.events import EventKind
from forecaster.acting_wiring import ActingWorkspace, Purpose
from forecaster.announcements.announcement import Announcement
from forecaster.cycle import Effect, Parts, run_cycle
from forecaster.database import Database
from forecaster.database.announcements import Announcements
from forecaster.database.audit_log import AuditLog
from forecaster.database.forecasts import Forecasts
from forecaster.database.policy_versions import Authorship, PolicyVersions
from forecaster.database.scores import Scores
from forecaster.scheduling.due import due_runs
from forecaster.scheduling.jobs import FORECAST, PULL, job_named, service_jobs
from forecaster.scheduling.performing import Outcome, outcome_of
from forecaster.scheduling.schedules import Cron, Every
from forecaster.service.stored_source import StoredSource
from forecaster.settings import Settings
from forecaster.wiring import Workspace
from tests.fakes.clusters import HOUR, MINUTE, NOW, busy_cluster
from tests.fakes.cycles import RecordingBackEnd, ToldCluster
from tests.fakes.decisions import document
from tests.fakes.jobs import job
from tests.fakes.prometheus_server import Asked, FakePrometheus, Reply, error, names, success
from tests.fakes.recorded_rules import recorded
from tests.fakes.service import NOW_SECONDS, service

Answers = Callable[[Asked], Reply]

DAY = 24 * HOUR
BUSY_NODES, NODES = 5, 10
DEMAND_GPUS = 8.0 * BUSY_NODES
NODE_POOL = "a100-spot"
LEAD_SECONDS = 1_200


@dataclass
class Loop:
    """The service's jobs and cycles, one after another, at the times that a test tells.

    Attributes:
        workspace: settings, store and registry.
        database: policies, forecasts, announcements, audit.
        back_end: what is asked for nodes; the cluster has at once what it asks.
    """

    workspace: Workspace
    database: Database
    back_end: RecordingBackEnd = field(default_factory=lambda: RecordingBackEnd("dry_run"))

    @contextmanager
    def parts(self) -> Iterator[Parts]:
        """What cycles talk to: the service's own, but for the cluster."""
        source = StoredSource(Forecasts(self.database), Scores(self.database))
        nobody = Path("no-such-file.json")
        acting = ActingWorkspace(self.workspace, self.database, source, Purpose.ACT, nobody)
        with acting.parts() as parts:
            own = {self.back_end.name: self.back_end}
            yield replace(parts, cluster=ToldCluster(self._state), back_ends=own)

    def perform(self, name: str, now_seconds: int) -> Outcome:
        """Run a job of the service's table."""
        jobs = service_jobs(self.workspace, self.database, None)
        return outcome_of(job_named(jobs, name), now_seconds, Event())

    @property
    def nodes(self) -> int:
        """What the node pool has, or was asked to have."""
        return self.back_end.nodes.get(NODE_POOL, NODES)

    def _state(self, now_seconds: int) -> ClusterState:
        state = busy_cluster(BUSY_NODES, self.nodes - BUSY_NODES, now_seconds)
        nodes = tuple(replace(one, node_pool=NODE_POOL) for one in state.nodes)
        return replace(state, nodes=nodes)


@contextmanager
def loop(directory: Path, **settings: object) -> Iterator[Loop]:
    """A service whose one pool may be acted on, without its process."""
    workspace = Workspace(Settings(data_directory=directory, **settings))  # type: ignore[arg-type]
    with workspace.open_database() as database:
        acting = document(mode="act")
        PolicyVersions(database).apply(acting, Authorship("ada", NOW - DAY))
        yield Loop(workspace, database)


def announced(identifier: str, start_seconds: int) -> Announcement:
    """Half an hour of 96 GPUs, announced a day ago."""
    return Announcement(
        identifier, "a100/whole-node", start_seconds, start_seconds + 30 * MINUTE,
        EventKind.ABSOLUTE, 96.0, "sweep", "ada", announced_seconds=NOW - DAY,
    )  # fmt: skip


def only_in_part(asked: Asked) -> Reply:
    """Whole, but for the demand."""
    if "tidecast:demand_gpus" in asked.parameters.get("query", ""):
        return success([], ["one store gateway is away"])
    return recorded(lambda _: DEMAND_GPUS)(asked)


TROUBLES: dict[str, tuple[Answers, int]] = {
    "down": (lambda _: error(503, "unavailable", "no healthy upstream"), 6 * HOUR),
    "empty": (lambda asked: success([]) if "query" in asked.parameters else names([]), HOUR),
    "in part": (only_in_part, HOUR),
    "NaN": (recorded(lambda at: DEMAND_GPUS if at < NOW else nan), HOUR),
    "not scraped": (recorded(lambda at: DEMAND_GPUS if at < NOW else None), HOUR),
}


@pytest.mark.parametrize(("trouble", "lasts_seconds"), TROUBLES.values(), ids=TROUBLES)
def test_while_prometheus_is_in_trouble_no_node_goes(
    tmp_path: Path, trouble: Answers, lasts_seconds: int
) -> None:
    """A flood is served all the same; once forecasts are back, what is spare is given back."""
    over = NOW + lasts_seconds
    well = recorded(lambda at: None if NOW <= at < over else DEMAND_GPUS)
    asked: dict[int, int] = {}
    told: dict[int, str] = {}
    with (
        FakePrometheus(well) as prometheus,
        loop(
            tmp_path,
            forecast={"model": "persistence"},
            history={"keep_days": 1},
            prometheus={"url": prometheus.url, "profile": "recording-rules", "attempts": 1},
        ) as service_loop,
        service_loop.parts() as parts,
    ):
        flood = announced("flood", NOW + 10 * MINUTE + LEAD_SECONDS)
        Announcements(service_loop.database).create(flood)
        for now in range(NOW - 10 * MINUTE, over + 50 * MINUTE, 5 * MINUTE):
            prometheus.answers = trouble if NOW <= now < over else well
            if now // MINUTE % 10 == 0:
                service_loop.perform(PULL, now + 20)
                _, told[now] = service_loop.perform(FORECAST, now + 21)
            run_cycle(parts, Effect.ACT, now + 30)
            asked[now] = service_loop.nodes
    during = [nodes for now, nodes in asked.items() if now < over]
    assert during == sorted(during)
    assert {NODES, 12} == set(during)
    assert {"0 of 1 pools forecast"} == {
        line.partition(";")[0] for now, line in told.items() if NOW + 15 * MINUTE < now < over
    }
    assert told[over + 10 * MINUTE].startswith("1 of 1 pools forecast")
    assert 9 == service_loop.nodes


@contextmanager
def full_disk() -> Iterator[None]:
    """No file of this process may grow beyond a kilobyte."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_024, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_on_a_full_disk_nothing_is_done_that_is_not_on_record(tmp_path: Path) -> None:
    """What was announced before is kept, and served as soon as there is room."""
    with loop(tmp_path) as service_loop, service_loop.parts() as parts:
        announcements = Announcements(service_loop.database)
        announcements.create(announced("kept", NOW))
        with full_disk():
            with pytest.raises(SourceUnavailable, match="disk"):
                announcements.create(announced("refused", NOW))
            with pytest.raises(SourceUnavailable, match="disk"):
                run_cycle(parts, Effect.ACT, NOW)
        assert [] == service_loop.back_end.asked
        assert ["kept"] == [one.identifier for one in announcements.active(NOW)]
        run_cycle(parts, Effect.ACT, NOW + MINUTE)
        assert 12 == service_loop.nodes
        assert () == AuditLog(service_loop.database).open_events()


def test_on_a_full_disk_an_announcement_is_not_acknowledged(tmp_path: Path) -> None:
    """Whoever made it is told, and makes it again."""
    flood = {
        "pool": "a100/whole-node", "start": iso(NOW_SECONDS + DAY), "kind": "extra", "amount": 64,
        "end": iso(NOW_SECONDS + DAY + HOUR), "reason": "only once",
    }  # fmt: skip
    with service(tmp_path) as api:
        with full_disk():
            refused = api.post("/v1/announcements", json=flood)
            still_read = api.get("/v1/announcements")
        made = api.post("/v1/announcements", json=flood)
        found = api.get("/v1/announcements").json()["announcements"]
    assert (503, 200, 201) == (refused.status_code, still_read.status_code, made.status_code)
    assert "disk" in refused.json()["detail"]
    assert 1 == [one["reason"] for one in found].count("only once")


def iso(seconds: int) -> str:
    """A time with its offset."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()


@pytest.mark.parametrize(
    ("zone", "change"),
    [
        ("Europe/Berlin", "2026-03-29"),
        ("Europe/Berlin", "2026-10-25"),
        ("America/New_York", "2026-03-08"),
        ("America/New_York", "2026-11-01"),
    ],
)
def test_over_a_change_of_the_clocks_each_job_runs_when_it_is_due(zone: str, change: str) -> None:
    """Each night's training once, though its hour is skipped or comes twice; no pull too many."""
    local = ZoneInfo(zone)
    noon = int(datetime.fromisoformat(f"{change}T12:00").replace(tzinfo=local).timestamp())
    first, last = noon - DAY, noon + DAY
    jobs = (job("train", Cron("30 2 * * *", zone)), job("pull", Every(300, 20)))
    ran = {"train": first, "pull": first}
    done: dict[str, list[int]] = {"train": [], "pull": []}
    for now in range(first, last, 300):
        for run in due_runs(jobs, ran, now + 60):
            ran[run.job.name] = run.due_seconds
            done[run.job.name].append(run.due_seconds)
    assert list(range(first + 20, last, 300)) == done["pull"]
    nights = [datetime.fromtimestamp(due, local).date().isoformat() for due in done["train"]]
    assert change == nights[0] < nights[1]
    assert 2 == len(nights)
