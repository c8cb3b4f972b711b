"""Which days a country works, day by day, from the public-holiday libraries.

The libraries know holidays, weekends and make-up working days; this module only lays their answers
on a grid of days. It must not fail where their knowledge ends: that is a warning (`known_until`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from features.calendar_zone import did_you_mean
from features.errors import BadInput
from features.series import BoolArray

if TYPE_CHECKING:
    from holidays import HolidayBase

_MARGIN_DAYS = 31  # longer than any break, so that both its ends are seen


@dataclass(frozen=True, eq=False)
class CountryDays:
    """A country's days of one year; every array has shape (days,).

    Attributes:
        holiday: public holidays, on whatever day of the week.
        make_up: days of a weekend that are worked in exchange for another day.
        worked: working days, make-up days among them.
        before_break: the last working day before a break.
        after_break: the first working day after a break.

    A break is a run of days off that holds a public holiday on a day that would be worked
    otherwise; a holiday on a Sunday makes no break.
    """

    holiday: BoolArray
    make_up: BoolArray
    worked: BoolArray
    before_break: BoolArray
    after_break: BoolArray


def checked_country(code: str) -> str:
    """An ISO 3166 code of a country, `DE`, or of a part of it, `DE-BY`, as the library has it.

    Raises:
        BadInput: the holiday library has no such country or part.
    """
    import holidays

    country, _, part = code.strip().upper().partition("-")
    country = _iso_codes().get(country, country)
    parts = holidays.list_supported_countries(include_aliases=False)
    if country not in parts:
        raise BadInput(
            f"no holiday calendar for country '{code}'; use an ISO code such as 'DE' or 'US'"
            f"{_country_hint(code, list(parts))}"
        )
    if not part:
        return country
    by_capitals = {known.upper(): known for known in parts[country]}
    if part not in by_capitals:
        there = ", ".join(parts[country]) or "none"
        raise BadInput(f"country '{country}' has no part '{part}'; there are: {there}")
    return f"{country}-{by_capitals[part]}"


@lru_cache(maxsize=1024)
def country_year(code: str, year: int) -> CountryDays:
    """A country's days of one year, breaks that reach into its neighbours seen.

    Args:
        code: what `checked_country` returned.
        year: any year that dates can have.
    """
    first = date(year, 1, 1) - timedelta(days=_MARGIN_DAYS)
    count = (date(year, 12, 31) - first).days + 1 + _MARGIN_DAYS
    days = [first + timedelta(days=index) for index in range(count)]
    calendar = _calendar(code, (year - 1, year, year + 1))
    weekend = _along(calendar.is_weekend(day) for day in days)
    holiday = _along(day in calendar for day in days)
    make_up = weekend & _along(day in calendar.weekend_workdays for day in days)
    if code == "CN":
        holiday, make_up = _with_chinese_calendar(days, holiday, make_up)
    worked = np.where(weekend, make_up, ~holiday)
    before, after = _around_breaks(worked, holiday & ~weekend)
    asked = slice(_MARGIN_DAYS, -_MARGIN_DAYS)
    return CountryDays(holiday[asked], make_up[asked], worked[asked], before[asked], after[asked])


def known_until(code: str) -> int:
    """The last year whose days off are settled; of later ones only fixed dates are known."""
    if code == "CN":
        return _last_chinese_year()
    return int(_calendar(code, ()).end_year)


def _calendar(code: str, years: Iterable[int]) -> "HolidayBase":
    import holidays

    country, _, part = code.partition("-")
    return holidays.country_holidays(country, subdiv=part or None, years=years)


def _along(answers: Iterable[bool]) -> BoolArray:
    return np.fromiter(answers, dtype=np.bool_)


def _with_chinese_calendar(
    days: list[date], holiday: BoolArray, make_up: BoolArray
) -> tuple[BoolArray, BoolArray]:
    """China's days as its own library knows them; years it does not know stay as they are."""
    import chinese_calendar

    holiday, make_up = holiday.copy(), make_up.copy()
    for index, day in enumerate(days):
        try:
            is_off, name = chinese_calendar.get_holiday_detail(day)
        except NotImplementedError:  # that is how it says 'a year I do not know'
            continue
        holiday[index] = is_off and name is not None
        make_up[index] = not is_off and name is not None
    return holiday, make_up


def _last_chinese_year() -> int:
    """The last year whose exchange of days is published, in whichever library knows more."""
    from chinese_calendar.constants import workdays

    year = max(workdays).year
    while any(day.year == year + 1 for day in _calendar("CN", [year + 1]).weekend_workdays):
        year += 1
    return int(year)


def _around_breaks(worked: BoolArray, interrupting: BoolArray) -> tuple[BoolArray, BoolArray]:
    """The working days on either side of each run of days off that holds an interrupting one."""
    before, after = np.zeros_like(worked), np.zeros_like(worked)
    working = np.flatnonzero(worked)
    seen = np.concatenate([[0], np.cumsum(interrupting)])
    held = seen[working[1:]] > seen[working[:-1] + 1]
    before[working[:-1][held]] = True
    after[working[1:][held]] = True
    return before, after


def _iso_codes() -> dict[str, str]:
    """The two-letter code by each other code that stands for it, as `DE` for `DEU`."""
    from holidays.registry import COUNTRIES

    return {other: short for _, short, *others in COUNTRIES.values() for other in others}


def _country_hint(code: str, known: list[str]) -> str:
    from holidays.registry import COUNTRIES

    name = code.strip().casefold().replace(" ", "_")
    if name in COUNTRIES:
        return f" (did you mean {COUNTRIES[name][1]}?)"
    return did_you_mean(code, known)
