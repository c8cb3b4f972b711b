"""For everybody: by keyboard, on a phone, in the dark, by ear, and safe from names like markup."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.fakes.page_service import HOSTILE, PageService, page_service
from tests.fakes.page_viewer import Viewer, say_a_flood, until_focused


def asked(name: str) -> str:
    """A question to the browser about the whole page."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


pytestmark = [pytest.mark.tool("chromium"), pytest.mark.browser]


def test_everything_can_be_done_with_a_keyboard(viewer: Viewer, quiet: PageService) -> None:
    """The skip link comes first, focus is seen, and keys choose, open and preview."""
    with viewer.look(quiet) as page:
        expect(page.locator("#decision-list > li")).to_have_count(10)
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to the pools")).to_be_focused()
        expect(page.get_by_role("link", name="Skip to the pools")).to_be_in_viewport()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        first = page.locator("#pool-list button").first
        expect(first).to_be_focused()
        assert "3px" == first.evaluate("one => getComputedStyle(one).outlineWidth")
        page.keyboard.press("Enter")
        expect(first).to_have_attribute("aria-pressed", "true")
        expect(first).to_be_focused()
        until_focused(page, "#decision-list summary")
        page.keyboard.press("Enter")
        expect(page.locator("#decision-list > li").first).to_contain_text("What became of it")
        until_focused(page, "#say-amount")
        page.keyboard.type("8")
        page.keyboard.press("Enter")
        expect(page.locator("#effect")).to_be_focused()
        page.keyboard.press("Tab")
        expect(page.get_by_role("button", name="Announce it")).to_be_focused()


def test_a_narrow_screen_never_scrolls_sideways(viewer: Viewer, quiet: PageService) -> None:
    """Not even with a decision and a preview open; what can be touched is large enough."""
    phone = {"width": 360, "height": 740}
    with viewer.look(quiet, viewport=phone, has_touch=True, plotly=None) as page:
        page.locator("#decision-list summary").first.click()
        expect(page.locator("#decision-list > li").first).to_contain_text("What became of it")
        say_a_flood(page)
        page.get_by_role("button", name="Preview its effect").click()
        expect(page.locator("#effect table")).to_be_visible()
        expect(page.locator("#pool-plot .main-svg").first).to_be_visible()
        for width in (360, 320, 700):
            page.set_viewport_size(phone | {"width": width})
            assert width == page.evaluate("document.documentElement.scrollWidth")
        sizes = page.locator("button:visible, select:visible").evaluate_all(
            "all => all.map(one => one.getBoundingClientRect().height)"
        )
        assert min(sizes) >= 24


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_can_be_read_in_the_light_and_in_the_dark(
    viewer: Viewer, quiet: PageService, scheme: Any
) -> None:
    """Every text has a contrast of 4.5 against what lies behind it; the dark page is dark."""
    with viewer.look(quiet, color_scheme=scheme) as page:
        page.locator("#decision-list summary").first.click()
        expect(page.locator("#decision-list > li").first).to_contain_text("What became of it")
        brightness = page.evaluate(
            "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]"
        )
        assert (brightness < 60) == (scheme == "dark")
        assert [] == page.evaluate(asked("readable.js"))


def test_every_control_has_a_name(viewer: Viewer, quiet: PageService) -> None:
    """As have all regions; identifiers are unique, and headings skip no level."""
    with viewer.look(quiet) as page:
        expect(page.locator("#decision-list > li")).to_have_count(10)
        assert [] == page.evaluate(asked("named.js"))


def test_names_from_outside_stay_text(viewer: Viewer, tmp_path: Path) -> None:
    """A pool that is called like markup is shown as it is written, everywhere."""
    with (
        page_service(tmp_path, pools=(HOSTILE,)) as service,
        viewer.look(service, plotly=None) as page,
    ):
        name = str(HOSTILE)
        expect(page.locator("#pool-name")).to_have_text(name)
        expect(page.locator("#pool-list strong")).to_have_text(name)
        expect(page.locator("#standing .number")).to_contain_text(name)
        expect(page.locator("#decision-list > li").first).to_contain_text(name)
        page.locator("#decision-list summary").first.click()
        expect(page.locator("#decision-list > li").first).to_contain_text(f"{name} should have")
        expect(page.locator("#pool-plot .main-svg").first).to_be_visible()
        assert 0 == page.locator("img").count()
