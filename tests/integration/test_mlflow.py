"""MLflow keeps the record of what was trained, in SQLite; and nothing depends on it."""

import hashlib
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlparse
from urllib.request import url2pathname

import pytest

from features.errors import SourceUnavailable
from forecaster.cli import run
from forecaster.json_shapes import ForecastAnswer, ModelAnswer, PromotionAnswer, TrainAnswer
from models.registry import Manifest
from models.tracking import CHAMPION_ALIAS, VERSION_TAG, ExperimentTracker, TrainingRecord

if TYPE_CHECKING:
    from mlflow import MlflowClient

EXAMPLES = Path(__file__).parents[2] / "examples"
DATA = Path("tidecast-data")

Answer = Callable[..., str]


@pytest.fixture
def tidecast(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Answer:
    """Run a command line that works, in a directory with a week of history; its stdout."""
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith(("TIDECAST_", "MLFLOW_")):
            monkeypatch.delenv(name)

    def answer(*words: str) -> str:
        capfd.readouterr()
        code = run([*words, "--output", "json"])
        out, err = capfd.readouterr()
        assert 0 == code, err
        assert all(
            line.startswith(
                ("warning: ", "Training", "Importing", "Forecasting", "Rolling", "Promoting")
            )
            for line in err.splitlines()
        ), err
        return out

    answer("history", "import", str(EXAMPLES / "jobs.csv"))
    return answer


@pytest.fixture
def client(tmp_path: Path) -> Iterator["MlflowClient"]:
    """MLflow's own view of the record."""
    from models.tracking import _quiet

    with _quiet(5):
        from mlflow import MlflowClient

        uri = f"sqlite:///{tmp_path / DATA / 'mlflow.db'}"
        yield MlflowClient(tracking_uri=uri, registry_uri=uri)


def closed_port() -> int:
    """A port of this machine at which nobody listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


def test_a_training_is_on_record_with_all_that_went_into_it(
    tidecast: Answer, client: "MlflowClient", monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parameters, scores, data span and digest, code version, files.

    The alias follows every change of the champion, but not to a version that was never recorded.
    """
    train = ("train", "--models", "persistence")
    first, second = (TrainAnswer.model_validate_json(tidecast(*train)) for _ in range(2))
    assert [[], []] == [first.warnings, second.warnings]
    champion = client.get_model_version_by_alias("tidecast", CHAMPION_ALIAS)
    assert second.champion_version == champion.tags[VERSION_TAG]
    assert champion.run_id
    run_data = client.get_run(champion.run_id).data
    assert "persistence" == run_data.params["name"]
    assert {"peak 0.9 to persistence": 1.0}.items() <= run_data.metrics.items()
    shown = ModelAnswer.model_validate_json(tidecast("models", "show"))
    assert shown.data_sha256 == run_data.tags["tidecast.data_sha256"]
    assert str(shown.last_seconds) == run_data.tags["tidecast.data_last_seconds"]
    assert shown.code_version == run_data.tags["tidecast.code_version"]
    logged = Path(url2pathname(urlparse(champion.source).path))
    for name, digest in shown.files_sha256.items():
        assert digest == hashlib.sha256((logged / name).read_bytes()).hexdigest()
    back = PromotionAnswer.model_validate_json(tidecast("models", "rollback"))
    assert (first.champion_version, []) == (back.champion_version, back.warnings)
    champion = client.get_model_version_by_alias("tidecast", CHAMPION_ALIAS)
    assert first.champion_version == champion.tags[VERSION_TAG]
    monkeypatch.setenv("TIDECAST_MLFLOW__ENABLED", "false")
    unseen = TrainAnswer.model_validate_json(tidecast(*train)).champion_version
    assert unseen
    monkeypatch.delenv("TIDECAST_MLFLOW__ENABLED")
    (warning,) = PromotionAnswer.model_validate_json(tidecast("models", "promote", unseen)).warnings
    assert f"has no record of model version {unseen}" in warning


def test_with_mlflow_down_training_promotes_and_forecasts_are_served(
    tidecast: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that is not there costs a warning; the champion in the data directory answers."""
    monkeypatch.setenv("TIDECAST_MLFLOW__TRACKING_URI", f"http://127.0.0.1:{closed_port()}")
    trained = TrainAnswer.model_validate_json(tidecast("train", "--models", "persistence"))
    assert trained.promoted
    (warning,) = trained.warnings
    assert "did not take the record" in warning
    assert "forecasts need no MLflow" in warning
    said = ForecastAnswer.model_validate_json(tidecast("forecast"))
    assert [] == said.warnings
    assert {trained.champion_version} == {
        one.model_version for one in said.forecasts if one.available
    }


def test_a_damaged_database_is_a_warning(tmp_path: Path) -> None:
    """What SQLite and SQLAlchemy raise is turned into one line."""
    (tmp_path / "mlflow.db").write_bytes(b"no database" * 1000)
    tracker = ExperimentTracker(f"sqlite:///{tmp_path / 'mlflow.db'}", "tidecast", None, 5)
    manifest = Manifest("persistence", "v1", 300, ("a100",), 0, 600)
    with pytest.raises(SourceUnavailable, match="did not take the record") as refused:
        tracker.record(TrainingRecord(manifest, tmp_path, {}))
    assert 1 == len(str(refused.value).splitlines())
