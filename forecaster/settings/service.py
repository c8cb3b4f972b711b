"""The groups of settings that say when jobs run, how long records stay, which calendars count."""

from pydantic import Field, SecretStr, field_validator, model_validator

from features.errors import BadInput
from forecaster.scheduling.schedules import Cron
from forecaster.settings.groups import Group


class ScheduleSettings(Group):
    """When the service does what; each job can also be run by `tidecast job run`."""

    forecast_every_seconds: int = Field(default=300, ge=60, le=3600)
    """History is pulled, forecasts are made and scored this often."""

    offset_seconds: int = Field(default=20, ge=0, le=600)
    """How long after each full period, so that the newest samples have arrived."""

    train_cron: str = "30 3 * * *"
    """When models are trained: five cron fields, in the calendar's time zone."""

    prune_cron: str = "15 4 * * *"
    """When records that were kept for long enough are removed."""

    calendars_every_seconds: int = Field(default=900, ge=60, le=86_400)
    """How often the calendars of `announcements.calendars` are read again."""

    @field_validator("train_cron", "prune_cron")
    @classmethod
    def _line_is_one(cls, line: str) -> str:
        try:
            Cron(line)
        except BadInput as error:
            raise ValueError(str(error)) from None
        return line

    @model_validator(mode="after")
    def _offset_fits(self) -> "ScheduleSettings":
        if self.offset_seconds >= self.forecast_every_seconds:
            raise ValueError(
                f"offset_seconds ({self.offset_seconds}) is not shorter than "
                f"forecast_every_seconds ({self.forecast_every_seconds}); shorten it"
            )
        return self


class RetentionSettings(Group):
    """Days for which records stay; `database.keep_audit_days` is that of decisions."""

    forecast_days: int = Field(default=35, ge=8, le=3650)
    """Forecasts as they were given; scores need 8."""

    score_days: int = Field(default=90, ge=1, le=3650)
    """Scores and verdicts."""

    announcement_days: int = Field(default=90, ge=1, le=3650)
    """Announcements, counted from when they are over."""

    run_days: int = Field(default=30, ge=1, le=3650)
    """Runs of scheduled jobs."""


class AnnouncementSettings(Group):
    """Where announcements come from, beside people."""

    calendars: tuple[SecretStr, ...] = ()
    """iCalendar files or `https://` addresses whose events say how many GPUs they need, such as
    `GPUS=+64` in their summary. What is secret in an address is never shown."""

    cron_jobs: bool = False
    """True announces what the cluster's GPU CronJobs will ask for; it needs `list` on CronJobs."""

    calendar_days: int = Field(default=60, ge=1, le=366)
    """How many days ahead the calendars are read."""
