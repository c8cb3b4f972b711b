"""Settings: every problem at once, a clear line each, and the environment above the file."""

import os
from dataclasses import fields
from pathlib import Path

import pytest

from features.errors import BadInput
from features.pool import Pool
from features.series import COLUMNS
from features.sources.pod_settings import PodSettings
from features.sources.prometheus_connection import PrometheusConnection
from features.sources.queries import CustomPool, CustomQueries
from forecaster.settings import Settings, load_settings
from forecaster.settings.prometheus import (
    CustomPoolGroup,
    PodGroup,
    PrometheusSettings,
)
from forecaster.wiring import Workspace
from models.zoo import MODELS


@pytest.fixture(autouse=True)
def no_settings_around(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither the machine's environment nor a file nearby takes part."""
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("TIDECAST_"):
            monkeypatch.delenv(name)


def problems(text: str, path: Path = Path("tidecast.yaml")) -> list[str]:
    """The lines that a settings file of this text is refused with."""
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput) as refused:
        load_settings(path)
    return str(refused.value).splitlines()


def test_without_a_file_everything_has_its_default() -> None:
    """No file is needed to begin."""
    assert Settings() == load_settings()
    assert Path("tidecast-data") == load_settings().data_directory


def test_the_file_of_the_working_directory_is_read_without_being_named() -> None:
    """`tidecast.yaml` counts where the command is run."""
    Path("tidecast.yaml").write_text("history: {keep_days: 40}", encoding="utf-8")
    assert 40 == load_settings().history.keep_days


def test_the_environment_stands_above_the_file_key_by_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable changes its own key and leaves the rest of the group to the file."""
    Path("tidecast.yaml").write_text("history: {keep_days: 40, step_seconds: 60}", encoding="utf-8")
    monkeypatch.setenv("TIDECAST_HISTORY__KEEP_DAYS", "50")
    assert 50 == load_settings().history.keep_days
    assert 60 == load_settings().history.step_seconds


def test_an_unknown_key_is_refused_with_the_one_that_was_meant() -> None:
    """A slip of the pen never passes for a default."""
    assert ["tidecast.yaml: unknown key 'histroy'; did you mean 'history'?"] == problems(
        "histroy: {keep_days: 40}"
    )
    assert [
        "tidecast.yaml: unknown key 'history.keepdays'; did you mean 'history.keep_days'?"
    ] == problems("history: {keepdays: 40}")


def test_a_key_outside_its_group_is_led_back_to_it() -> None:
    """`url` at the top belongs under `prometheus`."""
    assert ["tidecast.yaml: unknown key 'url'; did you mean 'prometheus.url'?"] == problems(
        "url: http://prometheus:9090"
    )


def test_a_key_like_no_other_is_refused_with_the_known_ones() -> None:
    """Where nothing is close, the group's keys are listed."""
    assert [
        "tidecast.yaml: unknown key 'history.colour'; known here: step_seconds, keep_days"
    ] == problems("history: {colour: red}")


def test_all_problems_are_reported_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of file and environment, of values and across fields."""
    monkeypatch.setenv("TIDECAST_PROMETHEUS__ATTEMPTS", "many")
    lines = problems(
        """
        history: {step_seconds: 7}
        forecast: {horizon_seconds: 600, peak_window_seconds: 1800}
        calendar: {time_zone: Europe/Berlni, countries: [DE, XX]}
        nonsense: 1
        """
    )
    begin = [
        "environment variable TIDECAST_PROMETHEUS__ATTEMPTS: prometheus.attempts is 'many'",
        "tidecast.yaml: history.step_seconds: a step of 7 s is not supported; use 300 or 60",
        "tidecast.yaml: forecast: peak_window_seconds (1800) is longer than horizon_seconds (600)",
        "tidecast.yaml: calendar.time_zone: unknown time zone 'Europe/Berlni'",
        "tidecast.yaml: calendar.countries: no holiday calendar for country 'XX'",
        "tidecast.yaml: unknown key 'nonsense'",
    ]
    assert begin == [line[: len(start)] for line, start in zip(lines, begin, strict=True)]


def test_a_variable_of_an_unknown_group_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment is held to the same keys as the file."""
    monkeypatch.setenv("TIDECAST_PROMETHEOS__URL", "http://prometheus:9090")
    with pytest.raises(BadInput, match="PROMETHEOS__URL: unknown key 'prometheos'; did you mean"):
        load_settings()


def test_the_variables_of_a_kubernetes_service_are_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A service called tidecast sets these in every pod beside it."""
    monkeypatch.setenv("TIDECAST_PORT", "tcp://10.0.0.1:80")
    monkeypatch.setenv("TIDECAST_SERVICE_HOST", "10.0.0.1")
    assert Settings() == load_settings()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: [1", "tidecast.yaml: line 1 is not YAML: expected ',' or ']', but got '<stream end>'"),
        (
            "- 1",
            "tidecast.yaml: must hold 'key: value' lines; docs/reference/settings.md has all",
        ),
        ("calendar: 5", "tidecast.yaml: calendar is 5: it must be a group of keys"),
        (
            "prometheus: {url: prometheus:9090}",
            "tidecast.yaml: prometheus.url: 'prometheus:9090' is not a URL; write it as "
            "http://host:9090",
        ),
        (
            "prometheus: {profile: custom}",
            "tidecast.yaml: prometheus: profile is 'custom' but prometheus.custom.pools has no "
            "pool",
        ),
    ],
)
def test_what_cannot_be_used_is_named_with_its_place(text: str, expected: str) -> None:
    """One line: where, what, and what to do."""
    assert [expected] == problems(text)


def test_a_file_that_is_not_there_is_not_a_default() -> None:
    """Whoever names a file wants that file."""
    with pytest.raises(BadInput, match=r"other\.yaml: no such settings file"):
        load_settings(Path("other.yaml"))


def test_a_secret_is_never_shown() -> None:
    """Neither by the settings nor by what is built from them."""
    Path("tidecast.yaml").write_text(
        "prometheus: {url: 'http://p', token: hush, headers: {X-Scope-OrgID: hush}}",
        encoding="utf-8",
    )
    workspace = Workspace(load_settings())
    assert "hush" == workspace.prometheus_connection.token
    assert "hush" not in repr(workspace)
    assert "hush" not in repr(workspace.prometheus_connection)


def test_a_secret_that_is_no_text_is_refused_without_repeating_it() -> None:
    """A number where a token belongs may well be the token."""
    for text in ("{token: 12345}", "{headers: {X-Scope-OrgID: 12345}}", "{password: [12345]}"):
        (line,) = problems(f"prometheus: {text}")
        assert "input should be a valid string" in line
        assert "12345" not in line


def test_settings_and_what_they_build_have_the_same_defaults() -> None:
    """A default is written in two places; they agree."""
    built = Workspace(Settings(prometheus=PrometheusSettings(url="http://p"))).prometheus_connection
    assert PrometheusConnection("http://p") == built
    assert PodSettings() == Workspace(Settings()).pod_settings
    assert {item.name for item in fields(PodSettings)} == set(PodGroup.model_fields)


def test_queries_of_the_users_own_become_a_profile() -> None:
    """Each expression keeps its pool and column; what is left out is not asked for."""
    Path("tidecast.yaml").write_text(
        """
        prometheus:
          url: http://p
          profile: custom
          custom:
            presence: up
            pools:
              - {pool: a100/fragment, demand_gpus: sum(a), queued_jobs: count(q)}
        """,
        encoding="utf-8",
    )
    pool = CustomPool(Pool.parse("a100/fragment"), "sum(a)", (("queued_jobs", "count(q)"),))
    assert CustomQueries((pool,), "up") == Workspace(load_settings()).queries


def test_every_column_of_demand_can_be_asked_for() -> None:
    """A custom pool has a key for each."""
    assert {"pool", "capped", *COLUMNS} == set(CustomPoolGroup.model_fields)


def test_the_default_model_is_in_the_zoo() -> None:
    """Nobody has to choose a model to begin."""
    assert Settings().forecast.model in MODELS


def test_mlflow_lies_in_the_data_directory_unless_a_server_is_named() -> None:
    """Record and files, wherever the command is run; a server decides for itself."""
    Path("tidecast.yaml").write_text("data_directory: held", encoding="utf-8")
    tracker = Workspace.open(None).tracker
    assert tracker
    assert f"sqlite:///{Path.cwd() / 'held' / 'mlflow.db'}" == tracker.uri
    assert (Path.cwd() / "held" / "mlflow-artifacts").as_uri() == tracker.artifact_location
    Path("tidecast.yaml").write_text("mlflow: {tracking_uri: 'http://m:5000'}", encoding="utf-8")
    tracker = Workspace.open(None).tracker
    assert tracker
    assert ("http://m:5000", None) == (tracker.uri, tracker.artifact_location)
    Path("tidecast.yaml").write_text("mlflow: {enabled: false}", encoding="utf-8")
    assert Workspace.open(None).tracker is None


def test_what_is_no_place_for_mlflow_is_refused() -> None:
    """MLflow's file store is not one either: it is neither atomic nor a registry."""
    for uri in ("mlruns", "file:///mlruns", "m:5000"):
        (problem,) = problems(f"mlflow: {{tracking_uri: '{uri}'}}")
        assert f"'{uri}' is neither a server nor a database" in problem
