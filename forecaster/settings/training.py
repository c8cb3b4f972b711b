"""The groups of settings that say what is trained, who is made champion, and who is told."""

from pydantic import Field, field_validator

from forecaster.settings.groups import Group


class TrainingSettings(Group):
    """What `tidecast train` trains, and when it makes a model the champion."""

    candidates: tuple[str, ...] = ()
    """Models that compete, best liked first; `forecast.model` alone if left out. Persistence always
    competes too."""

    judge_days: float = Field(default=7.0, gt=0, le=365)
    """Newest days that models are judged on, having seen nothing of them; a third of the history
    where it is short."""

    margin: float = Field(default=0.03, ge=0, le=1)
    """How much more than the champion a challenger may lose, as a share, and still count as not
    worse."""

    keep_versions: int = Field(default=10, ge=2, le=1000)
    """Trained versions that are kept; the champion and the one before it always are."""


class MlflowSettings(Group):
    """Where MLflow keeps the record of what was trained; forecasts never depend on it."""

    enabled: bool = True
    """False trains without a record in MLflow."""

    tracking_uri: str | None = None
    """A tracking server, such as `http://mlflow:5000`; `mlflow.db` of the data directory if left
    out. Credentials go into MLflow's own environment variables."""

    name: str = Field(default="tidecast", pattern=r"^[A-Za-z0-9][A-Za-z0-9_. -]*$")
    """Name of the experiment and of the registered model."""

    timeout_seconds: int = Field(default=10, ge=1, le=600)
    """Longest time for one request to the server."""

    @field_validator("tracking_uri")
    @classmethod
    def _uri_is_one(cls, uri: str | None) -> str | None:
        if uri is not None and not uri.startswith(
            ("http://", "https://", "sqlite:///", "postgresql")
        ):
            raise ValueError(
                f"'{uri}' is neither a server nor a database; write it as http://host:5000, "
                "sqlite:///FILE or postgresql://..."
            )
        return uri
