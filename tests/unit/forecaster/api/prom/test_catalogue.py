"""Announcements as series: what stood at each moment, whenever it was made or called off."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from features.events import EventKind
from forecaster.announcements.announcement import Announcement
from forecaster.announcements.recurrence import Recurrence
from forecaster.database.announcements import Announcements
from tests.fakes.announcements import DAY, FLOOD, HOUR
from tests.fakes.service import NOW_SECONDS, Service, service

WHOLE, FRAGMENT = "a100/whole-node", "a100/fragment"
SOON = NOW_SECONDS + DAY


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Service]:
    with service(tmp_path) as opened:
        yield opened


def announce(api: Service, identifier: str, hours: tuple[int, int], **changes: Any) -> None:
    """An announcement for some hours of the day that begins now, made a day before."""
    said: Announcement = replace(
        FLOOD,
        identifier=identifier,
        start_seconds=SOON + hours[0] * HOUR,
        end_seconds=SOON + hours[1] * HOUR,
        announced_seconds=NOW_SECONDS,
    )
    Announcements(api.context.database).create(replace(said, **changes))


def stood(api: Service, query: str, until_hours: int = 6) -> dict[int, float]:
    """What a query gives at each full hour of that day; the hours without a value are left out."""
    asked = {"query": query, "start": SOON, "end": SOON + until_hours * HOUR, "step": HOUR}
    result = api.get("/prom/api/v1/query_range", params=asked).json()["data"]["result"]
    assert len(result) <= 1
    return {(at - SOON) // HOUR: float(value) for one in result for at, value in one["values"]}


def of(kind: str, pool: str = WHOLE) -> str:
    return f'gpu_announcement:gpus{{pool="{pool}",kind="{kind}"}}'


def test_extras_add_up_and_of_absolutes_the_highest_counts(api: Service) -> None:
    """Each kind for itself, as the rule of the announcements has it."""
    announce(api, "extra-1", (0, 3))
    announce(api, "extra-2", (2, 4), amount=8.0)
    announce(api, "absolute-1", (0, 3), kind=EventKind.ABSOLUTE, amount=100.0)
    announce(api, "absolute-2", (2, 4), kind=EventKind.ABSOLUTE, amount=50.0)
    assert {0: 64.0, 1: 64.0, 2: 72.0, 3: 8.0} == stood(api, of("extra"))
    assert {0: 100.0, 1: 100.0, 2: 100.0, 3: 50.0} == stood(api, of("absolute"))


def test_a_factor_is_no_number_of_gpus(api: Service) -> None:
    """It has a name of its own."""
    announce(api, "factor", (1, 2), kind=EventKind.FACTOR, amount=1.5)
    assert {1: 1.5} == stood(api, f'gpu_announcement:factor{{pool="{WHOLE}"}}')
    assert {} == stood(api, of("factor"))


def test_one_for_all_pools_is_there_for_each(api: Service) -> None:
    """For those that have a history or a forecast."""
    announce(api, "all", (1, 2), pool=None)
    assert {1: 64.0} == stood(api, of("extra", WHOLE)) == stood(api, of("extra", FRAGMENT))


def test_one_that_comes_again_comes_each_time(api: Service) -> None:
    """Also on days to come."""
    rule = Recurrence("FREQ=DAILY")
    announce(api, "daily", (1, 2), recurrence=rule)
    assert {1: 64.0, 25: 64.0, 49: 64.0} == stood(api, of("extra"), until_hours=60)


def test_what_was_called_off_stood_until_then(api: Service) -> None:
    """And what was announced when it had begun stood from then on."""
    announce(api, "off", (0, 5))
    announce(api, "late", (0, 5), kind=EventKind.ABSOLUTE, announced_seconds=SOON + 2 * HOUR)
    assert {} == stood(api, of("absolute")), "nobody has said it yet"
    api.clock.seconds = SOON + 3 * HOUR
    Announcements(api.context.database).cancel("off", api.clock())
    assert {0: 64.0, 1: 64.0, 2: 64.0} == stood(api, of("extra"))
    assert {2: 64.0, 3: 64.0, 4: 64.0} == stood(api, of("absolute"))
