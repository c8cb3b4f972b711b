"""The command line in a directory of its own, and files to give it."""

import os
from pathlib import Path

import numpy as np
import pytest

from forecaster.cli import run
from tests.fakes.command_line import Command, Ran

START_SECONDS = 1_772_323_200  # 2026-03-01T00:00:00Z
DAYS = 4


@pytest.fixture
def tidecast(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Run one command line in an empty directory, without the machine's settings."""
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("TIDECAST_"):
            monkeypatch.delenv(name)
    # its tables take seconds to make; tests/integration/test_mlflow.py is about it
    monkeypatch.setenv("TIDECAST_MLFLOW__ENABLED", "false")

    def command(*arguments: str | Path) -> Ran:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        return Ran(code, *capsys.readouterr())

    return command


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
