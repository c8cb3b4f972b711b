"""A real Prometheus: what it answers is the job table that its series were made from."""

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from features.errors import SourceUnavailable
from features.job_demand import demand_of_jobs
from features.pool import Pool, Shape
from features.series import DemandSeries
from features.sources.prometheus import PrometheusSource
from features.sources.prometheus_connection import PrometheusConnection
from features.sources.prometheus_probe import probe_prometheus
from features.sources.queries import KubeStateMetricsQueries, RecordingRuleQueries
from features.sources.query_plan import Profile
from tests.fakes.real_prometheus import RealPrometheus, seed
from tests.integration.ksm_openmetrics import KsmNode, KsmPod, openmetrics
from tests.integration.small_cluster import A100, END, L40S, START, small_cluster

pytestmark = [pytest.mark.tool("prometheus"), pytest.mark.tool("promtool")]
COMPARED = (
    "demand_gpus",
    "running_gpus",
    "pending_gpus",
    "queued_jobs",
    "submitted_jobs",
    "submitted_gpus",
)
DAY_20 = START + 20 * 86_400


def source(server: RealPrometheus) -> PrometheusSource:
    return PrometheusSource(PrometheusConnection(server.url), KubeStateMetricsQueries())


def by_pool(series: tuple[DemandSeries, ...]) -> dict[Pool, DemandSeries]:
    return {one.pool: one for one in series}


def assert_equal_to_jobs(series: tuple[DemandSeries, ...], start: int, end: int, step: int) -> None:
    told = by_pool(series)
    for expected in demand_of_jobs(small_cluster().table(), start, end, step):
        if not expected.demand_gpus.any():
            continue
        actual = told.pop(expected.pool)
        for column in COMPARED:
            np.testing.assert_array_equal(
                getattr(expected, column), getattr(actual, column), f"{expected.pool} {column}"
            )
    assert {} == told


def test_three_instants_counted_by_hand(cluster_prometheus: RealPrometheus) -> None:
    """Demand of three steps is what one counts from the jobs of that morning."""
    answer = source(cluster_prometheus).demand(DAY_20 + 8 * 3600, DAY_20 + 12 * 3600, 300)
    series = by_pool(answer.series)
    whole, part = series[Pool(A100, Shape.WHOLE_NODE)], series[Pool(A100, Shape.FRAGMENT)]
    half, l40s = series[Pool(L40S, Shape.FRAGMENT)], series[Pool(L40S, Shape.WHOLE_NODE)]

    def row(hour: int, minute: int) -> int:
        moment = datetime.fromtimestamp(DAY_20, tz=UTC).replace(hour=hour, minute=minute)
        return (int(moment.timestamp()) - whole.start_seconds) // 300

    at = row(9, 5)  # the job of eight GPUs waits, as it has since 09:00:30
    assert (8, 0, 8, 1) == (
        whole.demand_gpus[at], whole.running_gpus[at], whole.pending_gpus[at], whole.queued_jobs[at]
    )  # fmt: skip
    at = row(9, 30)  # 4 and 2 GPUs overlap for a minute; only the 2 are left when the step closes
    assert (6, 2, 1, 2) == (
        part.demand_gpus[at], part.running_gpus[at],
        part.submitted_jobs[at], part.submitted_gpus[at],
    )  # fmt: skip
    at = row(9, 45)  # a node of four is full; half of one waits until 09:50:30
    assert (4, 0, 2, 2, 4) == (
        l40s.running_gpus[at], l40s.pending_gpus[at], half.demand_gpus[at], half.pending_gpus[at],
        half.capacity_gpus[at],
    )  # fmt: skip


def test_demand_of_all_days_is_the_job_tables(cluster_prometheus: RealPrometheus) -> None:
    """Every column of every step agrees with the job table, over 35 days at five minutes."""
    answer = source(cluster_prometheus).demand(START, END, 300)
    assert_equal_to_jobs(answer.series, START, END, 300)
    assert () == answer.warnings


def test_demand_at_one_minute_is_the_job_tables(cluster_prometheus: RealPrometheus) -> None:
    """The same holds for steps of a minute."""
    start, end = DAY_20 + 8 * 3600, DAY_20 + 12 * 3600
    answer = source(cluster_prometheus).demand(start, end, 60)
    assert_equal_to_jobs(answer.series, start, end, 60)


MORNING = END - 12 * 3600
EVENING = END
GPUS = "nvidia_com_gpu"


def evening_pods() -> list[KsmPod]:
    """Two pods over all of the twelve hours, one that comes in the middle of them."""
    return [
        KsmPod("long", ((GPUS, 8),), MORNING - 600, MORNING - 600, EVENING + 600, "a1", A100),
        KsmPod("part", ((GPUS, 3),), MORNING - 600, MORNING - 600, EVENING + 600, "a2", A100),
        KsmPod("late", ((GPUS, 2),), MORNING + 21_630, MORNING + 21_630, EVENING, "a2", A100),
    ]


def nodes() -> list[KsmNode]:
    return [KsmNode(name, A100, ((GPUS, 8),)) for name in ("a1", "a2")]


def started(directory: Path, *texts: str) -> RealPrometheus:
    server = RealPrometheus(seed(directory, *texts))
    server.start()
    return server


def test_a_gap_of_three_hours_is_not_known_and_not_zero(tmp_path: Path) -> None:
    """While nothing is scraped nothing is known, and what came meanwhile is no burst after it."""
    gap = range(MORNING + 4 * 3600, MORNING + 7 * 3600)
    text = openmetrics(
        nodes(), evening_pods(), range(MORNING, EVENING + 1, 60), seen=lambda at: at not in gap
    )
    server = started(tmp_path, text)
    try:
        answer = source(server).demand(MORNING + 600, EVENING, 300)
    finally:
        server.stop()
    part = by_pool(answer.series)[Pool(A100, Shape.FRAGMENT)]
    known = np.array([at not in gap and at + 300 not in gap for at in part.times_seconds.tolist()])
    # The last scrape was a minute before the gap: the state at its first edge is still known.
    known[np.flatnonzero(~known)[0]] = True
    np.testing.assert_array_equal(known, part.observed)
    assert {3.0, 5.0} == set(part.demand_gpus[known].tolist())
    assert 0 == np.nansum(part.submitted_jobs)
    assert np.isnan(part.running_gpus[~known][:-1]).all()
    assert "nothing was scraped" in answer.warnings[0]


def test_two_replicas_of_which_one_is_gappy_count_once(tmp_path: Path) -> None:
    """A pair of Prometheus gives the totals of one, however many scrapes the second missed."""
    scrapes = range(MORNING, EVENING + 1, 60)
    texts = (
        openmetrics(nodes(), evening_pods(), scrapes, "a"),
        openmetrics(nodes(), evening_pods(), scrapes, "b", seen=lambda at: at // 900 % 2 == 0),
    )
    one, pair = tmp_path / "one", tmp_path / "pair"
    answers = []
    for directory, copies in ((one, texts[:1]), (pair, texts)):
        directory.mkdir()
        server = started(directory, *copies)
        try:
            answers.append(source(server).demand(MORNING + 600, EVENING, 300))
        finally:
            server.stop()
    for alone, together in zip(answers[0].series, answers[1].series, strict=True):
        assert alone.pool == together.pool
        pd.testing.assert_frame_equal(alone.to_frame(), together.to_frame())
    whole = by_pool(answers[1].series)[Pool(A100, Shape.WHOLE_NODE)]
    assert {8.0} == set(whole.demand_gpus.tolist())
    assert {16.0} == set(whole.capacity_gpus.tolist())


def test_what_is_no_demand_and_what_is_a_part_of_a_gpu(tmp_path: Path) -> None:
    """Gated pods and placeholders are left out, MIG slices are parts, untold types are guessed."""
    over = (MORNING - 600, MORNING - 600, EVENING + 600)
    mig = "nvidia_com_mig_3g_40gb"
    pods = [
        KsmPod("slices", ((mig, 2),), *over, "a2", A100),
        KsmPod("tidecast-placeholder-1", ((GPUS, 8),), *over, "a1", A100),
        KsmPod(
            "gated", ((GPUS, 8),), MORNING - 600, *2 * (EVENING + 600,), "", A100, EVENING + 600
        ),
        KsmPod(
            "gated-untold",
            ((GPUS, 8),),
            MORNING - 600,
            *2 * (EVENING + 600,),
            "",
            "",
            EVENING + 600,
        ),
        KsmPod("untold", ((GPUS, 1),), MORNING - 600, EVENING + 600, EVENING + 600, ""),
    ]
    server = started(tmp_path, openmetrics(nodes(), pods, range(MORNING, EVENING + 1, 60)))
    try:
        answer = source(server).demand(EVENING - 3600, EVENING, 300)
        probe = probe_prometheus(PrometheusConnection(server.url), EVENING)
    finally:
        server.stop()
    (part,) = answer.series
    assert Pool(A100, Shape.FRAGMENT) == part.pool
    np.testing.assert_allclose(part.running_gpus, 6 / 7)
    assert {1.0} == set(part.pending_gpus.tolist())
    assert not part.capped.any(), "what is held are whole nodes"
    assert any("100% of pending demand is a guess" in one for one in answer.warnings)
    assert 1.0 == probe.guessed_share
    assert Profile.KUBE_STATE_METRICS is probe.recommended_profile
    assert 12 * 3600 == probe.history_seconds


def test_a_pod_behind_a_gate_comes_when_the_gate_opens(tmp_path: Path) -> None:
    """Until then it caps its pool, then it is a submission, as is one that ends in its step."""
    opens, brief = EVENING - 1_770, EVENING - 870
    pods = [
        KsmPod("gated", ((GPUS, 4),), MORNING, EVENING + 600, EVENING + 600, "", A100, opens),
        KsmPod("brief", ((GPUS, 2),), brief, brief, brief + 120, "a1", A100),
    ]
    server = started(tmp_path, openmetrics(nodes(), pods, range(EVENING - 7200, EVENING + 1, 60)))
    try:
        (series,) = source(server).demand(EVENING - 3600, EVENING, 300).series
    finally:
        server.stop()
    assert [0] * 6 + [4, 0, 0, 2, 0, 0] == series.submitted_gpus.tolist()
    assert [0] * 6 + [1, 0, 0, 1, 0, 0] == series.submitted_jobs.tolist()
    assert [0] * 6 + [4, 4, 4, 6, 4, 4] == series.demand_gpus.tolist()
    assert [0] * 6 + [4] * 6 == series.pending_gpus.tolist()
    assert {0.0} == set(series.running_gpus.tolist())
    assert [True] * 7 + [False] * 5 == series.capped.tolist()


def test_a_prometheus_that_dies_midway_comes_back(tmp_path: Path) -> None:
    """While it is down the source says so in one line; afterwards the same source answers."""
    server = started(
        tmp_path, openmetrics(nodes(), evening_pods(), range(EVENING - 3600, EVENING + 1, 60))
    )
    patient = PrometheusSource(
        PrometheusConnection(server.url, attempts=1), KubeStateMetricsQueries()
    )
    before = patient.demand(EVENING - 1800, EVENING, 300)
    server.stop()
    with pytest.raises(SourceUnavailable, match=r"cannot reach Prometheus at .*; check the URL"):
        patient.demand(EVENING - 1800, EVENING, 300)
    server.start()
    try:
        after = patient.demand(EVENING - 1800, EVENING, 300)
    finally:
        server.stop()
    for first, second in zip(before.series, after.series, strict=True):
        pd.testing.assert_frame_equal(first.to_frame(), second.to_frame())


def test_a_server_that_loads_few_samples_is_asked_in_pieces(tmp_path: Path) -> None:
    """A query that is refused for its size is asked in shorter spans, with the same result."""
    text = openmetrics(nodes(), evening_pods(), range(EVENING - 7200, EVENING + 1, 60))
    free = started(tmp_path, text)
    whole = source(free).demand(EVENING - 3600, EVENING, 300)
    free.stop()
    narrow = RealPrometheus(tmp_path / "data", ["--query.max-samples=150"])
    narrow.start()
    try:
        pieces = source(narrow).demand(EVENING - 3600, EVENING, 300)
    finally:
        narrow.stop()
    for first, second in zip(whole.series, pieces.series, strict=True):
        pd.testing.assert_frame_equal(first.to_frame(), second.to_frame())


def test_recorded_rules_are_read_as_they_were_recorded(tmp_path: Path) -> None:
    """Levels at the close, the highest of the step, and each submission once, of two replicas."""
    begin = EVENING - 3600
    lines: list[str] = []
    for name, value_at in {
        "demand_gpus": lambda minute: 8 if minute in {32, 44} else 4,
        "running_gpus": lambda minute: 4,
        "submitted_jobs": lambda minute: 2 if minute in {30, 32} else None,
        "held_jobs": lambda minute: 1 if minute in {32, 44} else None,
        "capacity_gpus": lambda minute: 16,
        "last_scrape_timestamp_seconds": lambda minute: begin + 60 * minute + 8,
    }.items():
        lines.append(f"# TYPE tidecast:{name} gauge\n")
        labels = {
            "last_scrape_timestamp_seconds": "",
            "capacity_gpus": 'gpu_type="a100",',
        }.get(name, 'gpu_type="a100",shape="whole-node",')
        for replica in ("a", "b"):
            for minute in range(61):
                # Rules are evaluated some seconds past the minute, and b missed a few.
                if (replica == "b" and minute % 7 == 0) or (value := value_at(minute)) is None:
                    continue
                at = begin + 60 * minute + (13 if minute < 60 else -1)
                lines.append(
                    f'tidecast:{name}{{{labels}prometheus_replica="{replica}"}} {value} {at}\n'
                )
    server = started(tmp_path, "".join(lines) + "# EOF\n")
    try:
        rules = PrometheusSource(PrometheusConnection(server.url), RecordingRuleQueries())
        (series,) = rules.demand(begin + 600, EVENING, 300).series
    finally:
        server.stop()
    assert Pool("a100", Shape.WHOLE_NODE) == series.pool
    # What was recorded at 44:13 is the state at 45:00, at which the next step opens.
    assert [4, 4, 4, 4, 8, 4, 8, 8, 4, 4] == series.demand_gpus.tolist()
    assert [0, 0, 0, 0, 4, 0, 0, 0, 0, 0] == series.submitted_jobs.tolist()
    assert [False] * 4 + [True, False, True, True, False, False] == series.capped.tolist()
    assert {4.0} == set(series.running_gpus.tolist())
    assert {16.0} == set(series.capacity_gpus.tolist())
