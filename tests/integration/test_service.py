"""The service as a process: it runs the whole loop, and outlives what goes wrong around it."""

import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from actuator.cluster.file import write_state
from forecaster.clock import now_seconds
from forecaster.settings import Settings
from forecaster.wiring import Workspace
from tests.fakes.clusters import busy_cluster
from tests.fakes.demand import FRAGMENT, WHOLE, tidal_series
from tests.fakes.real_service import RealService, command, environment

DAYS = 3
POLICY = """\
pools:
  - pool: a100/whole-node
    node_gpus: 8
    ceiling_nodes: 20
    node_pools: [{name: np-whole}]
"""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Three days of history up to now, a policy, and a cluster in a file."""
    step_seconds = 300
    start = now_seconds() // step_seconds * step_seconds - DAYS * 86_400
    workspace = Workspace(Settings(data_directory=tmp_path / "tidecast-data"))
    workspace.store.import_series(
        [
            tidal_series(pool, DAYS, seed, start_seconds=start)
            for seed, pool in enumerate((WHOLE, FRAGMENT))
        ]
    )
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")
    tidecast(tmp_path, "policy", "apply", "policy.yaml")
    write_state(tmp_path / "state.json", busy_cluster(10, 0, now_seconds()))
    return tmp_path


@pytest.fixture
def service(directory: Path) -> Iterator[RealService]:
    """A service that forecasts by persistence and reads the cluster from the file."""
    settings = {
        "forecast": {"model": "persistence"},
        "cluster": {"state_file": str(directory / "state.json")},
    }
    with RealService(directory, settings) as running:
        yield running


def tidecast(directory: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """One command line beside the service."""
    return subprocess.run(
        [*command(), *arguments],
        cwd=directory,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )


def last_runs(service: RealService) -> dict[str, str]:
    """How the last run of each job ended."""
    jobs = service.get("/v1/jobs/runs").json()
    return {one["job"]: one["standing"] for one in reversed(jobs["runs"])}


def test_it_forecasts_and_plans_by_itself_and_touches_nothing(service: RealService) -> None:
    """From a start to a forecast, a plan and nothing on record."""
    service.until(lambda: {"forecast", "cycle"} <= last_runs(service).keys())
    service.until(lambda: service.get("/v1/plan").status_code == 200)
    service.until(lambda: service.get("/v1/forecasts/a100/whole-node").json()["available"])
    forecast = service.get("/v1/forecasts/a100/whole-node").json()
    assert "persistence" == forecast["model_name"]
    (pool,) = service.get("/v1/plan").json()["pools"]
    assert ("forecast-only", 10) == (pool["operating_mode"], pool["current_nodes"])
    assert [] == service.get("/v1/audit").json()["decisions"]


def test_a_lost_node_is_answered_at_once(service: RealService) -> None:
    """The next plan does not wait for the next minute, and counts one node less."""
    service.until(lambda: service.get("/v1/plan").status_code == 200)
    service.post("/v1/node-events/node-lost", {"node": "node-3"})
    service.until(lambda: service.logged("cycle run at once"))
    service.until(lambda: service.get("/v1/plan").json()["pools"][0]["current_nodes"] == 9)


def test_a_second_one_on_the_same_directory_refuses(service: RealService) -> None:
    """It would do everything twice."""
    second = tidecast(service.directory, "serve", "--port", "0")
    assert 2 == second.returncode
    assert "another 'tidecast serve' runs on it" in second.stderr.splitlines()[-1]
    assert 200 == service.get("/healthz").status_code


def test_settings_that_cannot_be_used_change_nothing(service: RealService) -> None:
    """They are told of, and the old ones stay; good ones are taken."""
    service.config.write_text("service: {port: none", encoding="utf-8")
    service.signal(signal.SIGHUP)
    service.until(lambda: service.logged("settings not taken"))
    assert 200 == service.get("/healthz").status_code
    service.write({"forecast": {"model": "persistence"}, "service": {"writes_per_minute": 7}})
    service.signal(signal.SIGHUP)
    service.until(lambda: service.logged("settings changed"))
    service.until(lambda: service.get("/readyz").status_code == 200)


def test_it_ends_within_ten_seconds_and_remembers(service: RealService) -> None:
    """Runs and forecasts are still there after a restart, and nothing is run twice at once."""
    service.until(lambda: "forecast" in last_runs(service))
    assert 0 == service.end(within_seconds=10)
    service.start()
    assert "forecast" in last_runs(service)
    assert 200 == service.get("/v1/forecasts/a100/whole-node").status_code


def test_it_ends_in_the_middle_of_training(directory: Path) -> None:
    """The run is recorded as interrupted, and no half-made model is left."""
    settings = {"cluster": {"state_file": str(directory / "state.json")}}
    with RealService(directory, settings) as service:
        service.until(lambda: last_runs(service).get("train") == "running")
        assert 0 == service.end(within_seconds=10)
        service.start()
        runs = service.get("/v1/jobs/runs?job=train").json()["runs"]
        assert "interrupted" in {one["standing"] for one in runs}
        assert [] == list((directory / "tidecast-data" / "models").glob("*"))


def test_a_locked_database_is_waited_for(service: RealService) -> None:
    """While somebody else writes, reads go on and a write waits; then it is kept."""
    said = {
        "pool": "a100/whole-node",
        "start": "2030-01-01T09:00:00Z",
        "end": "2030-01-01T11:00:00Z",
        "kind": "absolute",
        "amount": 64,
        "reason": "a sweep",
    }
    service.until(lambda: "cycle" in last_runs(service))
    locked = sqlite3.connect(
        service.directory / "tidecast-data" / "tidecast.db", timeout=30, isolation_level=None
    )
    locked.execute("BEGIN IMMEDIATE")
    with ThreadPoolExecutor(1) as others:
        announced = others.submit(service.post, "/v1/announcements", said)
        for _ in range(30):
            assert [] == service.get("/v1/announcements").json()["announcements"]
        assert not announced.done()
        locked.execute("ROLLBACK")
        assert 201 == announced.result(timeout=20).status_code
    locked.close()
    (kept,) = service.get("/v1/announcements").json()["announcements"]
    assert 64 == kept["amount"]


def test_a_cluster_that_cannot_be_read_stops_no_forecast(service: RealService) -> None:
    """The cycle fails visibly, and the rest goes on."""
    service.until(lambda: last_runs(service).get("cycle") == "done")
    (service.directory / "state.json").write_text("{", encoding="utf-8")
    service.post("/v1/node-events/node-lost", {"node": "node-3"})
    service.until(lambda: service.logged("cycle failed"))
    service.until(lambda: service.get("/v1/forecasts/a100/fragment").json()["available"])
