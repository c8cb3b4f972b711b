"""The reference pages are what the code says of itself, and links between pages lead somewhere."""

import re
import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

from forecaster.settings import load_settings

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
WRITER = runpy.run_path(str(DOCS / "write_reference.py"))
PAGES: dict[str, Callable[[], str]] = WRITER["PAGES"]
WRITTEN = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]
LINK = re.compile(r"\[[^\]]*\]\(([^)#:]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("name", list(PAGES))
def test_a_reference_page_is_what_the_code_says(name: str) -> None:
    """An old page is renewed by `python docs/write_reference.py`."""
    assert PAGES[name]() == (DOCS / "reference" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", WRITTEN, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    """A page that is moved takes its links along."""
    links = LINK.findall(page.read_text(encoding="utf-8"))
    assert [] == [link for link in links if not (page.parent / link).exists()]


def test_the_example_settings_are_valid() -> None:
    """Whoever copies them gets what they say."""
    settings = load_settings(ROOT / "examples" / "tidecast.yaml")
    assert "Europe/Berlin" == settings.calendar.time_zone
