"""The recording rules: the file in `deploy/`, its examples, and that it is the catalogue's."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from features.sources.pod_settings import PodSettings
from features.sources.queries import RecordingRuleQueries
from features.sources.query_plan import Exported
from features.sources.recording_rules import recording_rules

DEPLOY = Path(__file__).parents[3] / "deploy/prometheus"


def test_the_file_holds_the_rules_of_the_catalogue() -> None:
    """`rules.yaml` is what the catalogue gives for the default settings."""
    assert recording_rules(PodSettings()) == yaml.safe_load((DEPLOY / "rules.yaml").read_text())


def test_every_series_that_is_asked_for_is_recorded() -> None:
    """The profile asks for nothing that the rules do not record."""
    recorded = {rule["record"] for rule in recording_rules(PodSettings())["groups"][0]["rules"]}
    plan = RecordingRuleQueries().plan(300, Exported(), 150)
    names = {"capped": "tidecast:held_jobs"}
    for one in plan.pools:
        named = names.get(one.column, f"tidecast:{one.column}")
        assert [named] == re.findall(r"tidecast:\w+", one.promql)
    asked = " ".join((*(one.promql for one in plan.pools), plan.scraped, plan.guessed_gpus))
    assert set(re.findall(r"tidecast:\w+", asked)) <= recorded


def test_other_vendors_get_their_own_rules() -> None:
    """Resource names, labels and node sizes of the settings stand in the rules."""
    amd = PodSettings(
        gpu_resources=("amd_com_gpu",), shared_resources=(), gpus_per_node={"MI300X": 8}
    )
    text = "\n".join(rule["expr"] for rule in recording_rules(amd)["groups"][0]["rules"])
    assert "amd_com_gpu" in text
    assert 'vector(8), "gpu_type", "MI300X"' in text
    assert 'nvidia_com_gpu"' not in text
    assert "mig" not in text


@pytest.mark.tool("promtool")
@pytest.mark.parametrize("command", [("check", "rules.yaml"), ("test", "rules_test.yaml")])
def test_promtool_agrees(command: tuple[str, str]) -> None:
    """The rules are valid, and record what their examples say."""
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
