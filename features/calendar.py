"""What day it is where the cluster's people are: holidays, make-up days, promotions, releases.

Days and hours are those of the cluster's own time zone. A calendar that ends says so in
`warnings` and flags no more holidays; it must never fail, and never be asked about a series whose
times are not dates (`has_calendar`).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from functools import lru_cache

import numpy as np

from features.calendar_countries import checked_country, country_year, known_until
from features.calendar_zone import checked_zone, local_seconds
from features.errors import BadInput
from features.series import BoolArray, IntArray

_DAY_SECONDS = 86_400
_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
_EPOCH_WEEKDAY = date(1970, 1, 1).weekday()
_SATURDAY = 5


class DayFlag(StrEnum):
    """What can make a day unlike the other days of its week."""

    HOLIDAY = "holiday"
    MAKE_UP_WORKDAY = "make-up-workday"
    BEFORE_HOLIDAY = "before-holiday"
    AFTER_HOLIDAY = "after-holiday"
    PROMOTION = "promotion"
    RELEASE = "release"


DEFAULT_MULTIPLIERS: Mapping[DayFlag, float] = {
    DayFlag.HOLIDAY: 1.0,
    DayFlag.MAKE_UP_WORKDAY: 1.0,
    DayFlag.BEFORE_HOLIDAY: 1.5,
    DayFlag.AFTER_HOLIDAY: 1.5,
    DayFlag.PROMOTION: 2.0,
    DayFlag.RELEASE: 1.5,
}


@dataclass(frozen=True)
class CalendarSettings:
    """Where and when the cluster's people work.

    Attributes:
        time_zone: IANA name of the zone whose days and hours count.
        countries: ISO codes of the countries whose holidays count, `DE`, or of parts of them,
            `DE-BY`; with none there are no holidays, and Saturday and Sunday are the weekend.
        promotion_days: local dates that the user marked as promotions.
        release_dates: local dates of releases.
        multipliers: by how much a flag multiplies an expected rise that no model has learned;
            flags left out keep their default.

    Raises:
        BadInput: at construction, for an unknown zone, an unknown country, or a multiplier that
            is not a finite number from 0 up.
    """

    time_zone: str = "UTC"
    countries: tuple[str, ...] = ()
    promotion_days: tuple[date, ...] = ()
    release_dates: tuple[date, ...] = ()
    multipliers: Mapping[DayFlag, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        checked_zone(self.time_zone)
        countries = dict.fromkeys(checked_country(code) for code in self.countries)
        object.__setattr__(self, "countries", tuple(countries))
        object.__setattr__(self, "promotion_days", tuple(sorted(set(self.promotion_days))))
        object.__setattr__(self, "release_dates", tuple(sorted(set(self.release_dates))))
        object.__setattr__(self, "multipliers", _checked_multipliers(self.multipliers))


@dataclass(frozen=True)
class ClusterCalendar:
    """Answers for instants, vectorised; every answer has the shape of the times it is asked for.

    With several countries a flag holds where it holds in one of them, and a day is worked where
    one of them works.

    Attributes:
        settings: zone, countries and marked days.
    """

    settings: CalendarSettings = field(default_factory=CalendarSettings)

    def local_day(self, times_seconds: IntArray) -> IntArray:
        """Local date of each Unix time, as days since 1970-01-01."""
        return local_seconds(times_seconds, self.settings.time_zone) // _DAY_SECONDS

    def local_seconds_of_day(self, times_seconds: IntArray) -> IntArray:
        """Wall-clock time of each Unix time, as seconds since 00:00 on the clock's face."""
        return local_seconds(times_seconds, self.settings.time_zone) % _DAY_SECONDS

    def day_of_week(self, times_seconds: IntArray) -> IntArray:
        """Local day of the week of each Unix time; Monday is 0."""
        return (self.local_day(times_seconds) + _EPOCH_WEEKDAY) % 7

    def is_working_day(self, times_seconds: IntArray) -> BoolArray:
        """Whether each Unix time lies on a local working day."""
        table, positions = self._look_up(times_seconds)
        return table.worked[positions]

    def flags(self, times_seconds: IntArray) -> Mapping[DayFlag, BoolArray]:
        """Every flag of the local day that each Unix time lies on."""
        table, positions = self._look_up(times_seconds)
        return {flag: days[positions] for flag, days in table.flags.items()}

    def warnings(self, until_seconds: int) -> tuple[str, ...]:
        """What this calendar will not know up to a Unix time, one line each."""
        year = _date(int(self.local_day(np.array(until_seconds)))).year
        return tuple(
            f"the holiday calendar of {code} is settled until the end of {last}: later days off "
            "and make-up days may be missing or move; update 'holidays' and 'chinesecalendar'"
            for code in self.settings.countries
            if (last := known_until(code)) < year
        )

    def _look_up(self, times_seconds: IntArray) -> tuple["_DayTable", IntArray]:
        days = self.local_day(times_seconds)
        asked = days if days.size else np.zeros(1, dtype=np.int64)
        table = _day_table(
            self.settings.countries,
            self.settings.promotion_days,
            self.settings.release_dates,
            _date(int(asked.min())).year,
            _date(int(asked.max())).year,
        )
        return table, days - table.first_day


@dataclass(frozen=True, eq=False)
class _DayTable:
    """Whole years of days, looked up by position; every array has shape (days,)."""

    first_day: int
    worked: BoolArray
    flags: Mapping[DayFlag, BoolArray]


@lru_cache(maxsize=64)
def _day_table(
    countries: tuple[str, ...],
    promotion_days: tuple[date, ...],
    release_dates: tuple[date, ...],
    first_year: int,
    last_year: int,
) -> _DayTable:
    first = _days_since_epoch(date(first_year, 1, 1))
    days = np.arange(first, _days_since_epoch(date(last_year, 12, 31)) + 1)
    weekday = (days + _EPOCH_WEEKDAY) % 7 < _SATURDAY

    def in_any(name: str) -> BoolArray:
        in_one = np.zeros(len(days), dtype=np.bool_)
        for code in countries:
            years = [country_year(code, year) for year in range(first_year, last_year + 1)]
            in_one |= np.concatenate([getattr(year, name) for year in years])
        return in_one

    def marked(dates: tuple[date, ...]) -> BoolArray:
        return np.isin(days, [_days_since_epoch(day) for day in dates])

    return _DayTable(
        first_day=first,
        worked=in_any("worked") if countries else weekday,
        flags={
            DayFlag.HOLIDAY: in_any("holiday"),
            DayFlag.MAKE_UP_WORKDAY: in_any("make_up"),
            DayFlag.BEFORE_HOLIDAY: in_any("before_break"),
            DayFlag.AFTER_HOLIDAY: in_any("after_break"),
            DayFlag.PROMOTION: marked(promotion_days),
            DayFlag.RELEASE: marked(release_dates),
        },
    )


def _checked_multipliers(given: Mapping[DayFlag, float]) -> Mapping[DayFlag, float]:
    for flag, factor in given.items():
        if not (math.isfinite(factor) and factor >= 0):
            raise BadInput(f"the multiplier of '{flag}' is {factor}; give a number from 0 up")
    return {**DEFAULT_MULTIPLIERS, **given}


def _days_since_epoch(day: date) -> int:
    return day.toordinal() - _EPOCH_ORDINAL


def _date(days_since_epoch: int) -> date:
    return date.fromordinal(days_since_epoch + _EPOCH_ORDINAL)
