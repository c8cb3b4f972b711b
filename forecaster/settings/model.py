"""The whole of the settings, group by group."""

from pathlib import Path

from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from forecaster.settings.cluster import ClusterSettings
from forecaster.settings.compute import ComputeSettings
from forecaster.settings.database import DatabaseSettings
from forecaster.settings.groups import CalendarGroup, ForecastSettings, HistorySettings
from forecaster.settings.prometheus import PrometheusSettings
from forecaster.settings.service import (
    AnnouncementSettings,
    RetentionSettings,
    ScheduleSettings,
)
from forecaster.settings.serving import ServiceSettings
from forecaster.settings.training import MlflowSettings, TrainingSettings

ENVIRONMENT_PREFIX = "TIDECAST_"
GROUP_SEPARATOR = "__"


class Settings(BaseSettings):
    """All settings of Tidecast; every one has a default."""

    model_config = SettingsConfigDict(
        env_prefix=ENVIRONMENT_PREFIX,
        env_nested_delimiter=GROUP_SEPARATOR,
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
    )

    data_directory: Path = Path("tidecast-data")
    """Where history and trained models live; relative to the working directory."""

    prometheus: PrometheusSettings = PrometheusSettings()
    history: HistorySettings = HistorySettings()
    forecast: ForecastSettings = ForecastSettings()
    training: TrainingSettings = TrainingSettings()
    mlflow: MlflowSettings = MlflowSettings()
    calendar: CalendarGroup = CalendarGroup()
    compute: ComputeSettings = ComputeSettings()
    cluster: ClusterSettings = ClusterSettings()
    database: DatabaseSettings = DatabaseSettings()
    service: ServiceSettings = ServiceSettings()
    schedule: ScheduleSettings = ScheduleSettings()
    retention: RetentionSettings = RetentionSettings()
    announcements: AnnouncementSettings = AnnouncementSettings()

    @classmethod
    def settings_customise_sources(  # pydantic-settings fixes this signature
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - see above
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - see above
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - see above
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment stands above the file, whose content comes as arguments."""
        return env_settings, init_settings
