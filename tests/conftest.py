"""What every test may lean on: markers for programs that a machine may lack."""

import os
import shutil

import pytest


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose program is missing; in CI, where all are installed, fail it."""
    for marker in item.iter_markers("tool"):
        (name,) = marker.args
        if shutil.which(name) is None:
            if os.environ.get("CI") == "true":
                pytest.fail(f"'{name}' is not installed, and CI skips no test", pytrace=False)
            pytest.skip(f"needs '{name}'")
