"""What Prometheus itself makes of our expressions, asked of promtool."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from features.sources.promql import sampled_within
from features.sources.queries import RecordingRuleQueries
from features.sources.query_plan import Exported

pytestmark = pytest.mark.tool("promtool")


def assert_value(
    directory: Path, series: Mapping[str, str], expression: str, at: int, expected: float | None
) -> None:
    """Hold that an expression has one sample without labels, or none, over series of 30 s."""
    asked = {
        "expr": expression,
        "eval_time": f"{at}s",
        "exp_samples": [] if expected is None else [{"labels": "{}", "value": expected}],
    }
    test = {
        "interval": "30s",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "promql_expr_test": [asked],
    }
    file = directory / "test.yaml"
    file.write_text(json.dumps({"evaluation_interval": "30s", "tests": [test]}))
    done = subprocess.run(
        ["promtool", "test", "rules", file], check=False, capture_output=True, text=True, timeout=60
    )
    assert 0 == done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("series", "at", "expected"),
    [
        ("silent", 300, 1),
        ("silent", 450, 1),
        ("silent", 451, None),
        ("known_to_be_gone", 300, 1),
        ("known_to_be_gone", 330, None),
        ("never_there", 300, None),
    ],
)
def test_a_sample_is_believed_for_its_time_unless_its_target_is_known_to_be_gone(
    tmp_path: Path, series: str, at: int, expected: float | None
) -> None:
    """Both series end at 300 s; one has the mark by which Prometheus says that it is no more."""
    told = {"silent": "1x10", "known_to_be_gone": "1x10 stale"}
    assert_value(tmp_path, told, sampled_within(series, 150), at, expected)


@pytest.mark.parametrize(
    ("name", "at", "expected"),
    [
        ("scraped", 300, 0),  # a second replica that lags behind is no gap
        ("scraped", 450, 150),
        ("scraped", 451, None),
        ("pending_gpus", 300, 4 + 3),
        ("guessed_gpus", 300, 4),
    ],
)
def test_recorded_totals_count_no_copy_twice(
    tmp_path: Path, name: str, at: int, expected: float | None
) -> None:
    """Two replicas, of which the second is behind; the first recorded nothing after 300 s."""
    whole, part = 'gpu_type="a",shape="whole-node"', 'gpu_type="a",shape="fragment"'
    told = {
        'tidecast:last_scrape_timestamp_seconds{replica="a"}': "0+30x10",
        'tidecast:last_scrape_timestamp_seconds{replica="b"}': "0x10",
        f'tidecast:pending_gpus{{{whole},replica="a"}}': "4x10",
        f'tidecast:pending_gpus{{{whole},replica="b"}}': "4x10",
        f'tidecast:pending_gpus{{{part},replica="b"}}': "3x10",
        'tidecast:guessed_gpus{replica="a"}': "4x10",
        'tidecast:guessed_gpus{replica="b"}': "3x10",
    }
    plan = RecordingRuleQueries().plan(300, Exported(), 150)
    assert_value(tmp_path, told, getattr(plan, name), at, expected)


@pytest.mark.parametrize(
    ("column", "values", "expected"),
    [
        ("submitted_jobs", "1x20", 10),  # the sample of 300 s is the step's before
        ("demand_gpus", "1x7 9 1x11", 1),  # 240 s: a whole interval before the opening
        ("demand_gpus", "1x8 9 1x10", 9),  # 270 s: the state at the opening
        ("demand_gpus", "1x19 9", 9),
    ],
)
def test_each_step_has_the_samples_that_are_its_own(
    tmp_path: Path, column: str, values: str, expected: float
) -> None:
    """The step from 300 to 600 s, of samples on its very edges."""
    plan = RecordingRuleQueries().plan(300, Exported(), 150)
    (promql,) = [one.promql for one in plan.pools if one.column == column]
    told = {f'tidecast:{column}{{gpu_type="a",shape="fragment"}}': values}
    assert_value(tmp_path, told, f"sum({promql})", 600, expected)
