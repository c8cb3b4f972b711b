"""Forecasts as bytes that are written once; what is not known is said, and never a zero."""

import json
from collections.abc import Iterator

import pytest

from features.errors import SourceUnavailable
from forecaster.api.etags import is_held
from forecaster.database.forecasts import Forecasts
from tests.fakes.demand import WHOLE
from tests.fakes.forecasts import HORIZON, forecast_of
from tests.fakes.service import NOW_SECONDS, Service, service

ONE = "/v1/forecasts/a100/whole-node"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that nobody changes."""
    with service(tmp_path_factory.mktemp("service")) as opened:
        yield opened


@pytest.mark.parametrize(
    "path", [ONE, "/v1/forecasts/a100%2Fwhole-node", "/v1/forecasts/a100/whole"]
)
def test_a_forecast_has_all_that_was_said(shared: Service, path: str) -> None:
    """However the slash of the pool's name is written."""
    said = shared.get(path).json()
    made = forecast_of(WHOLE, NOW_SECONDS, now_gpus=40.0)
    assert ("a100/whole-node", NOW_SECONDS, 40.0) == (
        said["pool"], said["origin_seconds"], said["now_gpus"]
    )  # fmt: skip
    assert made.peak_gpus.tolist() == list(said["peak_gpus"].values())
    assert HORIZON.steps == len(said["path"])
    assert (dict(made.explanation), made.sentence) == (said["explanation_gpus"], said["sentence"])


def test_a_pool_without_a_forecast_says_why(shared: Service) -> None:
    """It has no number at all."""
    said = shared.get("/v1/forecasts/h100").json()
    assert {"available", "pool", "reason"} == set(said)
    assert said["available"] is False


def test_all_forecasts_come_together(shared: Service) -> None:
    """As each comes alone, in the order of the pools."""
    everything = shared.get("/v1/forecasts").json()["forecasts"]
    assert ["a100/fragment", "a100/whole-node", "h100"] == [one["pool"] for one in everything]
    assert shared.get(ONE).json() == everything[1]


def test_an_unknown_pool_is_a_problem(shared: Service) -> None:
    """It says where all of them are."""
    answer = shared.get("/v1/forecasts/b200")
    assert 404 == answer.status_code
    assert "/v1/pools" in answer.json()["detail"]


def test_what_the_caller_holds_is_not_sent_again(shared: Service) -> None:
    """Its ETag says so; it may be kept, and asked about each time."""
    answer = shared.get(ONE)
    etag = answer.headers["etag"]
    assert "private, no-cache" == answer.headers["cache-control"]
    again = shared.get(ONE, headers={"If-None-Match": f'W/{etag}, "other"'})
    assert (304, etag, b"") == (again.status_code, again.headers["etag"], again.content)
    assert 200 == shared.get(ONE, headers={"If-None-Match": '"other"'}).status_code
    assert etag != shared.get("/v1/forecasts/a100/fragment").headers["etag"]


def test_an_if_none_match_of_a_star_is_any() -> None:
    """And none at all is none."""
    assert is_held("*", '"a"')
    assert not is_held(None, '"a"')


def test_a_newer_forecast_is_given_a_second_later(local: Service) -> None:
    """Till then what was read is given, and the database is left alone."""
    before = local.get(ONE)
    newer = forecast_of(WHOLE, NOW_SECONDS, now_gpus=50.0)
    Forecasts(local.context.database).keep({WHOLE: newer}, HORIZON, NOW_SECONDS, NOW_SECONDS + 1)
    assert before.content == local.get(ONE).content
    local.clock.seconds += 1
    after = local.get(ONE)
    assert 50.0 == after.json()["now_gpus"]
    assert before.headers["etag"] != after.headers["etag"]


def test_what_is_the_same_is_not_written_again(
    local: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each second finds the same forecasts, and the same bytes."""
    local.get(ONE)
    monkeypatch.delattr("forecaster.api.forecast_documents.shape_of")
    local.clock.seconds += 1
    assert 200 == local.get(ONE).status_code


def test_a_forecast_of_long_ago_is_none(local: Service) -> None:
    """After an hour without a new one, that is what is said."""
    local.clock.seconds += 3_601
    said = local.get(ONE).json()
    assert said["available"] is False
    assert "within the last hour" in said["reason"]


def test_a_database_that_does_not_answer_is_a_503(
    local: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never an empty forecast."""

    def fail(*_: object) -> None:
        raise SourceUnavailable("the database is locked")

    monkeypatch.setattr(Forecasts, "newest", fail)
    answer = local.get(ONE)
    assert (503, "5") == (answer.status_code, answer.headers["retry-after"])
    assert "the database is locked" == json.loads(answer.content)["detail"]


class TestKeda:
    """What KEDA's metrics-api scaler reads: a number where `valueLocation` points, or an error.

    It takes what stands there if it is a JSON number or text of a number; null, a missing key and
    any status but 200 are errors to it (kedacore/keda, pkg/scalers/metrics_api_scaler.go).
    """

    PATH = "/v1/keda/a100/whole-node"

    def test_it_reads_the_peak_and_the_nodes(self, shared: Service) -> None:
        """At the quantile that the address asks for."""
        made = forecast_of(WHOLE, NOW_SECONDS, now_gpus=40.0)
        usual = shared.get(self.PATH).json()
        assert {
            "pool": "a100/whole-node", "quantile": 0.9, "peak_gpus": made.peak_at(0.9),
            "desired_nodes": 7,
        } == usual  # fmt: skip
        high = shared.get(f"{self.PATH}?quantile=0.99").json()
        assert made.peak_at(0.99) == high["peak_gpus"]
        assert 422 == shared.get(f"{self.PATH}?quantile=0.8").status_code

    @pytest.mark.parametrize(("pool", "status"), [("b200", 404), ("h100", 503)])
    def test_what_is_not_known_is_an_error(self, shared: Service, pool: str, status: int) -> None:
        """An empty answer that was read as 0 has cost others their replicas at the peak."""
        answer = shared.get(f"/v1/keda/{pool}")
        assert status == answer.status_code
        assert not {"peak_gpus", "desired_nodes"} & set(answer.json())

    def test_an_old_forecast_is_an_error(self, local: Service) -> None:
        """It says nothing of now."""
        local.clock.seconds += 900
        assert 200 == local.get(self.PATH).status_code
        local.clock.seconds += 1
        assert 503 == local.get(self.PATH).status_code

    def test_a_pool_that_no_fresh_plan_has_gives_no_nodes(self, shared: Service) -> None:
        """Null, which KEDA takes for an error too."""
        said = shared.get("/v1/keda/a100/fragment").json()
        assert said["desired_nodes"] is None
        assert said["peak_gpus"] > 0
