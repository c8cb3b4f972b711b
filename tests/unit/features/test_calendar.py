"""The cluster's calendar, against dates checked by hand on printed calendars."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from features.calendar import (
    DEFAULT_MULTIPLIERS,
    CalendarSettings,
    ClusterCalendar,
    DayFlag,
)
from features.errors import BadInput

ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe")
BERLIN = ClusterCalendar(CalendarSettings("Europe/Berlin", ("DE",)))
NEW_YORK = ClusterCalendar(CalendarSettings("America/New_York", ("US",)))
SHANGHAI = ClusterCalendar(CalendarSettings("Asia/Shanghai", ("CN",)))

instants = st.integers(946_684_800, 4_000_000_000)


def noon(zone: str, day: date) -> int:
    """Unix time of local noon."""
    return int(datetime(day.year, day.month, day.day, 12, tzinfo=ZoneInfo(zone)).timestamp())


def days_with(calendar: ClusterCalendar, flag: DayFlag, first: str, last: str) -> list[str]:
    """Dates from first to last, both included, that carry a flag at local noon."""
    start, stop = date.fromisoformat(first), date.fromisoformat(last)
    days = [start + timedelta(days=index) for index in range((stop - start).days + 1)]
    times = np.array([noon(calendar.settings.time_zone, day) for day in days])
    marks = calendar.flags(times)[flag]
    return [str(day) for day, marked in zip(days, marks, strict=True) if marked]


def test_german_easter_of_2026() -> None:
    """Good Friday and Easter Monday stop work; the Thursday before and Tuesday after are marked."""
    span = ("2026-03-30", "2026-04-12")
    assert ["2026-04-03", "2026-04-06"] == days_with(BERLIN, DayFlag.HOLIDAY, *span)
    assert ["2026-04-02"] == days_with(BERLIN, DayFlag.BEFORE_HOLIDAY, *span)
    assert ["2026-04-07"] == days_with(BERLIN, DayFlag.AFTER_HOLIDAY, *span)


def test_a_bridge_day_follows_a_holiday_and_precedes_none() -> None:
    """The Friday after Ascension 2026 is the first working day after it, before a mere weekend."""
    span = ("2026-05-11", "2026-05-18")
    assert ["2026-05-14"] == days_with(BERLIN, DayFlag.HOLIDAY, *span)
    assert ["2026-05-13"] == days_with(BERLIN, DayFlag.BEFORE_HOLIDAY, *span)
    assert ["2026-05-15"] == days_with(BERLIN, DayFlag.AFTER_HOLIDAY, *span)


def test_a_holiday_on_a_weekend_makes_no_break() -> None:
    """German Unity Day 2026 falls on a Saturday, so the Friday before it is a Friday like any."""
    span = ("2026-09-28", "2026-10-09")
    assert ["2026-10-03"] == days_with(BERLIN, DayFlag.HOLIDAY, *span)
    assert [] == days_with(BERLIN, DayFlag.BEFORE_HOLIDAY, *span)
    assert [] == days_with(BERLIN, DayFlag.AFTER_HOLIDAY, *span)


def test_a_break_across_new_year_is_one_break() -> None:
    """Christmas 2026 (Friday, Saturday) and New Year's Friday each reach over a weekend."""
    span = ("2026-12-21", "2027-01-08")
    assert ["2026-12-24", "2026-12-31"] == days_with(BERLIN, DayFlag.BEFORE_HOLIDAY, *span)
    assert ["2026-12-28", "2027-01-04"] == days_with(BERLIN, DayFlag.AFTER_HOLIDAY, *span)
    assert ["2026-12-31"] == days_with(
        BERLIN, DayFlag.BEFORE_HOLIDAY, "2026-12-31", "2026-12-31"
    ), "a day is flagged alike when it is asked for alone"


def test_american_independence_day_of_2026_is_observed_on_friday() -> None:
    """The Fourth is a Saturday in 2026, so Friday the third is off and Thursday is the last day."""
    span = ("2026-06-29", "2026-07-10")
    assert ["2026-07-03", "2026-07-04"] == days_with(NEW_YORK, DayFlag.HOLIDAY, *span)
    assert ["2026-07-02"] == days_with(NEW_YORK, DayFlag.BEFORE_HOLIDAY, *span)
    assert ["2026-07-06"] == days_with(NEW_YORK, DayFlag.AFTER_HOLIDAY, *span)


def test_the_friday_before_memorial_day_is_flagged() -> None:
    """A Monday holiday makes the Friday before it the last working day."""
    span = ("2026-05-18", "2026-05-29")
    assert ["2026-05-22"] == days_with(NEW_YORK, DayFlag.BEFORE_HOLIDAY, *span)
    assert ["2026-05-26"] == days_with(NEW_YORK, DayFlag.AFTER_HOLIDAY, *span)


@pytest.mark.parametrize(
    ("year", "expected"),
    [
        (2025, ["2025-01-26", "2025-02-08", "2025-04-27", "2025-09-28", "2025-10-11"]),
        (
            2026,
            ["2026-01-04", "2026-02-14", "2026-02-28", "2026-05-09", "2026-09-20", "2026-10-10"],
        ),
    ],
)
def test_chinese_make_up_days(year: int, expected: list[str]) -> None:
    """The weekend days that the State Council's notices of 2025 and 2026 turn into working days."""
    span = (f"{year}-01-01", f"{year}-12-31")
    assert expected == days_with(SHANGHAI, DayFlag.MAKE_UP_WORKDAY, *span)
    worked = SHANGHAI.is_working_day(
        np.array([noon("Asia/Shanghai", date.fromisoformat(day)) for day in expected])
    )
    assert worked.all()


def test_the_chinese_spring_festival_of_2026() -> None:
    """Nine days from Sunday 15 to Monday 23 February between two make-up Saturdays."""
    span = ("2026-02-09", "2026-03-01")
    assert [f"2026-02-{day}" for day in range(15, 24)] == days_with(
        SHANGHAI, DayFlag.HOLIDAY, *span
    )
    assert ["2026-02-14"] == days_with(SHANGHAI, DayFlag.BEFORE_HOLIDAY, *span)
    assert ["2026-02-24"] == days_with(SHANGHAI, DayFlag.AFTER_HOLIDAY, *span)


def test_a_year_that_no_library_knows_degrades_with_a_warning() -> None:
    """China's make-up days of 2040 are not published: fixed holidays stay, and it is said so."""
    span = ("2040-01-01", "2040-12-31")
    assert [] == days_with(SHANGHAI, DayFlag.MAKE_UP_WORKDAY, *span)
    assert "2040-10-01" in days_with(SHANGHAI, DayFlag.HOLIDAY, *span)
    (warning,) = SHANGHAI.warnings(noon("Asia/Shanghai", date(2040, 1, 1)))
    assert warning.startswith("the holiday calendar of CN is settled until the end of 20")


def test_known_years_and_other_countries_give_no_warning() -> None:
    """Neither China in 2026 nor Germany in 2040 needs one; Germany in 2101 does."""
    assert () == SHANGHAI.warnings(noon("Asia/Shanghai", date(2026, 12, 31)))
    assert () == BERLIN.warnings(noon("Europe/Berlin", date(2040, 1, 1)))
    assert 1 == len(BERLIN.warnings(noon("Europe/Berlin", date(2101, 1, 1))))
    assert [] == days_with(BERLIN, DayFlag.HOLIDAY, "2101-01-01", "2101-12-31")


def test_the_turn_of_the_year_counts_in_local_time() -> None:
    """An instant of 2026 in UTC that is 2027 in Shanghai is warned of as 2027."""
    last_known = int(datetime(2026, 12, 31, 15, 59, tzinfo=UTC).timestamp())
    assert () == SHANGHAI.warnings(last_known)
    assert 1 == len(SHANGHAI.warnings(last_known + 60))


@pytest.mark.parametrize(
    ("zone", "short_day", "long_day"),
    [
        ("Europe/Berlin", date(2026, 3, 29), date(2026, 10, 25)),
        ("America/New_York", date(2026, 3, 8), date(2026, 11, 1)),
    ],
)
def test_clock_changes_neither_drop_nor_double_a_step(
    zone: str, short_day: date, long_day: date
) -> None:
    """The days of the changes have 23 and 25 hours of steps, and no hour is left out but one."""
    calendar = ClusterCalendar(CalendarSettings(zone))
    for day, hours in ((short_day, 23), (long_day, 25)):
        times = np.arange(noon(zone, day) - 86_400, noon(zone, day) + 86_400, 300)
        of_day = calendar.local_day(times) == (day - date(1970, 1, 1)).days
        assert hours * 12 == of_day.sum()
        on_clock = calendar.local_seconds_of_day(times[of_day]) // 3600
        assert min(hours, 24) == len(np.unique(on_clock))
        assert {12} | ({24} if hours == 25 else set()) == set(
            np.unique(on_clock, return_counts=True)[1].tolist()
        )


def test_the_leap_day_is_a_day() -> None:
    """29 February 2028 is a Tuesday between a Monday and a Wednesday, and is worked."""
    times = np.array([noon("Europe/Berlin", date(2028, 2, 28)) + 86_400 * i for i in range(3)])
    first = (date(2028, 2, 28) - date(1970, 1, 1)).days
    assert [first, first + 1, first + 2] == BERLIN.local_day(times).tolist()
    assert [0, 1, 2] == BERLIN.day_of_week(times).tolist()
    assert [True] * 3 == BERLIN.is_working_day(times).tolist()


def test_marked_days_are_local_days() -> None:
    """A promotion begins and ends at midnight of the cluster's zone, not of UTC."""
    marked = CalendarSettings(
        "America/New_York", promotion_days=(date(2026, 11, 27),), release_dates=(date(2026, 6, 1),)
    )
    calendar = ClusterCalendar(marked)
    midnight = int(datetime(2026, 11, 27, tzinfo=ZoneInfo("America/New_York")).timestamp())
    times = np.array([midnight - 1, midnight, midnight + 86_399, midnight + 86_400])
    assert [False, True, True, False] == calendar.flags(times)[DayFlag.PROMOTION].tolist()
    assert ["2026-06-01"] == days_with(calendar, DayFlag.RELEASE, "2026-05-25", "2026-06-07")


def test_without_a_country_only_weekends_are_off() -> None:
    """No country means no holidays, and a plain Monday to Friday."""
    calendar = ClusterCalendar()
    week = np.array([noon("UTC", date(2025, 12, 22)) + 86_400 * index for index in range(7)])
    assert [True] * 5 + [False] * 2 == calendar.is_working_day(week).tolist()
    assert not any(marks.any() for marks in calendar.flags(week).values())


def test_a_weekend_is_the_countrys_own() -> None:
    """Israel rests on Friday and Saturday and works on Sunday."""
    calendar = ClusterCalendar(CalendarSettings("Asia/Jerusalem", ("IL",)))
    days = (date(2026, 2, 6), date(2026, 2, 7), date(2026, 2, 8))
    times = np.array([noon("Asia/Jerusalem", day) for day in days])
    assert [False, False, True] == calendar.is_working_day(times).tolist()


def test_with_two_countries_a_day_is_worked_where_one_works() -> None:
    """Ascension 2026 is a holiday for the German half of a team; the American half works."""
    calendar = ClusterCalendar(CalendarSettings("Europe/Berlin", ("DE", "US")))
    ascension = np.array([noon("Europe/Berlin", date(2026, 5, 14))])
    assert [True] == calendar.flags(ascension)[DayFlag.HOLIDAY].tolist()
    assert [True] == calendar.is_working_day(ascension).tolist()


def test_a_part_of_a_country_has_its_own_holidays() -> None:
    """Epiphany is a holiday in Bavaria and not in the rest of Germany."""
    bavaria = ClusterCalendar(CalendarSettings("Europe/Berlin", ("de-by",)))
    span = ("2026-01-05", "2026-01-07")
    assert ["2026-01-06"] == days_with(bavaria, DayFlag.HOLIDAY, *span)
    assert [] == days_with(BERLIN, DayFlag.HOLIDAY, *span)


def test_codes_are_read_as_people_write_them() -> None:
    """Lower case, three letters and repeats all name the same country."""
    assert ("DE", "CN") == CalendarSettings(countries=("deu", "CN", "DE", "chn")).countries


@pytest.mark.parametrize(
    ("given_settings", "words"),
    [
        ({"time_zone": "Europe/Berln"}, ("Europe/Berln", "did you mean Europe/Berlin")),
        ({"time_zone": ""}, ("time zone ''",)),
        ({"time_zone": "../../etc/passwd"}, ("../../etc/passwd",)),
        ({"countries": ("Germany",)}, ("Germany", "did you mean DE?")),
        ({"countries": ("XQ",)}, ("XQ", "ISO code")),
        ({"countries": ("DE-XX",)}, ("XX", "BY")),
        ({"multipliers": {DayFlag.RELEASE: float("nan")}}, ("release", "nan")),
        ({"multipliers": {DayFlag.RELEASE: -1.0}}, ("release", "-1.0")),
    ],
)
def test_bad_settings_are_one_clear_line(
    given_settings: dict[str, object], words: tuple[str, ...]
) -> None:
    """What is wrong is named, with the nearest right name where there is one."""
    with pytest.raises(BadInput) as caught:
        CalendarSettings(**given_settings)  # type: ignore[arg-type]
    message = str(caught.value)
    assert "\n" not in message
    assert [word for word in words if word not in message] == []


def test_multipliers_left_out_keep_their_default() -> None:
    """One changed multiplier leaves the others as they were."""
    changed = CalendarSettings(multipliers={DayFlag.RELEASE: 3.0})
    assert {**DEFAULT_MULTIPLIERS, DayFlag.RELEASE: 3.0} == changed.multipliers


def test_no_times_give_no_answers() -> None:
    """Empty in, empty out, of the right types."""
    nothing = np.empty(0, dtype=np.int64)
    assert (0,) == BERLIN.is_working_day(nothing).shape
    assert {(0,)} == {marks.shape for marks in BERLIN.flags(nothing).values()}


@settings(deadline=None)  # the first answer of a zone or a span of years lays out its table
@given(st.sampled_from(ZONES), st.lists(instants, min_size=1, max_size=20))
def test_local_time_is_what_the_time_zone_database_says(zone: str, times: list[int]) -> None:
    """Arrays of instants agree with one look-up of Python's own zone for each."""
    calendar = ClusterCalendar(CalendarSettings(zone))
    local = [datetime.fromtimestamp(moment, tz=ZoneInfo(zone)) for moment in times]
    array = np.array(times)
    assert [one.hour * 3600 + one.minute * 60 + one.second for one in local] == (
        calendar.local_seconds_of_day(array).tolist()
    )
    assert [(one.date() - date(1970, 1, 1)).days for one in local] == (
        calendar.local_day(array).tolist()
    )
    assert [one.weekday() for one in local] == calendar.day_of_week(array).tolist()


@settings(deadline=None)
@given(st.lists(st.integers(1_262_304_000, 1_893_456_000), min_size=1, max_size=30))
def test_an_answer_depends_on_its_own_instant_alone(times: list[int]) -> None:
    """Asked for alone, in any company or in any shape, an instant has the same flags."""
    together = SHANGHAI.flags(np.array(times).reshape(-1, 1))
    for index, moment in enumerate(times):
        alone = SHANGHAI.flags(np.array([moment]))
        assert {flag: marks[index, 0] for flag, marks in together.items()} == {
            flag: marks[0] for flag, marks in alone.items()
        }


@settings(deadline=None)
@given(st.integers(1_262_304_000, 1_893_456_000), st.sampled_from([BERLIN, NEW_YORK, SHANGHAI]))
def test_days_around_a_break_are_worked_and_holidays_are_not(
    moment: int, calendar: ClusterCalendar
) -> None:
    """In one country a holiday is never worked; make-up days and days around a break always are."""
    times = np.array([moment])
    marks, worked = calendar.flags(times), bool(calendar.is_working_day(times)[0])
    assert not (marks[DayFlag.HOLIDAY][0] and worked)
    for flag in (DayFlag.MAKE_UP_WORKDAY, DayFlag.BEFORE_HOLIDAY, DayFlag.AFTER_HOLIDAY):
        assert worked or not marks[flag][0]


@settings(deadline=None)
@given(st.integers(2010, 2029), st.sampled_from([BERLIN, NEW_YORK, SHANGHAI]))
def test_days_around_a_break_agree_with_a_walk(year: int, calendar: ClusterCalendar) -> None:
    """Walking day by day finds the same last and first working days as the table."""
    zone = calendar.settings.time_zone
    days = [date(year, 1, 1) + timedelta(days=index) for index in range(-20, 385)]
    times = np.array([noon(zone, day) for day in days])
    marks, worked = calendar.flags(times), calendar.is_working_day(times)
    holiday, made_up = marks[DayFlag.HOLIDAY], marks[DayFlag.MAKE_UP_WORKDAY]
    for index in range(20, 385):
        after = index + 1
        while not worked[after]:
            after += 1
        between = range(index + 1, after)
        held = any(holiday[day] and days[day].weekday() < 5 for day in between)
        assert (worked[index] and held) == marks[DayFlag.BEFORE_HOLIDAY][index], days[index]
        assert not (made_up[index] and days[index].weekday() < 5)
