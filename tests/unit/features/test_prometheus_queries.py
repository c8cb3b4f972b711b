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
from features.sources.query_plan import (
    COUNTED,
    Exported,
    PodState,
    PodUnit,
    Profile,
    QueryPlan,
)

WHOLE, PART = Pool("a100", Shape.WHOLE_NODE), Pool("a100", Shape.FRAGMENT)


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


def raw_plan(exported: Exported, pods: PodSettings | None = None) -> QueryPlan:
    return KubeStateMetricsQueries(pods or PodSettings()).plan(300, exported, 150)


def everything(plan: QueryPlan) -> str:
    """All the PromQL of a plan."""
    questions = [one.promql for one in (*plan.pools, *plan.pods)]
    return "\n".join([*questions, plan.scraped, plan.guessed_gpus, plan.pending_gpus])


def test_what_is_not_exported_is_not_asked_for() -> None:
    """Slices, selectors and gates cost nothing where there are none."""
    bare = raw_plan(Exported())
    for absent in ("nvidia_com_mig", "kube_pod_nodeselectors", "SchedulingGated", "DCGM"):
        assert absent not in everything(bare)
    assert [
        (state, PodUnit.GPUS) for state in (PodState.RUNNING, PodState.PENDING, PodState.ARRIVED)
    ] == [(one.state, one.unit) for one in bare.pods]
    full = raw_plan(
        Exported(
            labels={"kube_pod_status_reason": frozenset({"reason"})},
            resources=frozenset({"nvidia_com_mig_1g_10gb", "nvidia_com_mig_1g_6gb"}),
        )
    )
    assert {(state, unit) for state in PodState for unit in PodUnit} == {
        (one.state, one.unit) for one in full.pods
    }
    (parts,) = [
        one.promql
        for one in full.pods
        if (one.state, one.unit) == (PodState.RUNNING, PodUnit.PARTS)
    ]
    assert "SchedulingGated" in parts
    for resource, gpus in (("nvidia_com_mig_1g_10gb", 1 / 7), ("nvidia_com_mig_1g_6gb", 1 / 4)):
        matchers = f'resource=~"{resource}", node!="", pod!~"tidecast-placeholder-.+"'
        assert f"{{{matchers}}}) * {gpus}" in parts


def test_the_nodes_tell_the_shape_of_a_pod() -> None:
    """A pod that fills its type's node is whole-node; settings win over what was seen."""
    sizes = raw_plan(
        Exported(gpus_per_node={"a": 8, "b": 4}),
        PodSettings(gpus_per_node={"b": 2}, default_gpus_per_node=16),
    ).node_sizes
    whole, part = Shape.WHOLE_NODE, Shape.FRAGMENT
    assert [whole, part] == [sizes.shape("a", gpus, PodUnit.GPUS) for gpus in (8, 7)]
    assert [whole, part] == [sizes.shape("b", gpus, PodUnit.GPUS) for gpus in (2, 1)]
    assert [whole, part] == [sizes.shape("new", gpus, PodUnit.GPUS) for gpus in (16, 8)]
    assert part == sizes.shape("b", 2, PodUnit.PARTS)


@pytest.mark.parametrize(
    ("setting", "seen", "guess"),
    [("h100", "a100", "h100"), ("", "a100", "a100"), ("", "", "unknown")],
)
def test_an_untold_type_is_guessed(setting: str, seen: str, guess: str) -> None:
    """The user's guess comes before the type of most nodes, and either before none."""
    plan = raw_plan(Exported(commonest_type=seen), PodSettings(default_gpu_type=setting))
    (pending,) = [one.promql for one in plan.pods if one.state is PodState.PENDING]
    assert [guess] == re.findall(r'"gpu_type", "(\w+)"', pending)


def test_a_plan_knows_its_columns() -> None:
    """What the counts of pods make is told with what is asked for as it is, pool by pool."""
    assert {*COUNTED, "capacity_gpus"} == raw_plan(Exported()).columns_of(WHOLE)
    pools = CustomPool(WHOLE, "x"), CustomPool(PART, "y", (("queued_jobs", "z"),))
    plan = CustomQueries(pools).plan(300, Exported(), 150)
    assert ("demand_gpus", WHOLE) == (plan.pools[0].column, plan.pools[0].pool)
    assert {"demand_gpus"} == plan.columns_of(WHOLE)
    assert {"demand_gpus", "queued_jobs"} == plan.columns_of(PART)


def test_demand_and_its_cap_are_the_highest_of_a_step() -> None:
    """Jobs that were held for a minute hid demand; other levels are those at the close."""
    others = (("capped", "held"), ("queued_jobs", "waiting"))
    plan = CustomQueries((CustomPool(WHOLE, "x", others),)).plan(300, Exported(), 150)
    assert [
        ("demand_gpus", "max_over_time((x)[301s:60s])"),
        ("capped", "max_over_time((held)[301s:60s])"),
        ("queued_jobs", "waiting"),
    ] == [(one.column, one.promql) for one in plan.pools]


@pytest.mark.parametrize("gpus", [0, -1, 1.5])
def test_a_part_of_a_gpu_is_a_part(gpus: float) -> None:
    """A shared resource stands for more than nothing and at most a GPU."""
    with pytest.raises(BadInput, match="a part of a GPU"):
        SharedResource("x", gpus)


def test_rules_need_a_step_of_a_minute() -> None:
    """What is recorded once a minute cannot say more."""
    with pytest.raises(BadInput, match="choose a longer step"):
        RecordingRuleQueries().plan(59, Exported(), 150)
    assert RecordingRuleQueries().plan(60, Exported(), 150).pools


def test_custom_queries_are_checked() -> None:
    """Unknown columns, empty expressions and an empty profile are named."""
    with pytest.raises(BadInput, match="a query for 'utilisation'; there are"):
        CustomPool(WHOLE, "x", (("utilisation", "y"),))
    with pytest.raises(BadInput, match="a query for 'demand_gpus'; there are running_gpus"):
        CustomPool(WHOLE, "x", (("demand_gpus", "y"),))
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
        asked = everything(queries_for(profile, pods).plan(300, Exported(), 150))
        selectors = re.findall(r"(?:kube_\w+|tidecast:\w+)(\{[^}]*\})?", asked)
        assert len(selectors) > 8
        assert all('cluster="prod"' in one for one in selectors)
