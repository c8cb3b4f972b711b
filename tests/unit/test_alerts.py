"""The alerts: valid, tested when they fire and when they do not, and on metrics that there are."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from forecaster.api.metrics.table import METRICS

DEPLOY = Path(__file__).parents[2] / "deploy" / "prometheus"


def read(name: str) -> Any:
    return yaml.safe_load((DEPLOY / name).read_text(encoding="utf-8"))


@pytest.mark.tool("promtool")
@pytest.mark.parametrize("command", [("check", "alerts.yaml"), ("test", "alerts_test.yaml")])
def test_promtool_agrees(command: tuple[str, str]) -> None:
    """The alerts are valid, and fire when their examples say so."""
    verb, file = command
    done = subprocess.run(
        ["promtool", verb, "rules", file],
        check=False,
        cwd=DEPLOY,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert 0 == done.returncode, done.stdout + done.stderr


def test_every_alert_has_an_example_of_both() -> None:
    """One in which it fires, and one in which it stays silent."""
    (group,) = read("alerts.yaml")["groups"]
    examples = [
        one for test in read("alerts_test.yaml")["tests"] for one in test["alert_rule_test"]
    ]
    for alert in group["rules"]:
        own = [one for one in examples if one["alertname"] == alert["alert"]]
        assert {True, False} == {bool(one.get("exp_alerts")) for one in own}
        assert {"summary", "description"} == set(alert["annotations"])
        assert alert["labels"]["severity"] in {"warning", "critical"}


def test_alerts_look_at_metrics_that_are_served() -> None:
    """A metric that is renamed takes its alerts along."""
    text = (DEPLOY / "alerts.yaml").read_text(encoding="utf-8")
    assert set(re.findall(r"\btidecast_[a-z0-9_]+", text)) <= set(METRICS)
