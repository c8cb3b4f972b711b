"""The API of a filled workspace, as a person at this machine sees it, and as tokens do."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.service import Service, service


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Service]:
    """A service that asks for no token."""
    with service(tmp_path) as opened:
        yield opened


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Service]:
    """A service that asks for one."""
    with service(tmp_path, require_token=True) as opened:
        yield opened
