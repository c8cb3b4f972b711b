"""Files to give the command line."""

from pathlib import Path

import numpy as np
import pytest
import yaml

from tests.fakes.decisions import content

START_SECONDS = 1_772_323_200  # 2026-03-01T00:00:00Z
DAYS = 4


@pytest.fixture
def jobs_csv(tmp_path: Path) -> Path:
    """Four days of jobs with a tide: few at night, many at noon, whole nodes among them."""
    rng = np.random.default_rng(3)
    lines = ["job_id,submit,start,end,gpus,node_gpus,gpu_type"]
    for hour in range(DAYS * 24):
        busy = 1 + 6 * np.sin(np.pi * (hour % 24) / 24)
        for _ in range(rng.poisson(busy)):
            submit = START_SECONDS + hour * 3600 + int(rng.integers(3600))
            start = submit + int(rng.integers(300))
            end = start + int(rng.integers(600, 9000))
            gpus = rng.choice([1, 2, 8])
            lines.append(f"job-{len(lines)},{submit},{start},{end},{gpus},8,a100")
    path = tmp_path / "jobs.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def policy_files(tmp_path: Path) -> Path:
    """A directory with `policy.yaml`, `higher.yaml` of another ceiling, and `bad.yaml`."""
    bad = content(floor_nodes=30, flor_nodes=3, node_gpus="8")
    for name, written in (
        ("policy", content()),
        ("higher", content(ceiling_nodes=30)),
        ("bad", bad),
    ):
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(written), encoding="utf-8")
    return tmp_path
