"""`/metrics` says what is known, by the names of its table, and nothing that is not."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import text

from actuator.plan import Mode
from features.errors import Unavailable
from forecaster.api.metrics.table import METRICS, Kind
from forecaster.database.audit_log import AuditLog
from forecaster.database.forecasts import Forecasts
from tests.fakes.busy_service import NODE_POOL, QUEUE, keep_cycle_state, keep_plan, make_busy
from tests.fakes.decisions import START_SECONDS, event
from tests.fakes.demand import WHOLE
from tests.fakes.forecasts import HORIZON
from tests.fakes.service import NOW_SECONDS, Service, service

POOL = str(WHOLE)


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Service]:
    with service(tmp_path) as opened:
        yield opened


def scraped(filled: Service) -> dict[str, dict[frozenset[tuple[str, str]], float]]:
    """Every sample by name and labels."""
    answer = filled.get("/metrics")
    assert 200 == answer.status_code
    found: dict[str, dict[frozenset[tuple[str, str]], float]] = {}
    for family in text_string_to_metric_families(answer.text):
        for sample in family.samples:
            labels = frozenset(sample.labels.items())
            assert labels not in found.setdefault(sample.name, {}), "a sample that is there twice"
            found[sample.name][labels] = sample.value
    return found


def value(filled: Service, name: str, **labels: str) -> float | None:
    """One sample; None where it is not there."""
    return scraped(filled).get(name, {}).get(frozenset(labels.items()))


def test_every_row_of_the_table_is_served_and_nothing_else(filled: Service) -> None:
    """Once there is something of everything, each name is there with just its labels."""
    make_busy(filled)
    AuditLog(filled.context.database).append(event(60 * 71))
    filled.get("/v1/pools")
    found = {name: one for name, one in scraped(filled).items() if name.startswith("tidecast")}
    assert set(METRICS) == set(found)
    for name, samples in found.items():
        expected = set(METRICS[name].labels)
        assert [expected] * len(samples) == [{key for key, _ in labels} for labels in samples]


@pytest.mark.parametrize("name", list(METRICS))
def test_a_name_says_what_it_is(name: str) -> None:
    """Counters end in `_total`, help is a sentence, labels are plain words."""
    metric = METRICS[name]
    assert re.fullmatch(r"tidecast_[a-z0-9_]+", name)
    assert (metric.kind is Kind.COUNTER) == name.endswith("_total")
    assert metric.help.endswith(".")
    assert not set(metric.labels) & {"quantile", "le", "instance", "exported_job"}


def test_what_is_forecast_now(filled: Service) -> None:
    """By pool, horizon and band; the peak by its window."""
    said = filled.context.newest_forecasts()[WHOLE].forecast
    assert not isinstance(said, Unavailable)
    told = {
        "15m": said.path_gpus[2, 4], "30m": said.path_gpus[5, 4], "60m": said.path_gpus[11, 4],
    }  # fmt: skip
    for horizon, expected in told.items():
        labels = {"pool": POOL, "horizon": horizon, "band": "p90"}
        assert pytest.approx(expected) == value(filled, "tidecast_forecast_gpus", **labels)
    labels = {"pool": POOL, "window": "30m", "band": "p99"}
    assert pytest.approx(said.peak_at(0.99)) == value(
        filled, "tidecast_forecast_peak_gpus", **labels
    )


def test_what_is_not_known_is_not_there(filled: Service) -> None:
    """Never a zero: a pool without a forecast, one without capacity, waits of nobody."""
    found = scraped(filled)
    pools = {dict(labels)["pool"] for labels in found["tidecast_forecast_gpus"]}
    assert {POOL, "a100/fragment"} == pools
    assert {40.0} == set(found["tidecast_capacity_gpus"].values())
    for name in (
        "tidecast_wait_seconds", "tidecast_launch_failures_in_a_row", "tidecast_decisions_total",
    ):  # fmt: skip
        assert name not in found
    assert {POOL} == {dict(labels)["pool"] for labels in found["tidecast_score_coverage"]}


def test_what_is_old_is_not_told_as_if_it_were_of_now(filled: Service) -> None:
    """Only its age is."""
    filled.clock.seconds += 1_800
    found = scraped(filled)
    for name in (
        "tidecast_forecast_gpus", "tidecast_forecast_peak_gpus", "tidecast_demand_gpus",
        "tidecast_desired_nodes", "tidecast_plan_mode", "tidecast_queued_jobs",
    ):  # fmt: skip
        assert name not in found
    for name in ("data_age", "forecast_age", "plan_age", "score_age"):
        assert {1_800.0} == set(found[f"tidecast_{name}_seconds"].values())


def test_that_nothing_could_be_said_is_no_forecast_of_no_age(filled: Service) -> None:
    """A pool about which the last word was 'not known' has no age either."""
    made = {WHOLE: Unavailable("no data")}
    Forecasts(filled.context.database).keep(made, HORIZON, NOW_SECONDS, NOW_SECONDS + 5)
    assert value(filled, "tidecast_forecast_age_seconds", pool=POOL) is None
    assert value(filled, "tidecast_forecast_gpus", pool=POOL, horizon="30m", band="p50") is None


def test_the_plan_and_what_it_saw(filled: Service) -> None:
    """Nodes now and later, the queue by GPU type, and how long jobs have waited."""
    keep_plan(filled.context.database, **QUEUE, note="x")
    expected = {
        "tidecast_current_nodes": 5.0,
        "tidecast_desired_nodes": 7.0,
        "tidecast_scheduled_nodes": 9.0,
        "tidecast_scheduled_timestamp_seconds": NOW_SECONDS + 600.0,
    }
    for name, nodes in expected.items():
        assert nodes == value(filled, name, pool=POOL)
    assert 2.0 == value(filled, "tidecast_queued_jobs", pool=POOL, gpu_type="a100")
    assert 16.0 == value(filled, "tidecast_queued_gpus", pool=POOL, gpu_type="a100")
    assert 240.0 == value(filled, "tidecast_wait_seconds", pool=POOL, percentile="p95")
    modes = ("predictive", "reactive", "announced", "held")
    assert [1.0, 0.0, 0.0, 0.0] == [
        value(filled, "tidecast_plan_mode", pool=POOL, mode=mode) for mode in modes
    ]


def test_decisions_are_counted_as_they_come(filled: Service) -> None:
    """Each once, of the last day at first, and those of a shadow policy not at all."""
    log = AuditLog(filled.context.database)
    labels = {"pool": POOL, "mode": "predictive", "reason": "step-limit"}

    def decide(minute: int, **changes: object) -> None:
        log.append(event(minute, **changes))

    day = (NOW_SECONDS - START_SECONDS) // 60
    decide(day - 24 * 60 - 1)
    decide(day - 24 * 60 + 1)
    decide(day - 2)
    assert 2.0 == value(filled, "tidecast_decisions_total", **labels)
    assert 2.0 == value(filled, "tidecast_decisions_total", **labels)
    for version, expected in ((3, 3.0), (4, 4.0), (5, 5.0)):
        decide(day - 1, version=version)
        assert expected == value(filled, "tidecast_decisions_total", **labels)
    decide(day, mode=Mode.ANNOUNCED, bound_by="announced")
    log.append(replace(event(day, version=9), shadow=True))
    assert 5.0 == value(filled, "tidecast_decisions_total", **labels)
    other = labels | {"mode": "announced", "reason": "announced"}
    assert 1.0 == value(filled, "tidecast_decisions_total", **other)


def test_node_pools_that_fail_and_those_that_came(filled: Service) -> None:
    """What is left of a backoff, and how long nodes take."""
    keep_cycle_state(filled.context.database)
    expected = {
        "tidecast_launch_failures_in_a_row": 2.0,
        "tidecast_backoff_seconds": 90.0,
        "tidecast_ordered_nodes": 3.0,
        "tidecast_provisioning_p95_seconds": 304.0,
    }
    for name, figure in expected.items():
        assert figure == value(filled, name, node_pool=NODE_POOL)
    filled.clock.seconds += 91
    assert 0.0 == value(filled, "tidecast_backoff_seconds", node_pool=NODE_POOL)


def test_scores_and_what_to_make_of_them(filled: Service) -> None:
    """By span and band."""
    labels = {"pool": POOL, "span": "7d", "band": "p90"}
    assert 0.9 == value(filled, "tidecast_score_coverage", **labels)
    assert pytest.approx(0.9) == value(filled, "tidecast_score_pinball_ratio", **labels)
    assert 1.0 == value(filled, "tidecast_verdict", pool=POOL, standing="trust")
    assert 0.0 == value(filled, "tidecast_verdict", pool=POOL, standing="demote")


def test_responses_are_counted_by_area_and_status(filled: Service) -> None:
    """What was refused before any route counts too, and paths of strangers make no series."""
    for path in ("/v1/pools", "/v1/pools", "/v1/none", "/x", "/y/z", "/prom/api/v1/query"):
        filled.get(path)
    filled.get("/v1/pools", headers={"Host": "evil.example"})
    found = scraped(filled)["tidecast_http_responses_total"]
    counted = {(dict(one)["area"], dict(one)["code"]): count for one, count in found.items()}
    assert {
        ("v1", "200"): 2.0, ("v1", "404"): 1.0, ("v1", "400"): 1.0,
        ("page", "404"): 2.0, ("prom", "400"): 1.0,
    } == counted  # fmt: skip


def test_a_part_that_cannot_be_read_says_so_and_the_others_are_there(filled: Service) -> None:
    """A scrape never fails as a whole."""
    with filled.context.database.writing() as connection:
        connection.execute(text("DROP TABLE jobs"))
    assert 1.0 == value(filled, "tidecast_reading_failed", part="jobs")
    assert 0.0 == value(filled, "tidecast_reading_failed", part="levels")
    assert value(filled, "tidecast_demand_gpus", pool=POOL) is not None


def test_the_form_is_what_the_scraper_asks_for(filled: Service) -> None:
    """OpenMetrics for who wants it."""
    asked = {"Accept": "application/openmetrics-text; version=1.0.0"}
    answer = filled.get("/metrics", headers=asked)
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    assert answer.text.endswith("# EOF\n")


def test_the_process_is_told_of(filled: Service) -> None:
    """Memory and processor time, as every Prometheus client has them."""
    assert scraped(filled)["process_resident_memory_bytes"][frozenset()] > 0
