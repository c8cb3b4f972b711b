"""What was trained, from what, and how good it was: a copy of the record in MLflow.

The only module that imports MLflow, and only when something is recorded. Nothing is ever read back
from it to forecast with: the registry on disk serves, MLflow remembers, and where it cannot be
reached the caller is told so and goes on. Loading a model through MLflow imports what an artifact
names, so it must never be done here.
"""

import io
import logging
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from features.errors import SourceUnavailable
from models.registry import Manifest

if TYPE_CHECKING:
    from mlflow import MlflowClient

CHAMPION_ALIAS = "champion"
VERSION_TAG = "tidecast.version"
LONGEST_PARAMETER = 500

_LOGGERS = ("mlflow", "alembic", "sqlalchemy", "urllib3")


@dataclass(frozen=True)
class TrainingRecord:
    """One training of one model, as MLflow is told of it.

    Attributes:
        manifest: what was saved, with its data span, digests and scores.
        directory: holds the saved files and the manifest.
        parameters: the settings it was trained with, by name.
    """

    manifest: Manifest
    directory: Path
    parameters: Mapping[str, str]


@dataclass(frozen=True)
class ExperimentTracker:
    """An MLflow experiment with a registered model of the same name.

    Attributes:
        uri: a tracking server's, or `sqlite:///` and a file.
        name: of the experiment and of the registered model.
        artifact_location: where files of a new experiment go; the server decides if None.
        timeout_seconds: longest time for one request to a server.
    """

    uri: str
    name: str
    artifact_location: str | None
    timeout_seconds: int

    def record(self, training: TrainingRecord) -> None:
        """Log a training as a run, and register what it saved as a version of the model.

        Raises:
            SourceUnavailable: MLflow cannot be reached, or refuses.
        """
        manifest = training.manifest
        with self._client() as client:
            run = client.create_run(
                self._experiment(client),
                run_name=f"{manifest.model} {manifest.version}",
                tags=_tags(manifest),
            )
            run_id = run.info.run_id
            for name, value in training.parameters.items():
                client.log_param(run_id, name, value[:LONGEST_PARAMETER])
            for measure, ratio in manifest.scores.items():
                client.log_metric(run_id, f"{measure} to persistence", ratio)
            client.log_artifacts(run_id, str(training.directory))
            client.set_terminated(run_id)
            self._registered(client)
            client.create_model_version(
                self.name, source=run.info.artifact_uri, run_id=run_id, tags=_tags(manifest)
            )

    def name_champion(self, version: str) -> None:
        """Move the alias `champion` to a version that was recorded.

        Args:
            version: as the model registry on disk calls it.

        Raises:
            SourceUnavailable: MLflow cannot be reached, or has no record of the version.
        """
        with self._client() as client:
            found = client.search_model_versions(f"name = '{self.name}'")
            numbers = [one.version for one in found if one.tags.get(VERSION_TAG) == version]
            if not numbers:
                raise SourceUnavailable(
                    f"MLflow at {self.uri} has no record of model version {version}; its alias "
                    f"'{CHAMPION_ALIAS}' stays where it was"
                )
            client.set_registered_model_alias(self.name, CHAMPION_ALIAS, numbers[0])

    def _experiment(self, client: "MlflowClient") -> str:
        found = client.get_experiment_by_name(self.name)
        if found is not None:
            return str(found.experiment_id)
        return str(client.create_experiment(self.name, self.artifact_location))

    def _registered(self, client: "MlflowClient") -> None:
        if not client.search_registered_models(f"name = '{self.name}'"):
            client.create_registered_model(self.name)

    @contextmanager
    def _client(self) -> Iterator["MlflowClient"]:
        """A client whose every failure is ours."""
        try:
            with _quiet(self.timeout_seconds):
                from mlflow import MlflowClient

                yield MlflowClient(tracking_uri=self.uri, registry_uri=self.uri)
        except SourceUnavailable:
            raise
        except Exception as error:  # MLflow passes on whatever its database or server raises
            said = " ".join(str(error).split())[:200]
            raise SourceUnavailable(f"MLflow at {self.uri} did not take the record: {said}") from (
                error
            )


def settings_text(value: object, prefix: str = "") -> dict[str, str]:
    """A model's settings as text by name, those of its parts with a dot between.

    What is neither plain nor a dataclass, such as grown trees, is no setting and left out.
    """
    if isinstance(value, bool | int | float | str | tuple | frozenset | None):
        shown = sorted(value) if isinstance(value, frozenset) else value
        return {prefix: str(shown)}
    if not is_dataclass(value):
        return {}
    found: dict[str, str] = {}
    for one in fields(value):
        found |= settings_text(getattr(value, one.name), f"{prefix}.{one.name}".lstrip("."))
    return found


def _tags(manifest: Manifest) -> dict[str, str]:
    return {
        VERSION_TAG: manifest.version,
        "tidecast.model": manifest.model,
        "tidecast.code_version": manifest.code_version,
        "tidecast.data_first_seconds": str(manifest.first_seconds),
        "tidecast.data_last_seconds": str(manifest.last_seconds),
        "tidecast.data_step_seconds": str(manifest.step_seconds),
        "tidecast.data_sha256": manifest.data_digest,
        "tidecast.pools": ", ".join(manifest.pools)[:LONGEST_PARAMETER],
        "tidecast.verdict": "; ".join(manifest.reasons)[:LONGEST_PARAMETER],
    }


@contextmanager
def _quiet(timeout_seconds: int) -> Iterator[None]:
    """MLflow without its chatter, its telemetry and its minutes of retries.

    It reads all of these from the environment; what the user has set there stays.
    """
    wanted = {
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "MLFLOW_LOGGING_LEVEL": "ERROR",
        "MLFLOW_HTTP_REQUEST_TIMEOUT": str(timeout_seconds),
        "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
        "GIT_PYTHON_REFRESH": "quiet",
    }
    added = {name: value for name, value in wanted.items() if name not in os.environ}
    os.environ.update(added)
    levels = {name: logging.getLogger(name).level for name in _LOGGERS}
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.ERROR)
    try:
        # what it prints of its runs would stand between a program and our JSON
        with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        for name in added:
            os.environ.pop(name, None)
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
