"""How answers of Prometheus become demand: zero, absent and NaN are three different things."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest

from features.errors import BadInput, SourceUnavailable
from features.pool import Pool, Shape
from features.sources.prometheus import (
    NODES_LOOKED_AT_EVERY_SECONDS,
    PrometheusSource,
    exported_series,
)
from features.sources.prometheus_connection import PrometheusConnection
from features.sources.prometheus_http import PrometheusServer
from features.sources.protocol import SourceAnswer
from features.sources.queries import (
    CustomPool,
    CustomQueries,
    KubeStateMetricsQueries,
    RecordingRuleQueries,
)
from features.sources.query_plan import COUNTED
from tests.fakes.prometheus_server import Asked, FakePrometheus, Reply, error, names, success

WHOLE = Pool("a100", Shape.WHOLE_NODE)
PART = Pool("a100", Shape.FRAGMENT)
LABELS = {"gpu_type": "a100", "shape": "whole-node"}


def matrix(values: dict[int, str], labels: dict[str, str] | None = None) -> dict[str, object]:
    return {"metric": labels or {}, "values": [[at, value] for at, value in values.items()]}


def rules(**recorded: list[dict[str, object]]) -> Callable[[Asked], Reply]:
    """A Prometheus with our rules, that gives these samples for the series of these names."""

    def answers(asked: Asked) -> Reply:
        if asked.path.endswith("/labels"):
            return names(["__name__"])
        for name, result in recorded.items():
            if f"tidecast:{name}" in asked.parameters["query"]:
                return success(result)
        return success([])

    return answers


def scraped(*instants: int) -> list[dict[str, object]]:
    """The answer to whether the cluster was scraped at instants: it was at these."""
    return [matrix(dict.fromkeys(instants, "1"))]


ALWAYS = scraped(0, 300, 600, 900, 1200)


def pull(answers: Callable[[Asked], Reply], known_pools: tuple[Pool, ...] = ()) -> SourceAnswer:
    with FakePrometheus(answers) as fake:
        source = PrometheusSource(
            PrometheusConnection(fake.url, attempts=1), RecordingRuleQueries(), known_pools
        )
        return source.demand(0, 1200, 300)


def test_absent_is_zero_while_scraped_and_unknown_otherwise() -> None:
    """Four steps: demand, none, a gap at the close, a gap at the opening."""
    answer = pull(
        rules(
            last_scrape_timestamp_seconds=scraped(0, 300, 600, 1200),
            demand_gpus=[matrix({300: "8", 900: "8"}, LABELS)],
            running_gpus=[matrix({300: "8"}, LABELS)],
            capacity_gpus=[matrix({300: "16", 600: "16"}, {"gpu_type": "a100"})],
        )
    )
    (series,) = answer.series
    assert (WHOLE, 0, 300) == (series.pool, series.start_seconds, series.step_seconds)
    np.testing.assert_array_equal([8, 0, np.nan, np.nan], series.demand_gpus)
    np.testing.assert_array_equal([8, 0, np.nan, 0], series.running_gpus)
    np.testing.assert_array_equal([0, 0, np.nan, np.nan], series.submitted_jobs)
    np.testing.assert_array_equal([16, 16, np.nan, 0], series.capacity_gpus)
    assert ("2 of 4 steps are not known: nothing was scraped",) == answer.warnings


def test_a_sample_that_is_nan_is_not_known() -> None:
    """NaN from Prometheus is neither zero nor an error."""
    answer = pull(
        rules(
            last_scrape_timestamp_seconds=ALWAYS,
            demand_gpus=[matrix({300: "NaN", 600: "2"}, LABELS)],
        )
    )
    np.testing.assert_array_equal([np.nan, 2, 0, 0], answer.series[0].demand_gpus)


def test_copies_of_a_series_are_one() -> None:
    """A pair of Prometheus gives every series twice; what one of them missed, the other has."""
    one, other = {**LABELS, "replica": "a"}, {**LABELS, "replica": "b"}
    answer = pull(
        rules(
            last_scrape_timestamp_seconds=ALWAYS,
            demand_gpus=[
                matrix({300: "8", 600: "NaN", 900: "2"}, one),
                matrix({300: "8", 600: "4", 900: "3", 1200: "5"}, other),
            ],
        )
    )
    (series,) = answer.series
    np.testing.assert_array_equal([8, 4, 3, 5], series.demand_gpus)


def test_steps_with_held_jobs_are_capped() -> None:
    """What a quota held caps the steps that are known; held jobs alone are no pool's demand."""
    other = {"gpu_type": "l40s", "shape": "fragment"}
    answer = pull(
        rules(
            last_scrape_timestamp_seconds=scraped(0, 300, 600, 900),
            demand_gpus=[matrix({300: "8", 600: "8", 900: "8"}, LABELS)],
            held_jobs=[
                matrix({300: "2", 900: "NaN", 1200: "1"}, LABELS),
                matrix({300: "1"}, other),
            ],
        ),
        known_pools=(PART,),
    )
    part, whole = answer.series
    assert (PART, WHOLE) == (part.pool, whole.pool)
    assert [True, False, True, False] == whole.capped.tolist()
    np.testing.assert_array_equal([8, 8, 8, np.nan], whole.demand_gpus)
    assert not part.capped.any()


def test_known_pools_are_answered_even_if_idle() -> None:
    """A pool of an earlier pull without samples has no demand, and no gap."""
    answer = pull(rules(last_scrape_timestamp_seconds=ALWAYS), known_pools=(PART,))
    assert [PART] == [one.pool for one in answer.series]
    np.testing.assert_array_equal(np.zeros(4), answer.series[0].demand_gpus)


def test_nothing_at_all_is_no_series() -> None:
    """Where the profile's series are not there, nothing is known, and it is said."""
    answer = pull(lambda _: names([]), known_pools=(PART,))
    assert () == answer.series
    assert "has no tidecast:last_scrape_timestamp_seconds in this span" in answer.warnings[0]


def test_guesses_are_told_as_a_share() -> None:
    """A quarter of the pending demand has a guessed type."""
    answer = pull(
        rules(
            last_scrape_timestamp_seconds=ALWAYS,
            pending_gpus=[matrix({300: "4", 600: "4"}, LABELS)],
            guessed_gpus=[matrix({300: "2"})],
        )
    )
    assert "the GPU type of 25% of pending demand is a guess" in answer.warnings[0]


@pytest.mark.parametrize("labels", [{"shape": "fragment"}, {"gpu_type": "a100", "shape": "half"}])
def test_an_answer_that_names_no_pool_is_refused(labels: dict[str, str]) -> None:
    """Labels from which no pool can be told are named."""
    with pytest.raises(BadInput, match="names no pool"):
        pull(rules(last_scrape_timestamp_seconds=ALWAYS, demand_gpus=[matrix({300: "1"}, labels)]))


def test_one_partial_answer_refuses_all() -> None:
    """If any answer is partial, nothing of the pull is returned."""
    whole = rules(
        last_scrape_timestamp_seconds=ALWAYS,
        demand_gpus=[matrix({300: "8"}, LABELS)],
    )

    def answers(asked: Asked) -> Reply:
        if "tidecast:capacity_gpus" in asked.parameters.get("query", ""):
            return success([], ["one store gateway is away"])
        return whole(asked)

    with pytest.raises(SourceUnavailable, match="only in part"):
        pull(answers)


def test_an_end_before_its_start_is_refused_unasked() -> None:
    """Nothing is asked for a span that holds no step."""
    with FakePrometheus(lambda _: error(500, "x", "y")) as fake:
        source = PrometheusSource(PrometheusConnection(fake.url), RecordingRuleQueries())
        with pytest.raises(BadInput, match="the end must lie"):
            source.demand(1200, 0, 300)
        assert ([], fake.url) == (fake.asked, source.name)


def custom(
    presence: str,
    result: list[dict[str, object]],
    held: Sequence[dict[str, object]] = (),
    others: tuple[tuple[str, str], ...] = (),
) -> SourceAnswer:
    def answers(asked: Asked) -> Reply:
        query = asked.parameters["query"]
        if "count_over_time" in query:
            return success(scraped(0, 300, 600))
        return success(held if "held" in query else result)

    pools = CustomPool(WHOLE, "sum(mine)", others), CustomPool(PART, "sum(mine)")
    queries = CustomQueries(pools, presence)
    with FakePrometheus(answers) as fake:
        return PrometheusSource(PrometheusConnection(fake.url), queries).demand(0, 1200, 300)


def test_custom_queries_without_presence_leave_gaps() -> None:
    """Only with a series that says 'scraped' can an absent sample be read as zero."""
    result = [matrix({300: "5"})]
    (_, blind), (_, seeing) = custom("", result).series, custom("up", result).series
    np.testing.assert_array_equal([5, np.nan, np.nan, np.nan], blind.demand_gpus)
    np.testing.assert_array_equal([5, 0, np.nan, np.nan], seeing.demand_gpus)
    assert np.isnan(seeing.running_gpus).all()


def test_a_column_asked_for_one_pool_is_not_zero_for_another() -> None:
    """Whoever was not asked has not said that it has nothing."""
    part, whole = custom("up", [matrix({300: "5"})], others=(("queued_jobs", "mine"),)).series
    assert (PART, WHOLE) == (part.pool, whole.pool)
    np.testing.assert_array_equal([5, 0, np.nan, np.nan], whole.queued_jobs)
    assert np.isnan(part.queued_jobs).all()


def test_a_custom_cap_that_is_not_known_may_be_one() -> None:
    """Only 0, or no sample while scraped, says that no demand was hidden."""
    result, cap = [matrix({300: "5", 600: "5", 900: "5"})], (("capped", "held"),)
    held = [matrix({300: "0", 600: "2", 1200: "2"})]
    part, blind = custom("", result, held, cap).series
    assert [False, True, True, False] == blind.capped.tolist()
    assert not part.capped.any()
    _, seeing = custom("up", result, [], cap).series
    assert not seeing.capped.any()


def test_custom_queries_with_several_series_are_refused() -> None:
    """One query for one pool gives one series; how to make it one is said."""
    result = [matrix({300: "5"}, {"pod": "a"}), matrix({300: "6"}, {"pod": "b"})]
    with pytest.raises(BadInput, match=r"several series; make it one with sum\(\)"):
        custom("", result)


RAW = {
    "kube_pod_container_resource_requests": ("pod", "resource"),
    "kube_pod_status_phase": ("pod", "phase"),
    "kube_node_status_allocatable": ("node", "resource"),
}


def raw(
    series: Mapping[str, tuple[str, ...]], nodes: Sequence[dict[str, object]] = ()
) -> Callable[[Asked], Reply]:
    """A Prometheus that scraped these series of kube-state-metrics, and these counts of nodes."""

    def answers(asked: Asked) -> Reply:
        if asked.path.endswith("/labels"):
            return names(series.get(asked.parameters["match[]"], ()))
        if asked.path.endswith("/values"):
            resource = "cpu" if "pod_container" in asked.parameters["match[]"] else "pods"
            return names([resource])
        if asked.parameters["step"] == str(NODES_LOOKED_AT_EVERY_SECONDS):
            return success(nodes)
        is_scraped = "count_over_time" in asked.parameters["query"]
        return success(ALWAYS if is_scraped else [])

    return answers


def test_a_needed_series_that_is_missing_is_no_demand_of_zero() -> None:
    """Without phases demand would be wrong; where nothing is there at all, nothing is known."""
    without_phases = {name: labels for name, labels in RAW.items() if "phase" not in name}
    with FakePrometheus(raw(without_phases)) as fake:
        source = PrometheusSource(PrometheusConnection(fake.url), KubeStateMetricsQueries())
        with pytest.raises(SourceUnavailable, match="has no kube_pod_status_phase, without which"):
            source.demand(0, 1200, 300)
    with FakePrometheus(raw({})) as fake:
        source = PrometheusSource(
            PrometheusConnection(fake.url), KubeStateMetricsQueries(), (PART,)
        )
        answer = source.demand(0, 1200, 300)
    assert () == answer.series
    assert (
        "has no kube_pod_container_resource_requests, kube_pod_status_phase" in answer.warnings[0]
    )


def test_an_idle_cluster_has_no_demand_and_no_gap() -> None:
    """Nobody asks for a GPU: each column of a known pool is zero."""
    with FakePrometheus(raw(RAW)) as fake:
        source = PrometheusSource(
            PrometheusConnection(fake.url), KubeStateMetricsQueries(), (PART,)
        )
        (series,) = source.demand(0, 1200, 300).series
    for name in (*COUNTED, "capacity_gpus"):
        np.testing.assert_array_equal(np.zeros(4), getattr(series, name), name)


def test_what_a_cluster_has_is_seen_over_a_week() -> None:
    """The largest node tells a type's size, most nodes the commonest type; no GPUs, no size."""
    counts = [
        matrix({0: "5", 900: "5"}, {"gpu_type": "a100", "gpus": "4"}),
        matrix({0: "1"}, {"gpu_type": "a100", "gpus": "8"}),
        matrix({0: "1"}, {"gpu_type": "a100", "gpus": "2"}),
        matrix({0: "1"}, {"gpu_type": "l40s", "gpus": "4"}),
        matrix({0: "1"}, {"gpu_type": "l40s", "gpus": "2"}),
        matrix({0: "1"}, {"gpu_type": "l40s", "gpus": "3"}),
        matrix({0: "1"}, {"gpu_type": "l40s", "gpus": "1"}),
        matrix({0: "9", 900: "1"}, {"gpu_type": "broken", "gpus": "0"}),
    ]
    week = 7 * 86_400
    with FakePrometheus(raw(RAW, counts)) as fake:
        server = PrometheusServer(PrometheusConnection(fake.url))
        seen = exported_series(server, KubeStateMetricsQueries(), 2 * week - 300, 2 * week)
    assert {"a100": 8, "l40s": 4} == seen.gpus_per_node
    assert "a100" == seen.commonest_type
    assert {"cpu", "pods"} == seen.resources
    assert seen.has("kube_pod_status_phase", "phase")
    assert not seen.has("kube_node_labels")
    assert week + NODES_LOOKED_AT_EVERY_SECONDS == int(fake.asked[-1].parameters["start"])
