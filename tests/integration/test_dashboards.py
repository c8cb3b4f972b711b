"""Every query of every dashboard, asked of `/prom` and of a real Prometheus that scrapes us."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from forecaster.database.audit_log import AuditLog
from tests.fakes.busy_service import make_busy
from tests.fakes.dashboards import dashboards, filled_in, queries
from tests.fakes.decisions import START_SECONDS, event
from tests.fakes.real_prometheus import RealPrometheus
from tests.fakes.served import served
from tests.fakes.service import NOW_SECONDS, Service, service
from tests.fakes.waiting import eventually

pytestmark = pytest.mark.tool("prometheus")

VARIABLES = {"pool": "a100/whole-node", "idle_gpu_hour": "2", "waiting_hour": "10"}
DAY_SECONDS = 86_400
MINUTE = (NOW_SECONDS - START_SECONDS) // 60


@dataclass(frozen=True)
class Sources:
    """The two data sources of the dashboards.

    Attributes:
        tidecast: address of `/prom`.
        prometheus: address of a Prometheus that scrapes `/metrics`.
    """

    tidecast: str
    prometheus: str

    def results(self, source: str, expression: str) -> Sequence[Any]:
        """What a panel would show: a day before and the time to come, around the source's now."""
        url, now, since, until, step = (
            (self.tidecast, NOW_SECONDS, DAY_SECONDS, 6 * 3_600, 300)
            if source == "tidecast"
            else (self.prometheus, int(time.time()), 600, 2_400, 15)
        )
        asked = {"query": expression, "start": now - since, "end": now + until, "step": step}
        answer = httpx.post(f"{url}/api/v1/query_range", data=asked, timeout=30).json()
        assert "success" == answer["status"], answer
        result: Sequence[Any] = answer["data"]["result"]
        return result


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sources]:
    """Both, once decisions have been scraped before and after one that came between."""
    directory = tmp_path_factory.mktemp("dashboards")
    with service(directory) as opened, served(opened.app) as url:
        make_busy(opened)
        decide(opened, MINUTE - 2)
        scraping = RealPrometheus(directory / "prometheus", scraped=[url.removeprefix("http://")])
        (directory / "prometheus").mkdir()
        scraping.start()
        try:
            found = Sources(f"{url}/prom", scraping.url)
            counted = "sum(tidecast_decisions_total) > "
            eventually(lambda: found.results("prometheus", f"{counted} 0"), seconds=30)
            decide(opened, MINUTE - 1)
            eventually(lambda: found.results("prometheus", f"{counted} 1"), seconds=30)
            yield found
        finally:
            scraping.stop()


def decide(opened: Service, minute: int) -> None:
    """Put a decision on record."""
    AuditLog(opened.context.database).append(event(minute))


QUERIES = [
    pytest.param(source, expression, id=f"{one['uid']}: {title} ({number})")
    for one in dashboards()
    for number, (title, source, expression) in enumerate(queries(one))
]


@pytest.mark.parametrize(("source", "expression"), QUERIES)
def test_a_query_returns_data(sources: Sources, source: str, expression: str) -> None:
    """No panel is empty on a service that has been at work."""
    assert sources.results(source, filled_in(expression, VARIABLES))
