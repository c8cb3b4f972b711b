"""The catalogue of queries: what users may write, and that no value of theirs becomes PromQL."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from features.errors import BadInput
from features.pool import Pool, Shape
from features.sources.pod_settings import PodSettings, SharedResource
from features.sources.promql import highest_in_step, labelled, quoted
from features.sources.queries import (
    CustomPool,
    CustomQueries,
    KubeStateMetricsQueries,
    RecordingRuleQueries,
    queries_for,
)
from features.sources.query_plan import Exported, Profile

WHOLE = Pool("a100", Shape.WHOLE_NODE)


@given(st.text())
def test_a_quoted_value_ends_where_it_should(value: str) -> None:
    """Whatever the value, the string has no bare quote, backslash or line break inside."""
    inner = quoted(value)[1:-1]
    assert re.fullmatch(r'(?:[^"\\\n\r]|\\["\\nr])*', inner, re.DOTALL)
    unescaped = re.sub(
        r'\\(["\\nr])', lambda found: {"n": "\n", "r": "\r"}.get(found[1], found[1]), inner
    )
    assert value == unescaped


def test_a_label_value_is_no_replacement_pattern() -> None:
    """A dollar sign in a GPU type stays one."""
    assert 'label_replace(x, "gpu_type", "a$$1", "", "")' == labelled("x", "gpu_type", "a$1")


@pytest.mark.parametrize(
    ("step", "span"), [(300, "[301s:60s]"), (60, "[61s:60s]"), (30, "[31s:30s]")]
)
def test_the_highest_of_a_step_holds_both_its_edges(step: int, span: str) -> None:
    """The range is a second longer than the step, in Prometheus 2 and 3 alike."""
    assert f"max_over_time((x){span})" == highest_in_step("x", step)


def test_what_is_not_exported_is_not_asked_for() -> None:
    """Slices, selectors and gates cost nothing where there are none."""
    bare = KubeStateMetricsQueries().plan(300, Exported()).promql_of("demand_gpus")
    for absent in ("nvidia_com_mig", "kube_pod_nodeselectors", "SchedulingGated", "DCGM"):
        assert absent not in bare
    full = Exported(
        labels={"kube_pod_status_reason": frozenset({"reason"})},
        resources=frozenset({"nvidia_com_mig_1g_10gb", "nvidia_com_mig_1g_6gb"}),
    )
    asked = KubeStateMetricsQueries().plan(300, full).promql_of("demand_gpus")
    assert "SchedulingGated" in asked
    assert (
        f'resource=~"nvidia_com_mig_1g_10gb", node!="", pod!~"tidecast-placeholder-.+"}}) * {1 / 7}'
        in asked
    )
    assert (
        f'resource=~"nvidia_com_mig_1g_6gb", node!="", pod!~"tidecast-placeholder-.+"}}) * {1 / 4}'
        in asked
    )


def test_node_sizes_that_differ_are_told_by_type() -> None:
    """One size is compared as a number; several are looked up by type, with a default."""
    one = Exported(gpus_per_node={"a": 8, "b": 8})
    two = Exported(gpus_per_node={"a": 8, "b": 4})
    plans = [
        KubeStateMetricsQueries().plan(300, seen).promql_of("demand_gpus") for seen in (one, two)
    ]
    assert ">= 8" in plans[0]
    assert 'label_replace(vector(4), "gpu_type", "b", "", "")' in plans[1]


@pytest.mark.parametrize("gpus", [0, -1, 1.5])
def test_a_part_of_a_gpu_is_a_part(gpus: float) -> None:
    """A shared resource stands for more than nothing and at most a GPU."""
    with pytest.raises(BadInput, match="a part of a GPU"):
        SharedResource("x", gpus)


def test_rules_need_a_step_of_a_minute() -> None:
    """What is recorded once a minute cannot say more."""
    with pytest.raises(BadInput, match="choose a longer step"):
        RecordingRuleQueries().plan(30, Exported())


def test_custom_queries_are_checked() -> None:
    """Unknown columns, empty expressions and an empty profile are named."""
    with pytest.raises(BadInput, match="a query for 'utilisation'; there are"):
        CustomPool(WHOLE, "x", (("utilisation", "y"),))
    with pytest.raises(BadInput, match="the query for 'running_gpus' is empty"):
        CustomPool(WHOLE, "x", (("running_gpus", " "),))
    with pytest.raises(BadInput, match="give at least one pool"):
        CustomQueries(())


def test_profiles_by_name() -> None:
    """Each profile that needs no PromQL is found by its name, with the cluster's settings."""
    pods = PodSettings(selector='cluster="prod"')
    assert KubeStateMetricsQueries(pods) == queries_for(Profile.KUBE_STATE_METRICS, pods)
    assert RecordingRuleQueries('cluster="prod"') == queries_for(Profile.RECORDING_RULES, pods)
    for profile in (Profile.KUBE_STATE_METRICS, Profile.RECORDING_RULES):
        plan = queries_for(profile, pods).plan(300, Exported())
        selectors = re.findall(
            r"(?:kube_\w+|tidecast:\w+)(\{[^}]*\})?", plan.promql_of("demand_gpus")
        )
        assert all('cluster="prod"' in one for one in selectors)
