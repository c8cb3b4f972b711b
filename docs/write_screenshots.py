"""Writes the pictures of the page in `docs/images`, from the made-up week of the tests.

Run `python docs/write_screenshots.py` after a change to the page; it needs Debian's Chromium.
"""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
PATIENCE_MS = 30_000
CLUSTER = {"timezone_id": "Europe/Berlin", "reduced_motion": "reduce"}
LOOKS: dict[str, dict[str, Any]] = {
    "page-light": {"viewport": {"width": 1280, "height": 1180}, "color_scheme": "light"},
    "page-dark": {"viewport": {"width": 1280, "height": 1180}, "color_scheme": "dark"},
    "page-phone": {"viewport": {"width": 390, "height": 1180}, "color_scheme": "light"},
}


def main() -> None:
    """Look at the page in each way, and keep what is seen."""
    sys.path.insert(0, str(ROOT))
    from playwright.sync_api import sync_playwright

    from tests.fakes.page_service import NOW, page_service

    IMAGES.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as directory,
        page_service(Path(directory)) as service,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        for name, look in LOOKS.items():
            context = browser.new_context(**CLUSTER, **look)
            page = context.new_page()
            page.clock.set_fixed_time(NOW)
            page.goto(service.address)
            page.wait_for_selector("#score-plot .main-svg", timeout=PATIENCE_MS)
            page.screenshot(path=IMAGES / f"{name}.png")
            context.close()
            if name == "page-light":
                write_announcing(browser.new_context(**CLUSTER, **look), service.address, NOW)
        browser.close()


def write_announcing(context: Any, address: str, now: Any) -> None:
    """The form of an announcement whose effect is shown."""
    page = context.new_page()
    page.clock.set_fixed_time(now)
    page.goto(address)
    page.get_by_label("Whose demand").select_option("a100/whole-node")
    page.get_by_label("GPUs more", exact=True).fill("48")
    page.get_by_label("Why", exact=True).fill("sweep before the holidays")
    page.get_by_role("button", name="Preview its effect").click()
    page.wait_for_selector("#effect table")
    part = page.locator("#announce")
    part.evaluate("part => { part.style.padding = '1rem'; part.style.background = 'inherit'; }")
    part.screenshot(path=IMAGES / "page-announce.png")
    context.close()


if __name__ == "__main__":
    main()
