"""`/prom` and its peers: promtool, `prometheus-api-client`, a Prometheus of the same samples."""

import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import numpy as np
import pytest
from prometheus_api_client import PrometheusConnect

from features.series import DemandSeries
from tests.fakes.demand import WHOLE
from tests.fakes.real_prometheus import RealPrometheus, seed
from tests.fakes.served import served
from tests.fakes.service import NOW_SECONDS, service

SINCE = NOW_SECONDS - 6 * 3_600
GAP = range(NOW_SECONDS - 7_200, NOW_SECONDS - 5_400)
POOL = 'pool="a100/whole-node"'


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`/prom` on a socket; one pool has a gap of half an hour."""
    with service(tmp_path_factory.mktemp("prom-api")) as opened:
        history = opened.context.workspace.history_directory
        store = opened.context.workspace.store
        whole = store.series([WHOLE])[0]
        for file in history.glob("*whole*"):
            file.unlink()
        gap = np.isin(whole.times_seconds, GAP)
        demand = np.where(gap, np.nan, whole.demand_gpus)
        store.import_series([DemandSeries(WHOLE, whole.start_seconds, 300, demand)])
        with served(opened.app) as address:
            yield f"{address}/prom"


def promtool(*arguments: str) -> str:
    done = subprocess.run(
        ["promtool", "query", *arguments], check=False, capture_output=True, text=True, timeout=60
    )
    assert 0 == done.returncode, done.stderr
    return done.stdout


@pytest.mark.tool("promtool")
def test_promtool_reads_an_instant_of_the_future(url: str) -> None:
    """Half an hour from now, by pool and band."""
    at = str(NOW_SECONDS + 1_800)
    told = promtool("instant", "--time", at, url, f"gpu_demand:predicted{{{POOL},lead='latest'}}")
    assert 7 == len(told.strip().splitlines())
    assert f'band="p50", lead="latest", {POOL}' in told
    assert "scalar: 2 @" in promtool("instant", url, "1+1")


@pytest.mark.tool("promtool")
def test_promtool_reads_a_range_labels_and_series(url: str) -> None:
    """Each of its queries is understood."""
    between = (f"--start={NOW_SECONDS - 600}", f"--end={NOW_SECONDS + 600}", "--step=5m")
    told = promtool("range", *between, url, "sum(gpu_demand:actual)")
    assert 3 == told.count("@[")
    assert ["a100/fragment", "a100/whole-node"] == promtool("labels", url, "pool").split()
    told = promtool("series", "--match=gpu_demand:actual", url)
    assert f'{{__name__="gpu_demand:actual", {POOL}}}' in told


@pytest.mark.tool("promtool")
def test_promtool_shows_what_is_refused(url: str) -> None:
    """In the server's own words."""
    done = subprocess.run(
        ["promtool", "query", "instant", url, "rate(gpu_demand:actual[5m])"],
        check=False, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert 0 != done.returncode
    assert "the function 'rate' is not answered here" in done.stderr


def test_the_python_client_reads_it(url: str) -> None:
    """Connection, names, an instant and a range, past and future in one."""
    client = PrometheusConnect(url=url)
    assert client.check_prometheus_connection()
    assert "gpu_demand:predicted" in client.all_metrics()
    (now,) = client.custom_query(f"gpu_demand:actual{{{POOL}}}", params={"time": NOW_SECONDS})
    assert NOW_SECONDS == now["value"][0]
    (future,) = client.custom_query_range(
        f'gpu_demand:predicted{{{POOL},band="p50",lead="latest"}}',
        start_time=datetime.fromtimestamp(NOW_SECONDS - 600, UTC),
        end_time=datetime.fromtimestamp(NOW_SECONDS + 7_200, UTC),
        step="300",
    )
    assert 12 == len(future["values"])
    (current,) = client.get_current_metric_value("gpu_demand:actual", {"pool": "a100/fragment"},
                                                 params={"time": NOW_SECONDS})  # fmt: skip
    assert "a100/fragment" == current["metric"]["pool"]


EXPRESSIONS = [
    "gpu_demand:actual",
    f"gpu_demand:actual{{{POOL}}}",
    'gpu_demand:actual{pool!~".*fragment"}',
    'gpu_demand:actual{pool=~"a100/.+",kind=""}',
    'gpu_demand:actual{pool="none"}',
    '{__name__=~"gpu_demand:act.*"}',
    "gpu_demand:actual offset 30m",
    "gpu_demand:actual offset -10m",
    "sum(gpu_demand:actual)",
    "max by (pool) (gpu_demand:actual)",
    "min by (kind) (gpu_demand:actual offset 7m)",
    "sum without (pool) (gpu_demand:actual)",
    "max(sum by (pool) (gpu_demand:actual))",
    "-(3 - 4.5) / 8",
]


@pytest.fixture(scope="module")
def real(url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Prometheus with the same samples; its look-back is open on the left, as in Prometheus 3."""
    directory = tmp_path_factory.mktemp("the-same")
    asked = {"query": "gpu_demand:actual", "start": SINCE, "end": NOW_SECONDS, "step": 300}
    lines = ["# TYPE gpu_demand:actual gauge"]
    for one in range_of(url, **asked)["result"]:
        pool = one["metric"]["pool"]
        lines += [f'gpu_demand:actual{{pool="{pool}"}} {value} {at}' for at, value in one["values"]]
    server = RealPrometheus(
        seed(directory, "\n".join([*lines, "# EOF\n"])), ["--query.lookback-delta=299999ms"]
    )
    server.start()
    yield server.url
    server.stop()


def range_of(url: str, **asked: Any) -> Any:
    return httpx.get(f"{url}/api/v1/query_range", params=asked, timeout=30).json()["data"]


def in_order(data: Any) -> list[Any]:
    return sorted(data["result"], key=lambda one: sorted(one["metric"].items()))


@pytest.mark.tool("prometheus")
@pytest.mark.tool("promtool")
@pytest.mark.parametrize("step", ["300", "77.5"])
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_prometheus_of_the_same_samples_says_the_same(
    url: str, real: str, expression: str, step: str
) -> None:
    """On and off the grid, over a gap, before the first sample and after the last."""
    asked = {"start": SINCE + 3_600, "end": NOW_SECONDS + 1_800, "step": step}
    ours, theirs = (range_of(one, query=expression, **asked) for one in (url, real))
    assert in_order(theirs) == in_order(ours)
    assert theirs["resultType"] == ours["resultType"]


@pytest.mark.tool("prometheus")
@pytest.mark.tool("promtool")
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_instant_is_the_same_too(url: str, real: str, expression: str) -> None:
    """At a moment between two samples."""
    asked = {"query": expression, "time": str(NOW_SECONDS - 4_321.5)}
    ours, theirs = (
        httpx.post(f"{one}/api/v1/query", data=asked, timeout=30).json()["data"]
        for one in (url, real)
    )
    assert theirs["resultType"] == ours["resultType"]
    if theirs["resultType"] == "scalar":
        assert theirs == ours
    else:
        assert in_order(theirs) == in_order(ours)
