"""What every test may lean on: the command line, and markers for programs that may be missing."""

import os
import shutil
from pathlib import Path

import pytest

from forecaster.cli import run
from tests.fakes.command_line import Command, Ran


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose program is missing; in CI, where all are installed, fail it."""
    for marker in item.iter_markers("tool"):
        (name,) = marker.args
        if shutil.which(name) is None:
            if os.environ.get("CI") == "true":
                pytest.fail(f"'{name}' is not installed, and CI skips no test", pytrace=False)
            pytest.skip(f"needs '{name}'")


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
