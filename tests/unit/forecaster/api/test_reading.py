"""What is read: pools, history, scores, plans, decisions, jobs and the API's own description."""

from collections.abc import Iterator

import numpy as np
import pytest

from features.errors import SourceUnavailable
from forecaster.api.description import operations
from forecaster.api.pool_levels import level_of
from forecaster.api.routes.history import _highest
from forecaster.database import Database
from tests.fakes.decisions import START_SECONDS
from tests.fakes.demand import WHOLE, tidal_series
from tests.fakes.service import DAYS, NOW_SECONDS, Service, service

HISTORY = "/v1/history/a100/whole-node"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that nobody changes."""
    with service(tmp_path_factory.mktemp("service")) as opened:
        yield opened


class TestPools:
    """How each pool stands now."""

    def test_what_is_known(self, shared: Service) -> None:
        """Demand of the newest step, capacity as the last plan saw it, trust of the last score."""
        newest = tidal_series(WHOLE, DAYS, seed=0, start_seconds=START_SECONDS).demand_gpus[-1]
        assert {
            "pool": "a100/whole-node", "gpu_type": "a100", "shape": "whole-node",
            "mode": "forecast-only", "demand_gpus": newest, "capacity_gpus": 40.0,
            "observed_seconds": NOW_SECONDS, "trust": "trust", "has_forecast": True,
        } == shared.get("/v1/pools/a100/whole-node").json()  # fmt: skip

    def test_what_is_not_known_is_null(self, shared: Service) -> None:
        """A pool that was never observed has no demand, which is not none."""
        silent = shared.get("/v1/pools").json()["pools"][2]
        assert ("h100", None, None, None, None, False) == tuple(
            silent[name]
            for name in (
                "pool", "demand_gpus", "capacity_gpus", "observed_seconds", "trust", "has_forecast"
            )
        )  # fmt: skip

    def test_an_old_level_is_none(self, local: Service) -> None:
        """A quarter of an hour after the newest step nobody knows."""
        local.clock.seconds += 1_200
        whole = local.get("/v1/pools/a100/whole-node").json()
        assert whole["demand_gpus"] is None

    def test_a_damaged_file_hides_levels_and_no_pool(self, local: Service) -> None:
        """All pools are still told of."""
        files = sorted(local.context.workspace.history_directory.glob("*.parquet"))
        files[0].write_bytes(files[0].read_bytes()[:-20] + b"x" * 20)
        answer = local.get("/v1/pools")
        assert 200 == answer.status_code
        assert {"a100/whole-node", "h100"} <= {one["pool"] for one in answer.json()["pools"]}

    def test_a_gap_at_the_end_leaves_the_step_before_it(self) -> None:
        """As the newest that is known."""
        series = tidal_series(days=1)
        demand = series.demand_gpus.copy()
        demand[-2:] = np.nan
        gappy = type(series)(WHOLE, series.start_seconds, 300, demand)
        level = level_of(gappy)
        assert demand[-3] == level.demand_gpus
        assert series.end_seconds - 600 == level.observed_seconds
        assert level.capacity_gpus is None


class TestHistory:
    """Demand as it was."""

    def test_the_last_day_is_given(self, shared: Service) -> None:
        """Step by step, oldest first."""
        page = shared.get(HISTORY).json()
        made = tidal_series(WHOLE, DAYS, seed=0, start_seconds=START_SECONDS)
        assert (300, 288, None) == (page["step_seconds"], len(page["steps"]), page["cursor"])
        assert made.demand_gpus[-288:].tolist() == [one["demand_gpus"] for one in page["steps"]]
        assert {None} == {one["capacity_gpus"] for one in page["steps"]}
        assert "2026-03-03T00:00:00Z" == page["steps"][0]["time"]

    def test_pages_make_up_the_whole(self, shared: Service) -> None:
        """Each step once."""
        since = "?since=2026-03-02T00:00:00Z&until=2026-03-02T10:00:00Z&limit=50"
        seen, cursor = [], ""
        while True:
            page = shared.get(f"{HISTORY}{since}{cursor}").json()
            seen += [one["time_seconds"] for one in page["steps"]]
            if page["cursor"] is None:
                break
            cursor = f"&cursor={page['cursor']}"
        first = START_SECONDS + 86_400
        assert list(range(first, first + 36_000, 300)) == seen

    def test_wider_steps_hold_the_highest(self, shared: Service) -> None:
        """Of what is known in each."""
        hours = shared.get(f"{HISTORY}?step_seconds=3600").json()["steps"]
        made = tidal_series(WHOLE, DAYS, seed=0, start_seconds=START_SECONDS)
        expected = made.demand_gpus[-288:].reshape(24, 12).max(axis=1)
        assert expected.tolist() == [one["demand_gpus"] for one in hours]
        assert 422 == shared.get(f"{HISTORY}?step_seconds=420").status_code

    def test_stretches_that_begin_within_are_cut(self) -> None:
        """And what is not known in any of their steps stays so."""
        values = np.array([1.0, 5.0, np.nan, np.nan, np.nan, 2.0])
        highest = _highest(values, lead=1, together=3)
        np.testing.assert_array_equal([5.0, np.nan, 2.0], highest)

    def test_what_was_not_observed_is_null(self, shared: Service) -> None:
        """Never a zero."""
        steps = shared.get("/v1/history/h100").json()["steps"]
        assert steps
        assert {None} == {one["demand_gpus"] for one in steps}

    @pytest.mark.parametrize(
        "query", ["since=2026-03-01", "since=2026-03-01T00:00:00", "since=1772323200", "limit=0"]
    )
    def test_a_time_without_an_offset_is_refused(self, shared: Service, query: str) -> None:
        """Never guessed; nor is a number that could be seconds or milliseconds."""
        assert 422 == shared.get(f"{HISTORY}?{query}").status_code

    def test_nothing_lies_between_times_that_are_the_wrong_way_round(self, shared: Service) -> None:
        """Or in years without history."""
        ends = "since=9999-12-31T23:59:59-12:00&until=0001-01-01T00:00:00Z"
        assert [] == shared.get(f"{HISTORY}?{ends}").json()["steps"]


def test_scores_come_with_the_verdict(shared: Service) -> None:
    """By pool, and of one pool over time."""
    (newest,) = shared.get("/v1/scores").json()["scores"]
    assert ("a100/whole-node", "trust", NOW_SECONDS) == (
        newest["pool"], newest["standing"], newest["scored_seconds"]
    )  # fmt: skip
    assert {"1 h", "1 d", "7 d"} == set(newest["spans"])
    assert 0.9 == newest["spans"]["1 d"]["coverage"]["0.9"]
    assert [newest] == shared.get("/v1/scores/a100/whole-node").json()["scores"]
    past = shared.get("/v1/scores/a100/whole-node?until=2026-03-01T00:00:00Z").json()
    assert [] == past["scores"]
    assert 404 == shared.get("/v1/scores/b200").status_code


def test_the_newest_plan_and_what_it_asks_for_later(shared: Service) -> None:
    """As the last cycle left them."""
    assert 7 == shared.get("/v1/plan").json()["pools"][0]["desired_nodes"]
    (later,) = shared.get("/v1/scheduled-actions").json()["actions"]
    assert (NOW_SECONDS + 600, 5, 9) == (
        later["at_seconds"], later["current_nodes"], later["desired_nodes"]
    )  # fmt: skip


def test_before_the_first_cycle_there_is_no_plan(
    local: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A problem, and no empty plan."""
    monkeypatch.setattr("forecaster.database.plans.Plans.newest", lambda _: None)
    assert 404 == local.get("/v1/plan").status_code
    assert {"made_seconds": None, "actions": []} == local.get("/v1/scheduled-actions").json()


class TestAudit:
    """Decisions on record."""

    def test_they_are_read_page_by_page(self, shared: Service) -> None:
        """Newest first, each once."""
        seen, cursor = [], ""
        while True:
            page = shared.get(f"/v1/audit?limit=2{cursor}").json()
            seen += [one["made_seconds"] - START_SECONDS for one in page["decisions"]]
            if page["cursor"] is None:
                break
            cursor = f"&cursor={page['cursor']}"
        assert [300, 240, 180, 120, 60, 0] == seen

    @pytest.mark.parametrize(
        ("query", "count"),
        [
            ("pool=h100", 1),
            ("shadow=true", 1),
            ("standing=abandoned", 1),
            ("since=2026-03-01T00:02:00Z&until=2026-03-01T00:04:00Z", 2),
        ],
    )
    def test_they_are_filtered(self, shared: Service, query: str, count: int) -> None:
        """By pool, kind, standing and time."""
        assert count == len(shared.get(f"/v1/audit?{query}").json()["decisions"])

    def test_one_is_shown_and_explained(self, shared: Service) -> None:
        """With what was seen and what became of it."""
        newest = shared.get("/v1/audit?standing=closed").json()["decisions"][0]["identifier"]
        assert newest == shared.get(f"/v1/audit/{newest}").json()["identifier"]
        told = shared.get(f"/v1/audit/{newest}/explanation").json()
        assert told["why"]
        assert told["happened"]
        assert 404 == shared.get("/v1/audit/1-0").status_code
        assert 404 == shared.get("/v1/audit/1-0/explanation").status_code


def test_jobs_and_their_runs(shared: Service) -> None:
    """With what each did last."""
    jobs = {one["job"]: one for one in shared.get("/v1/jobs").json()["jobs"]}
    assert "2 pools forecast" == jobs["forecast"]["last"]["detail"]
    (run,) = shared.get("/v1/jobs/runs?job=forecast").json()["runs"]
    assert ("forecast", "done") == (run["job"], run["standing"])


def test_the_service_is_not_ready_while_its_database_does_not_answer(
    local: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But it lives, and restarting it would not help."""

    def fail(_: Database) -> None:
        raise SourceUnavailable("the database is locked")

    monkeypatch.setattr(Database, "reading", fail)
    assert 503 == local.get("/readyz").status_code
    assert 200 == local.get("/healthz").status_code


class TestDescription:
    """The OpenAPI says all there is to say."""

    def test_every_operation_is_described(self, shared: Service) -> None:
        """A summary, an explanation, a tag, a name of its own, and every answer's meaning."""
        described = [
            (path, one)
            for path, _, one in operations(shared.get("/v1/openapi.json").json())
            if path.startswith("/v1")
        ]
        names = [one["operationId"] for _, one in described]
        assert sorted(set(names)) == sorted(names)
        for path, one in described:
            assert one["summary"], path
            assert one["description"], path
            assert one["tags"], path
            assert {"400", "401", "403", "429", "500", "503"} <= set(one["responses"]), path

    def test_every_schema_and_field_has_its_meaning(self, shared: Service) -> None:
        """Nobody has to guess what a number is."""
        schemas = shared.get("/v1/openapi.json").json()["components"]["schemas"]
        unsaid = [
            f"{name}.{field}"
            for name, schema in schemas.items()
            for field, one in schema.get("properties", {}).items()
            if not one.get("description") and "$ref" not in str(one) and "const" not in one
        ]
        assert [] == unsaid

    def test_a_method_that_is_not_taken_is_told_what_is(self, shared: Service) -> None:
        """All of them, of whichever routes."""
        for path, allowed in (
            ("/v1/modes/a100/whole-node", "GET, PUT"),
            ("/v1/announcements", "GET, POST"),
            ("/v1/announcements/preview", "POST"),
            ("/v1/announcements/soon/scores", "GET"),
        ):
            answer = shared.request("PATCH", path)
            assert (405, allowed) == (answer.status_code, answer.headers["allow"])
