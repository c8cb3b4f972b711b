"""A policy document: what may be written in it, what is refused, and that it comes back whole."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from actuator.backends.table import check_node_pool
from actuator.policy import (
    BALANCED,
    NodePoolPolicy,
    OperatingMode,
    Policy,
    PoolPolicy,
    ScheduledFloor,
    Strategy,
    priced_strategy,
)
from features.errors import BadInput
from forecaster.policy import PolicyDocument, canonical_yaml, policy_digest, read_policy
from tests.fakes.decisions import POOL, content, document

ROOT = Path(__file__).parents[3]
POOL_TEXT = "pools: [{pool: a100, node_gpus: 8, node_pools: [{name: a100}]%s}]\n"


def read(text: str) -> PolicyDocument:
    """A document from a text called policy.yaml."""
    return read_policy(text, "policy.yaml", check_node_pool)


def problems(text: str) -> list[str]:
    """The lines that a text is refused with, without the file's name."""
    with pytest.raises(BadInput) as refused:
        read(text)
    lines = str(refused.value).splitlines()
    assert all(line.startswith("policy.yaml: ") for line in lines)
    return [line.removeprefix("policy.yaml: ") for line in lines]


def in_pool(more: str) -> list[str]:
    """The same for a policy of one pool with more keys in it."""
    return problems(POOL_TEXT % f", {more}")


def test_a_pool_alone_is_a_policy_with_the_documented_defaults() -> None:
    """They are written in one place, and documents take them from there."""
    expected = Policy(7, (PoolPolicy("a100", 8, (NodePoolPolicy("a100"),)),))
    assert expected == read(POOL_TEXT % "").policy(7)


def test_everything_that_is_written_reaches_the_policy() -> None:
    """Nothing is lost on the way, whatever level it stands on."""
    policy = read(
        """
        pools:
          - pool: a100/whole-node
            mode: act
            strategy: {idle_gpu_hour: 1, waiting_hour: 3.0, tolerated_wait_seconds: 60}
            node_gpus: 8
            floor_nodes: 2
            ceiling_nodes: 9
            lead_seconds: 900
            gang_nodes: 2
            node_pools:
              - {name: spot, back_end: placeholder, capacity_type: spot, most_nodes: 4,
                 node_hour_price: 11, options: {node_labels: "pool=spot"}}
            schedule:
              - {cron: "0 9 * * 1-5", duration_seconds: 3600, least_nodes: 3, on_holidays: false}
        budget: {most_gpus: 100, most_per_hour: 50.5}
        reactive: {queue_threshold_jobs: 3}
        guards: {quiet_seconds: 60}
        launches: {timeout_seconds: 61}
        cycle_seconds: 30
        """.replace("node_labels", "node_selector")
    ).policy(2)
    (pool,) = policy.pools
    assert (
        PoolPolicy(
            pool=POOL,
            mode=OperatingMode.ACT,
            strategy=Strategy("priced", 0.75, 1.0, 1.0, tolerated_wait_seconds=60),
            node_gpus=8,
            floor_nodes=2,
            ceiling_nodes=9,
            lead_seconds=900,
            gang_nodes=2,
            node_pools=(
                NodePoolPolicy(
                    "spot", "placeholder", "spot", 4, 11.0, {"node_selector": "pool=spot"}
                ),
            ),
            schedule=(ScheduledFloor("0 9 * * 1-5", 3600, 3, on_holidays=False),),
        )
        == pool
    )
    assert (2, 100, 50.5, 3, 60, 61, 30) == (
        policy.version,
        policy.budget.most_gpus,
        policy.budget.most_per_hour,
        policy.reactive.queue_threshold_jobs,
        policy.guards.quiet_seconds,
        policy.launches.timeout_seconds,
        policy.cycle_seconds,
    )


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("balanced", BALANCED),
        ("{name: balanced}", BALANCED),
        ("{}", BALANCED),
        ("{idle_gpu_hour: 2, waiting_hour: 6}", priced_strategy(2, 6)),
        ("{name: cost, tolerated_wait_seconds: 9}", Strategy("cost", 0.75, 1.1, 0.9, 9)),
    ],
)
def test_a_strategy_is_a_name_or_two_prices_with_or_without_a_wait(
    written: str, expected: Strategy
) -> None:
    """All ways lead to the same value."""
    (pool,) = read(POOL_TEXT % f", strategy: {written}").policy(1).pools
    assert expected == pool.strategy


def test_the_example_is_a_policy() -> None:
    """Whoever copies it gets what its comments say."""
    policy = read((ROOT / "examples" / "policy.yaml").read_text(encoding="utf-8")).policy(1)
    assert [POOL, "a100/fragment", "l4"] == [pool.pool for pool in policy.pools]
    assert ["balanced", "priced", "cost"] == [pool.strategy.name for pool in policy.pools]
    assert {OperatingMode.FORECAST_ONLY} == {pool.mode for pool in policy.pools}
    assert policy.pools[1].strategy.quantile == pytest.approx(0.8)


@given(
    floor_nodes=st.integers(0, 20),
    gang_nodes=st.integers(1, 20),
    strategy=st.sampled_from(["cost", "balanced", {"idle_gpu_hour": 0.1, "waiting_hour": 7e-5}]),
    options=st.dictionaries(st.text(), st.text(), max_size=2),
)
def test_the_canonical_text_is_read_back_as_the_same_document(**changes: Any) -> None:
    """Whatever stands in its texts; and the digest is that of what it says."""
    options = changes.pop("options")
    node_pools = [{"name": "a100-spot", "options": options}]
    made = document(**changes, node_pools=node_pools)
    again = read_policy(canonical_yaml(made), "again", lambda _: None)
    assert made == again
    assert policy_digest(made) == policy_digest(again)
    assert policy_digest(made) != policy_digest(document(floor_nodes=3, ceiling_nodes=19))


def test_no_text_plays_tricks_on_a_terminal() -> None:
    """Line breaks of other alphabets, colours and unseen signs come escaped, and come back."""
    odd = "a\x85b\u2028\ufeff\x1b[31m"
    made = document(node_pools=[{"name": odd, "options": {odd: odd}}])
    text = canonical_yaml(made)
    assert text.isascii()
    assert "\x1b" not in text
    assert made == read_policy(text, "again", lambda _: None)


def test_the_canonical_text_leaves_nothing_to_defaults() -> None:
    """A version means the same after the defaults have changed."""
    written = yaml.safe_load(canonical_yaml(document()))
    assert {"pools", "budget", "reactive", "guards", "launches", "cycle_seconds"} == set(written)
    assert "lead_seconds" in written["pools"][0]


def test_all_problems_are_reported_at_once_with_their_places() -> None:
    """Of every level, of values and between them."""
    text = """
        pools:
          - pool: a100
            node_gpus: 8
            floor_nodes: 30
            flor_nodes: 2
            node_pools: [{name: a100, back_end: magic}]
            schedule: [{cron: "0 99 * * *", duration_seconds: 60, least_nodes: 1}]
          - {pool: h100, node_gpus: '8', node_pools: []}
        guards: {step_limit_share: 0}
        launches: {backoff_seconds: 99, longest_backoff_seconds: 9}
        cycle: 60
        """
    assert [
        "pools.0.ceiling_nodes: floor_nodes (30) is above ceiling_nodes (10); lower the one or "
        "raise the other",
        "pools.0.node_pools.0: node pool 'a100': there is no back end 'magic'; choose from "
        "dry_run, placeholder, capacity_buffer, scale, aws_asg",
        "pools.0.schedule.0.cron: '0 99 * * *' is no cron expression (bad hour); write it as "
        "'0 9 * * 1-5'",
        "unknown key 'pools.0.flor_nodes'; did you mean 'pools.floor_nodes'?",
        "pools.1.node_gpus is '8': input should be a valid integer",
        "pools.1.node_pools: no node pool serves it; name at least one",
        "guards.step_limit_share is 0: input should be greater than 0",
        "launches.longest_backoff_seconds: backoff_seconds (99) is above "
        "longest_backoff_seconds (9)",
        "unknown key 'cycle'; known here: pools, budget, reactive, guards, launches, cycle_seconds",
    ] == problems(text)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("gang_nodes: 11", "pools.0.gang_nodes: a gang of 11 nodes never fits under ceiling_nodes"),
        ("floor_nodes: yes", "pools.0.floor_nodes is True: input should be a valid integer"),
        ("floor_nodes: .nan", "pools.0.floor_nodes is nan: input should be a valid integer"),
        ("floor_nodes: 1000000000", "pools.0.floor_nodes is 1000000000: input should be less than"),
        ("mode: on", "pools.0.mode is True: input should be 'forecast-only', 'act' or 'paused'"),
        ("strategy: bold", "pools.0.strategy.name is 'bold': input should be 'cost', 'balanced'"),
        ("strategy: {idle_gpu_hour: 1}", "pools.0.strategy: idle_gpu_hour and waiting_hour go"),
        (
            "strategy: {name: cost, idle_gpu_hour: 1, waiting_hour: 1}",
            "pools.0.strategy: both a name and prices are given; keep one of them",
        ),
        (
            "schedule: [{cron: '@daily', duration_seconds: 60, least_nodes: 1}]",
            "pools.0.schedule.0.cron: '@daily' is no cron expression (it must have five fields)",
        ),
        (
            "schedule: [{cron: '0 0 30 2 *', duration_seconds: 60, least_nodes: 1}]",
            "pools.0.schedule.0.cron: '0 0 30 2 *' is no cron expression (bad day-of-month)",
        ),
        (
            "schedule: [{cron: '0 0 * * *', duration_seconds: 60, least_nodes: 11}]",
            "pools.0.schedule: least_nodes (11) is above ceiling_nodes (10)",
        ),
    ],
)
def test_what_a_pool_cannot_be_is_refused(more: str, expected: str) -> None:
    """One line: where, what, and what would be right."""
    (line,) = in_pool(more)
    assert line.startswith(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "must hold 'key: value' lines; docs/reference/policy.md has all"),
        ("pools: []", "pools: it names no pool; name at least one"),
        ("guards: {}", "pools is missing; docs/reference/policy.md says what it is"),
        (POOL_TEXT % ", node_gpus: 4", "line 1 is not YAML: a key is written twice in one group"),
        ("a: &a 1\nb: *a", "uses an alias (*name); write its content out"),
        ("[" * 9999, "line 1 is not YAML: exceeded maximum nesting depth"),
        ("a: 0x" + "f" * 9999, "holds a key or a value that a policy cannot have"),
        ("pools: {1: {}, ? !!binary aGk= : 2}", "holds a key or a value that a policy cannot have"),
        ("a: !!python/object:os.system {}", "line 1 is not YAML: could not determine"),
        ("x" * 2_000_001, "is longer than 2000000 characters; shorten it"),
        ('"a\\nb": 1\npools: []', "pools: it names no pool; name at least one"),
        (POOL_TEXT % "" + "budget: {most_gpus: -1}", "budget.most_gpus is -1: input should be"),
        (
            POOL_TEXT % ", floor_nodes: 4" + "budget: {most_gpus: 31}",
            "budget: the floors take 32 GPUs, most_gpus is 31",
        ),
        (
            (POOL_TEXT % ", floor_nodes: 4").replace("a100}]", "a100, node_hour_price: 2}]")
            + "budget: {most_per_hour: 7.5}",
            "budget: the floors cost at least 8 an hour, most_per_hour is 7.5",
        ),
        (
            (POOL_TEXT % ", floor_nodes: 4").replace("a100}]", "a100, most_nodes: 3}]"),
            "pools.0.node_pools: they may have 3 nodes together, which is less than floor_nodes",
        ),
        (
            POOL_TEXT % "" + "guards: {scale_down_below_share: 0.8}",
            "guards: scale_down_below_share (0.8) is not below the share at which 'a100' asks for",
        ),
        (
            POOL_TEXT % "" + "cycle_seconds: 300",
            "cycle_seconds: a cycle of 300 s is not below guards.gap_seconds (300)",
        ),
        (
            "pools: [{pool: a, node_gpus: 1, node_pools: [{name: x}]}, "
            "{pool: a, node_gpus: 1, node_pools: [{name: x}]}]",
            "pools: pool 'a' is named twice; node pool 'x' is named twice; it serves one pool",
        ),
        (
            POOL_TEXT.replace("pool: a100", "pool: ' a100'") % "",
            "pools.0.pool: ' a100' is no pool; write it as 'a100/whole-node' or 'a100'",
        ),
        (POOL_TEXT.replace("pool: a100", "pool: '  '") % "", "pools.0.pool: '  ' is no pool"),
    ],
)
def test_what_cannot_be_a_policy_is_refused(text: str, expected: str) -> None:
    """Whatever it is, the answer is lines, and the first one says what is wrong."""
    first, *_ = problems(text)
    assert first.startswith(expected)
    assert len(first) < 300


def test_a_pool_with_a_floor_at_its_bounds_is_allowed() -> None:
    """The rules between fields refuse what is beyond, not what is at them."""
    pool = (POOL_TEXT % ", floor_nodes: 10, gang_nodes: 10").replace(
        "a100}]", "a100, most_nodes: 10, node_hour_price: 2}]"
    )
    read(f"{pool}budget: {{most_gpus: 80, most_per_hour: 20.0}}")


def test_a_line_break_in_a_key_makes_no_second_line() -> None:
    """A stranger cannot write our log."""
    assert any("a\\nb" in line for line in problems(POOL_TEXT % "" + '"a\\nb": 1'))


def test_no_one_is_flooded_with_problems() -> None:
    """A hundred lines, and how many are left."""
    lines = problems("\n".join(f"key_{number}: 1" for number in range(300)))
    assert 101 == len(lines)
    assert "and 201 problems more" == lines[-1]


def test_a_stored_document_is_checked_again() -> None:
    """One of another program that this one does not understand is refused, and named."""
    with pytest.raises(BadInput, match=r"a test: unknown key 'pools\.0\.colour'"):
        document(colour="red")
    assert document() == document(**content()["pools"][0])
