"""What MLflow is told, and that its absence is one clear line; MLflow itself is not needed here."""

import logging
import os
import subprocess
import sys
import types

import pytest

from features.errors import SourceUnavailable
from models import tracking
from models.registry import Manifest
from models.tracking import ExperimentTracker, TrainingRecord, settings_text
from models.zoo import MODELS

MANIFEST = Manifest("combined", "v1", 300, ("a100/fragment",), 0, 600)
TRACKER = ExperimentTracker("sqlite:///nowhere/mlflow.db", "tidecast", None, 1)


def test_settings_are_plain_text_by_name():
    """Parts of a model's parts have a dot between; what has grown is no setting."""
    told = settings_text(MODELS["lightgbm"]())
    assert "lightgbm" == told["name"]
    assert {"peak_growth.leaves", "peak_growth.rounds"} <= set(told)
    assert all(isinstance(value, str) for value in told.values())


@pytest.mark.parametrize("name", list(MODELS))
def test_every_model_of_the_zoo_can_be_told(name):
    """With at least its name."""
    assert name == settings_text(MODELS[name]())["name"]


def test_without_mlflow_there_is_one_clear_line(monkeypatch, tmp_path):
    """A broken installation is no traceback."""
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(SourceUnavailable, match=r"MLflow at sqlite:///nowhere/mlflow\.db did"):
        TRACKER.record(TrainingRecord(MANIFEST, tmp_path, {}))
    with pytest.raises(SourceUnavailable, match="did not"):
        TRACKER.name_champion("v1")


def test_what_mlflow_prints_stays_off_stdout(monkeypatch, capsys):
    """A server's client prints where to look at a run; a program that reads our JSON must not."""

    class Talkative:
        def __init__(self, **_):
            print("View run at ...")  # noqa: T201 - as MLflow does

        def search_model_versions(self, _):
            return []

    fake = types.ModuleType("mlflow")
    fake.MlflowClient = Talkative
    monkeypatch.setitem(sys.modules, "mlflow", fake)
    with pytest.raises(SourceUnavailable, match="has no record of model version v1"):
        TRACKER.name_champion("v1")
    assert ("", "") == capsys.readouterr()


def test_mlflow_is_kept_quiet_and_the_user_is_heard(monkeypatch):
    """Telemetry is off and retries are few, unless the user has set them; then all is as before."""
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "5")
    before, level = dict(os.environ), logging.getLogger("mlflow").level
    with tracking._quiet(7):
        assert "true" == os.environ["MLFLOW_DISABLE_TELEMETRY"]
        assert "7" == os.environ["MLFLOW_HTTP_REQUEST_TIMEOUT"]
        assert "5" == os.environ["MLFLOW_HTTP_REQUEST_MAX_RETRIES"]
        assert logging.ERROR == logging.getLogger("mlflow").level
    assert before == dict(os.environ)
    assert level == logging.getLogger("mlflow").level


def test_nothing_of_mlflow_is_imported_to_forecast():
    """Who serves pays for none of it."""
    code = (
        "import sys; import forecaster.tasks.forecasting, forecaster.tasks.training; "
        "sys.exit(str(sorted({'mlflow', 'sqlalchemy', 'alembic', 'sklearn', 'prophet'} "
        "& set(sys.modules)) or ''))"
    )
    ran = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert "" == ran.stderr.strip()
