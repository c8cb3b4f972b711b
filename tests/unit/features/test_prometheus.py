"""How answers of Prometheus become demand: zero, absent and NaN are three different things."""

from collections.abc import Callable

import numpy as np
import pytest

from features.errors import BadInput, SourceUnavailable
from features.pool import Pool, Shape
from features.sources.prometheus import PrometheusSource
from features.sources.prometheus_connection import PrometheusConnection
from features.sources.protocol import SourceAnswer
from features.sources.queries import CustomPool, CustomQueries, RecordingRuleQueries
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


def ages(**by_instant: str) -> list[dict[str, object]]:
    return [matrix({int(at[1:]): age for at, age in by_instant.items()})]


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
            scrape_age_seconds=ages(t0="10", t300="10", t600="10", t1200="10"),
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


def test_an_old_scrape_is_a_gap_although_look_back_shows_it() -> None:
    """What Prometheus still shows 200 s after the last scrape is not taken for now."""
    answer = pull(
        rules(
            scrape_age_seconds=ages(t0="0", t300="150", t600="151", t900="0", t1200="0"),
            demand_gpus=[matrix({300: "8", 600: "8", 900: "8", 1200: "8"}, LABELS)],
        )
    )
    np.testing.assert_array_equal([8, np.nan, np.nan, 8], answer.series[0].demand_gpus)


def test_a_sample_that_is_nan_is_not_known() -> None:
    """NaN from Prometheus is neither zero nor an error."""
    fresh = ages(t0="0", t300="0", t600="0", t900="0", t1200="0")
    answer = pull(
        rules(scrape_age_seconds=fresh, demand_gpus=[matrix({300: "NaN", 600: "2"}, LABELS)])
    )
    np.testing.assert_array_equal([np.nan, 2, 0, 0], answer.series[0].demand_gpus)


def test_known_pools_are_answered_even_if_idle() -> None:
    """A pool of an earlier pull without samples has no demand, and no gap."""
    fresh = ages(t0="0", t300="0", t600="0", t900="0", t1200="0")
    answer = pull(rules(scrape_age_seconds=fresh), known_pools=(PART,))
    assert [PART] == [one.pool for one in answer.series]
    np.testing.assert_array_equal(np.zeros(4), answer.series[0].demand_gpus)


def test_nothing_at_all_is_no_series() -> None:
    """Where the profile's series are not there, nothing is known, and it is said."""
    answer = pull(lambda _: names([]), known_pools=(PART,))
    assert () == answer.series
    assert "has no tidecast:scrape_age_seconds in this span" in answer.warnings[0]


def test_guesses_are_told_as_a_share() -> None:
    """A quarter of the pending demand has a guessed type."""
    fresh = ages(t0="0", t300="0", t600="0", t900="0", t1200="0")
    answer = pull(
        rules(
            scrape_age_seconds=fresh,
            pending_gpus=[matrix({300: "4", 600: "4"}, LABELS)],
            guessed_gpus=[matrix({300: "2"})],
        )
    )
    assert "the GPU type of 25% of pending demand is a guess" in answer.warnings[0]


@pytest.mark.parametrize("labels", [{"shape": "fragment"}, {"gpu_type": "a100", "shape": "half"}])
def test_an_answer_that_names_no_pool_is_refused(labels: dict[str, str]) -> None:
    """Labels from which no pool can be told are named."""
    fresh = ages(t0="0", t300="0")
    with pytest.raises(BadInput, match="names no pool"):
        pull(rules(scrape_age_seconds=fresh, demand_gpus=[matrix({300: "1"}, labels)]))


def test_one_partial_answer_refuses_all() -> None:
    """If any answer is partial, nothing of the pull is returned."""
    whole = rules(
        scrape_age_seconds=ages(t0="0", t300="0", t600="0", t900="0", t1200="0"),
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


def custom(presence: str, result: list[dict[str, object]]) -> SourceAnswer:
    def answers(asked: Asked) -> Reply:
        if "timestamp" in asked.parameters["query"]:
            return success(ages(t0="0", t300="0", t600="0"))
        return success(result)

    queries = CustomQueries((CustomPool(WHOLE, "sum(mine)"),), presence)
    with FakePrometheus(answers) as fake:
        return PrometheusSource(PrometheusConnection(fake.url), queries).demand(0, 1200, 300)


def test_custom_queries_without_presence_leave_gaps() -> None:
    """Only with a series that says 'scraped' can an absent sample be read as zero."""
    result = [matrix({300: "5"})]
    (blind,), (seeing,) = custom("", result).series, custom("up", result).series
    np.testing.assert_array_equal([5, np.nan, np.nan, np.nan], blind.demand_gpus)
    np.testing.assert_array_equal([5, 0, np.nan, np.nan], seeing.demand_gpus)
    assert np.isnan(seeing.running_gpus).all()


def test_custom_queries_with_several_series_are_refused() -> None:
    """One query for one pool gives one series; how to make it one is said."""
    result = [matrix({300: "5"}, {"pod": "a"}), matrix({300: "6"}, {"pod": "b"})]
    with pytest.raises(BadInput, match=r"several series; make it one with sum\(\)"):
        custom("", result)
