"""The commands on a real Prometheus: doctor, pull, train, forecast, and what a dead server leaves.

The clock is set to two days after those jobs that were seeded by hand.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from features.job_demand import demand_of_jobs
from forecaster.cli import run
from forecaster.history import HistoryStore
from tests.fakes.command_line import files_in
from tests.fakes.real_prometheus import RealPrometheus
from tests.integration.small_cluster import START, small_cluster

pytestmark = [pytest.mark.tool("prometheus"), pytest.mark.tool("promtool")]
DAYS = 4
NOW = START + 22 * 86_400
DATA = Path("tidecast-data")


@pytest.fixture(autouse=True)
def in_an_empty_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cluster_prometheus: RealPrometheus
) -> None:
    """The settings of someone who has just begun, and a moment soon after the jobs by hand."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("forecaster.clock.now_seconds", lambda: NOW)
    Path("tidecast.yaml").write_text(
        f"prometheus: {{url: '{cluster_prometheus.url}', attempts: 1}}\n"
        f"history: {{keep_days: {DAYS}}}\n",
        encoding="utf-8",
    )


def answer(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    """What a command prints as JSON."""
    capsys.readouterr()
    assert code == run([*arguments, "--output", "json"])
    return json.loads(capsys.readouterr().out)


def test_doctor_knows_what_is_there_and_what_is_missing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Before the first pull only the history is in the way, and its remedy is the pull."""
    said = answer(capsys, "doctor", code=1)
    problems = [check for check in said["checks"] if check["status"] == "problem"]
    assert ["history"] == [check["name"] for check in problems]
    assert "tidecast history pull" in problems[0]["remedy"]
    lengths = [one["finding"] for one in said["checks"] if one["name"] == "prometheus history"]
    assert lengths[0].startswith("22.0 days")


def test_what_is_pulled_is_the_job_table_and_is_forecast(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Every step of the pull, then a second pull of the newest hour alone, then a forecast."""
    pulled = answer(capsys, "history", "pull")
    start = NOW - DAYS * 86_400
    assert [{"start_seconds": start, "end_seconds": NOW}] == pulled["asked_spans"]
    held = {one.pool: one for one in HistoryStore(DATA / "history").series()}
    assert 4 == len(held)
    for expected in demand_of_jobs(small_cluster().table(), start, NOW, 300):
        if expected.pool in held:
            actual = held[expected.pool]
            np.testing.assert_array_equal(expected.demand_gpus, actual.demand_gpus)
            np.testing.assert_array_equal(expected.queued_jobs, actual.queued_jobs)
        else:
            assert not expected.demand_gpus.any()
    again = answer(capsys, "history", "pull")
    assert all(span["start_seconds"] >= NOW - 2 * 3600 for span in again["asked_spans"])
    assert 0 == run(["train", "--models", "periodic-regression"])
    said = answer(capsys, "forecast", "--model", "periodic-regression")
    assert {str(pool) for pool in held} == {one["pool"] for one in said["forecasts"]}
    assert {NOW} == {one["origin_seconds"] for one in said["forecasts"]}
    assert 0 == run(["doctor"])


def test_a_prometheus_that_dies_leaves_the_history_as_it_was(
    capsys: pytest.CaptureFixture[str], cluster_prometheus: RealPrometheus
) -> None:
    """A forecast of now is refused, one from the history is not; and it comes back."""
    assert 0 == run(["history", "pull"])
    before = files_in(DATA)
    cluster_prometheus.stop()
    try:
        capsys.readouterr()
        assert 2 == run(["forecast", "--model", "persistence"])
        said = capsys.readouterr().err.splitlines()
        assert f"cannot reach Prometheus at {cluster_prometheus.url}" in said[-1]
        assert 0 == run(["forecast", "--model", "persistence", "--at", str(NOW)])
        assert before == files_in(DATA)
    finally:
        cluster_prometheus.start()
    assert 0 == run(["forecast", "--model", "persistence"])


def test_doctor_recommends_the_profile_that_fits(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody has loaded the recording rules here."""
    monkeypatch.setenv("TIDECAST_PROMETHEUS__PROFILE", "recording-rules")
    checks = answer(capsys, "doctor", code=1)["checks"]
    missing = [one for one in checks if one["name"] == "profile recording-rules"]
    assert {"problem"} == {one["status"] for one in missing}
    assert all("rules.yaml" in one["remedy"] for one in missing)
    remedies = {one["name"]: one["remedy"] for one in checks}
    assert "set prometheus.profile to kube-state-metrics" == remedies["profile kube-state-metrics"]


def test_doctor_tries_queries_of_the_users_own(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that answers can be pulled; one that cannot be parsed is named a problem."""
    monkeypatch.setenv("TIDECAST_PROMETHEUS__PROFILE", "custom")
    good = [{"pool": "a100/fragment", "demand_gpus": "sum(kube_node_status_allocatable) * 0 + 3"}]
    monkeypatch.setenv("TIDECAST_PROMETHEUS__CUSTOM__POOLS", json.dumps(good))
    checks = {one["name"]: one for one in answer(capsys, "doctor", code=1)["checks"]}
    assert "ok" == checks["pool a100/fragment"]["status"]
    assert 0 == run(["history", "pull"])
    (series,) = HistoryStore(DATA / "history").series()
    assert {3.0} == set(series.demand_gpus[series.observed].tolist())
    bad = [{"pool": "a100/fragment", "demand_gpus": "sum("}]
    monkeypatch.setenv("TIDECAST_PROMETHEUS__CUSTOM__POOLS", json.dumps(bad))
    checks = {one["name"]: one for one in answer(capsys, "doctor", code=1)["checks"]}
    assert "problem" == checks["profile custom"]["status"]
    assert 2 == run(["history", "pull"])
