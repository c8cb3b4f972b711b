"""A browser and a service, started once for each file.

Not for longer: as long as the browser is there, no other test of its process may run an event loop.
"""

from collections.abc import Iterator
from pathlib import Path
from shutil import which

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.fakes.page_service import PageService, page_service
from tests.fakes.page_viewer import PATIENCE_MS, Viewer


@pytest.fixture(scope="module")
def viewer() -> Iterator[Viewer]:
    expect.set_options(timeout=PATIENCE_MS)  # plots take a while on a busy machine
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=which("chromium"))
        yield Viewer(opened)
        opened.close()


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageService]:
    """A service that no test changes."""
    with page_service(tmp_path_factory.mktemp("quiet")) as running:
        yield running


@pytest.fixture
def own(tmp_path: Path) -> Iterator[PageService]:
    """A service for one test alone."""
    with page_service(tmp_path) as running:
        yield running
