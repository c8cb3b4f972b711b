"""Somebody who looks at the page in a real browser, and sees all that goes wrong there."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route

from tests.fakes.demand import WHOLE
from tests.fakes.page_service import NOW, PageService

PATIENCE_MS = 15_000
NO_PLOTS = "window.Plotly = { react: async () => {} };"
READ_ANEW = "document.dispatchEvent(new Event('visibilitychange'))"
Change = Callable[[Any], None]


@dataclass(frozen=True)
class Viewer:
    """Opens the page; at the end its console must be empty, and nobody else was asked."""

    browser: Browser

    @contextmanager
    def look(
        self,
        service: PageService,
        *,
        allowed: str | None = None,
        plotly: str | None = NO_PLOTS,
        prepare: Callable[[Page], None] = lambda page: None,
        **context: Any,
    ) -> Iterator[Page]:
        """The page, as long as somebody looks at it.

        Args:
            service: whose.
            allowed: part of the only lines that the console may show.
            plotly: what stands in for it, since it takes a second to load; None for itself.
            prepare: done before the page is opened.
            context: of the browser: its zone, size, colours.
        """
        opened = self.browser.new_context(**{"timezone_id": "Europe/Berlin"} | context)
        page = opened.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.clock.set_fixed_time(NOW)
        said: list[str] = []
        asked: list[str] = []
        page.on("console", lambda one: said.append(one.text) if one.type == "error" else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda one: asked.append(one.url))
        if plotly is not None:
            stub = {"body": plotly, "content_type": "text/javascript"}
            page.route("**/plotly.min.js", lambda route: route.fulfill(**stub))
        prepare(page)
        page.goto(f"{service.address}/")
        yield page
        opened.close()
        assert [] == [line for line in said if allowed is None or allowed not in line]
        assert [] == [url for url in asked if not url.startswith(service.address)]


def answering(path: str, change: Change) -> Callable[[Page], None]:
    """Lets the service's answer be changed on its way to the page."""

    def prepare(page: Page) -> None:
        def changed(route: Route) -> None:
            answer = route.fetch()
            content = answer.json()
            change(content)
            route.fulfill(response=answer, json=content)

        page.route(lambda url: url.split("?")[0].endswith(path), changed)

    return prepare


def read_anew(page: Page) -> None:
    """What the page does every 30 seconds, now; returns once it has been answered."""
    with page.expect_response("**/v1/audit?*"):
        page.evaluate(READ_ANEW)


def say_a_flood(page: Page) -> None:
    """Fill the form with a flood of this evening, by Berlin's clocks."""
    page.get_by_label("Whose demand").select_option(str(WHOLE))
    page.get_by_label("From", exact=True).fill("2026-03-04T18:00")
    page.get_by_label("To", exact=True).fill("2026-03-04T20:30")
    page.get_by_label("GPUs more", exact=True).fill("16")
    page.get_by_label("How sure").fill("90")
    page.get_by_label("Why", exact=True).fill("a <b>sweep</b>")


def until_focused(page: Page, selector: str) -> None:
    """Press Tab until an element of this kind has the focus."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("wanted => document.activeElement.matches(wanted)", selector):
            return
    pytest.fail(f"Tab never reached {selector}")
