"""`/prom` as clients meet it: answers, errors in Prometheus' form, scopes, and who is limited."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forecaster.api.prom.parameters import MOST_POINTS
from forecaster.scopes import Scope
from tests.fakes.announcements import HOUR
from tests.fakes.service import NOW_SECONDS, Service, service, token

API = "/prom/api/v1"
WHOLE = "a100/whole-node"


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with service(tmp_path_factory.mktemp("prom")) as opened:
        yield opened


def data(api: Service, path: str, **asked: Any) -> Any:
    answer = api.get(f"{API}/{path}", params=asked)
    assert (200, "success") == (answer.status_code, answer.json()["status"])
    return answer.json()["data"]


def error(api: Service, path: str, **asked: Any) -> tuple[int, str, str]:
    answer = api.get(f"{API}/{path}", params=asked)
    told = answer.json()
    assert "error" == told["status"]
    return answer.status_code, told["errorType"], told["error"]


def values(api: Service, query: str, start: int, end: int, step: object = 300) -> dict[str, Any]:
    """The values of one series by seconds from now."""
    (one,) = data(api, "query_range", query=query, start=start, end=end, step=step)["result"]
    return {at - NOW_SECONDS: float(value) for at, value in one["values"]}


def test_grafana_asks_whether_all_is_well(api: Service) -> None:
    """Its health check is just this."""
    expected = {"resultType": "scalar", "result": [4, "2"]}
    assert expected == data(api, "query", query="1+1", time="4")


def test_history_stands_at_the_close_of_its_steps(api: Service) -> None:
    """What a step came to is known when it closes, and not before."""
    history = api.context.history_samples.read().pools
    demand = next(one.columns["demand_gpus"] for pool, one in history.items() if str(pool) == WHOLE)
    query = f'gpu_demand:actual{{pool="{WHOLE}"}}'
    expected = {-600: demand[-3], -300: demand[-2], 0: demand[-1]}
    assert expected == values(api, query, NOW_SECONDS - 600, NOW_SECONDS + 600)


def test_the_future_is_what_is_forecast(api: Service) -> None:
    """Up to the horizon, and not beyond."""
    query = f'gpu_demand:predicted{{pool="{WHOLE}",band="p90",lead="latest"}}'
    found = values(api, query, NOW_SECONDS, NOW_SECONDS + 2 * HOUR, "5m")
    assert [300 * step for step in range(1, 13)] == list(found)
    path = api.context.newest_forecasts()
    said = next(one.forecast for pool, one in path.items() if str(pool) == WHOLE)
    assert found[3600] == pytest.approx(said.path_gpus[-1, 4], abs=1e-4)  # type: ignore[union-attr]
    assert {1800: found[1800]} == values(
        api, query.replace("latest", "30m"), NOW_SECONDS, NOW_SECONDS + 2 * HOUR, 900
    ) | {1800: found[1800]}


def test_announcements_past_and_to_come(api: Service) -> None:
    """Each for as long as it lasts."""
    query = f'gpu_announcement:gpus{{pool="{WHOLE}",kind="extra"}}'
    found = values(api, query, NOW_SECONDS - 6 * HOUR, NOW_SECONDS + 3 * HOUR, 600)
    past = [*range(-5 * HOUR, -3 * HOUR, 600)]
    assert [*past, *range(600, 600 + 2 * HOUR, 600)] == list(found)
    assert {64.0} == set(found.values())


def test_a_form_counts_as_a_query(api: Service) -> None:
    """Grafana posts what is long."""
    asked = {"query": "sum(gpu_demand:actual)", "time": str(NOW_SECONDS)}
    posted = api.post(f"{API}/query", data=asked).json()
    assert api.get(f"{API}/query", params=asked).json() == posted
    assert 1 == len(posted["data"]["result"])


def test_many_forms_are_no_writing(api: Service) -> None:
    """A dashboard posts more in a minute than anybody may write."""
    most = api.context.workspace.settings.service.writes_per_minute
    codes = {api.post(f"{API}/query", data={"query": "1"}).status_code for _ in range(most + 1)}
    assert {200} == codes


def test_names_labels_and_series(api: Service) -> None:
    """What a query editor asks for."""
    assert ["__name__", "band", "kind", "lead", "pool"] == data(api, "labels")
    assert ["p50", "p90"] == data(
        api, "label/band/values", **{"match[]": 'gpu_demand:predicted{band=~"p.0",band!="p10"}'}
    )
    assert ["a100/fragment", WHOLE] == data(api, "label/pool/values")
    assert [] == data(api, "label/nothing/values")
    selectors = [
        'gpu_demand:actual{pool=~".*node"}',
        f'{{__name__="gpu_demand:actual",pool="{WHOLE}"}}',
    ]
    assert [{"__name__": "gpu_demand:actual", "pool": WHOLE}] == data(
        api, "series", **{"match[]": selectors}
    )


def test_what_a_name_means_and_which_prometheus_this_is(api: Service) -> None:
    """Grafana reads both."""
    told = data(api, "metadata", metric="gpu_demand:actual")
    assert ["gpu_demand:actual"] == list(told)
    assert "gauge" == told["gpu_demand:actual"][0]["type"]
    assert 5 == len(data(api, "metadata"))
    assert "2.45.0" == data(api, "status/buildinfo")["version"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("rules", {"groups": []}),
        ("alerts", {"alerts": []}),
        ("query_exemplars", []),
        ("format_query?query=sum(x)", "sum(x)"),
    ],
)
def test_what_there_is_none_of_is_an_empty_success(
    api: Service, path: str, expected: object
) -> None:
    """Whoever asks for it goes on."""
    assert expected == api.get(f"{API}/{path}").json()["data"]


RANGE = {"query": "1", "start": "0", "end": "60", "step": "60"}


@pytest.mark.parametrize(
    ("path", "asked", "expected"),
    [
        ("query", {"query": "sum("}, (400, "bad_data")),
        ("query", {}, (400, "bad_data")),
        ("query", {"query": "1", "time": "noon"}, (400, "bad_data")),
        ("query", {"query": "1", "time": "2026-03-04T00:00:00"}, (400, "bad_data")),
        ("query", {"query": "rate(x[5m])"}, (422, "execution")),
        ("query", {"query": 'x{a=~"(?P<n>"}'}, (400, "bad_data")),
        ("query_range", RANGE | {"start": "60", "end": "0"}, (400, "bad_data")),
        ("query_range", RANGE | {"step": "0"}, (400, "bad_data")),
        ("query_range", RANGE | {"step": "soon"}, (400, "bad_data")),
        ("query_range", RANGE | {"step": ""}, (400, "bad_data")),
        ("query_range", RANGE | {"end": str(MOST_POINTS), "step": "1"}, (400, "bad_data")),
        ("series", {"match[]": "sum(x)"}, (400, "bad_data")),
        ("nothing/here", {}, (404, "not_found")),
    ],
)
def test_errors_are_prometheus_own(
    api: Service, path: str, asked: dict[str, str], expected: tuple[int, str]
) -> None:
    """Kind and status are what its clients know."""
    status, kind, text = error(api, path, **asked)
    assert expected == (status, kind)
    assert text


def test_as_many_points_as_prometheus_allows(api: Service) -> None:
    """The limit itself is not beyond it, and times are read as it reads them."""
    asked = {"start": "1970-01-01T00:00:00Z", "end": str(MOST_POINTS - 1), "step": "1s"}
    (one,) = data(api, "query_range", query="7", **asked)["result"]
    assert MOST_POINTS == len(one["values"])
    assert [[0, "7"], [1, "7"]] == one["values"][:2]


def test_a_damaged_file_is_told_with_every_answer(tmp_path: Path) -> None:
    """What is left is answered all the same."""
    with service(tmp_path) as own:
        for file in own.context.workspace.history_directory.glob("*fragment*"):
            file.write_bytes(b"no history")
        answer = own.get(f"{API}/query", params={"query": "gpu_demand:actual"}).json()
    assert [WHOLE] == [one["metric"]["pool"] for one in answer["data"]["result"]]
    assert "is damaged" in answer["warnings"][0]


def test_only_who_may_read_is_answered(tmp_path: Path) -> None:
    """By the same tokens as `/v1`, and refused in Prometheus' words."""
    with service(tmp_path, require_token=True) as own:
        assert (401, "unauthorized") == error(own, "query", query="1+1")[:2]
        assert 401 == own.get("/metrics").status_code
        own.token = token(own, Scope.ANNOUNCE)
        assert (403, "forbidden") == error(own, "query", query="1+1")[:2]
        own.token = token(own, Scope.READ)
        assert "2" == data(own, "query", query="1+1")["result"][1]
        assert 200 == own.get("/metrics").status_code
        assert 200 == own.get("/prom/").status_code
