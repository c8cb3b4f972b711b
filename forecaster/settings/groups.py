"""The groups of settings that say what is kept, what is forecast, and when people work."""

from collections.abc import Callable
from datetime import date
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from features.calendar import CalendarSettings, DayFlag
from features.calendar_countries import checked_country
from features.calendar_zone import checked_zone
from features.errors import BadInput

STEPS_SECONDS = (60, 300)

Value = TypeVar("Value")
Answer = TypeVar("Answer")


class Group(BaseModel):
    """Base of every group: immutable, and no key that is not written here."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class HistorySettings(Group):
    """What is kept, and on which grid."""

    step_seconds: int = 300
    """Spacing of the series: 300 (5 minutes) or 60."""

    keep_days: int = Field(default=90, ge=1, le=3650)
    """Days of history that the store keeps; 30 are needed for full seasonal baselines."""

    @field_validator("step_seconds")
    @classmethod
    def _step_is_known(cls, step_seconds: int) -> int:
        if step_seconds not in STEPS_SECONDS:
            raise ValueError(f"a step of {step_seconds} s is not supported; use 300 or 60")
        return step_seconds


class ForecastSettings(Group):
    """How far a forecast reaches, and who makes it."""

    horizon_seconds: int = Field(default=3600, ge=60, le=86_400)
    """How far the path reaches."""

    peak_window_seconds: int = Field(default=1800, ge=60, le=86_400)
    """Length of the window whose highest demand is forecast; at most the horizon."""

    model: str = "combined"
    """The model that `tidecast train` trains, and that forecasts while there is no champion."""

    train_days: int = Field(default=30, ge=1, le=3650)
    """Days of history, counted back from the newest step, that models learn from."""

    @model_validator(mode="after")
    def _window_fits(self) -> "ForecastSettings":
        if self.peak_window_seconds > self.horizon_seconds:
            raise ValueError(
                f"peak_window_seconds ({self.peak_window_seconds}) is longer than "
                f"horizon_seconds ({self.horizon_seconds}); shorten the one or lengthen the other"
            )
        return self


class CalendarGroup(Group):
    """When the cluster's people work."""

    time_zone: str = "UTC"
    """The cluster's time zone, an IANA name such as `Europe/Berlin`."""

    countries: tuple[str, ...] = ()
    """Countries whose public holidays count, ISO 3166: `DE`, or a part of one, `DE-BY`."""

    promotion_days: tuple[date, ...] = ()
    """Local dates of promotions: days that will be busier than the calendar says."""

    release_dates: tuple[date, ...] = ()
    """Local dates of releases."""

    multipliers: dict[DayFlag, float] = Field(default_factory=dict)
    """By how much a day's flag multiplies an expected rise that no model has learned yet; flags
    left out keep 1.5 (before-holiday, after-holiday, release), 2 (promotion) or 1 (the rest)."""

    @field_validator("time_zone")
    @classmethod
    def _zone_exists(cls, name: str) -> str:
        return _checked(checked_zone, name)

    @field_validator("countries")
    @classmethod
    def _countries_exist(cls, codes: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_checked(checked_country, code) for code in codes)

    @field_validator("multipliers")
    @classmethod
    def _multipliers_are_sane(cls, factors: dict[DayFlag, float]) -> dict[DayFlag, float]:
        _checked(lambda given: CalendarSettings(multipliers=given), factors)
        return factors


def _checked(check: Callable[[Value], Answer], value: Value) -> Answer:
    """Run a check of the rooms below; its complaint becomes one of the problems reported."""
    try:
        return check(value)
    except BadInput as error:
        raise ValueError(str(error)) from None
