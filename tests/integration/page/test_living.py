"""The page over time: read anew, without the service, with a token, by either clock."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from forecaster.database.tokens import Tokens
from forecaster.scopes import Scope
from tests.fakes.page_service import NOW, NOW_SECONDS, PageService, page_service
from tests.fakes.page_viewer import READ_ANEW, Viewer, answering, read_anew, say_a_flood

pytestmark = [pytest.mark.tool("chromium"), pytest.mark.browser]


def test_reading_anew_keeps_focus_scroll_and_what_is_open(viewer: Viewer, own: PageService) -> None:
    """Only what has changed is written."""
    with viewer.look(own) as page:
        page.wait_for_load_state("networkidle")
        page.locator("#decision-list summary").nth(1).click()
        expect(page.locator("#decision-list > li").nth(1)).to_contain_text("What became of it")
        chosen = page.locator("#pool-list button", has_text="whole-node")
        chosen.focus()
        page.evaluate("scrollTo(0, 300)")
        answering("/v1/pools", lambda content: content["pools"][1].update(demand_gpus=91.0))(page)
        read_anew(page)
        expect(chosen).to_contain_text("Demand 91 of 96 GPUs")
        expect(chosen).to_be_focused()
        assert 300 == page.evaluate("scrollY")
        assert 1 == page.locator("#decision-list details[open]").count()


def test_it_reads_anew_every_30_seconds(viewer: Viewer, quiet: PageService) -> None:
    """Without anybody asking it to."""
    with viewer.look(quiet, prepare=lambda page: page.clock.install(time=NOW)) as page:
        expect(page.locator("#decision-list > li")).to_have_count(10)
        with page.expect_request("**/v1/pools"):
            page.clock.run_for(30_000)


def test_a_service_that_is_gone_is_said_to_be_gone(viewer: Viewer, quiet: PageService) -> None:
    """What stands there is old, and says since when; it comes back by itself."""
    with viewer.look(quiet, allowed="net::ERR_INTERNET_DISCONNECTED") as page:
        page.wait_for_load_state("networkidle")
        page.context.set_offline(offline=True)
        page.evaluate(READ_ANEW)
        expect(page.locator("#light-sentence")).to_have_text("The service does not answer.")
        expect(page.locator("#light-remedy")).to_contain_text("What you see is from 10:25.")
        expect(page.locator("#light")).to_have_attribute("data-level", "bad")
        page.context.set_offline(offline=False)
        page.evaluate(READ_ANEW)
        expect(page.locator("#light")).to_have_attribute("data-level", "good")


def test_a_token_is_asked_for_and_kept_in_the_tab_alone(viewer: Viewer, tmp_path: Path) -> None:
    """A wrong one is refused in words; the right one fills the page."""
    with page_service(tmp_path, require_token=True) as service:
        secret = Tokens(service.database).create("ada", frozenset({Scope.READ}), NOW_SECONDS).secret
        with viewer.look(service, allowed="40") as page:
            expect(page.get_by_label("Token")).to_be_focused()
            page.keyboard.type("wrong")
            page.keyboard.press("Enter")
            expect(page.locator("#token-problem")).to_contain_text("does not count")
            page.get_by_label("Token").fill(secret)
            page.keyboard.press("Enter")
            expect(page.locator("#pool-name")).to_have_text("a100/whole-node")
            expect(page.get_by_label("Token")).to_be_hidden()
            assert [secret] == page.evaluate("Object.values(sessionStorage)")
            assert secret not in page.evaluate("JSON.stringify(localStorage) + document.cookie")
            say_a_flood(page)
            page.get_by_role("button", name="Preview its effect").click()
            expect(page.locator("#announce-problem")).to_contain_text("lacks the scope 'announce'")


def test_times_are_told_by_either_clock(viewer: Viewer, quiet: PageService) -> None:
    """The same instants by other clocks, in the form too; the choice is kept."""
    with viewer.look(quiet, timezone_id="America/New_York") as page:
        expect(page.locator("#pool-plan")).to_contain_text("by 04:50")
        expect(page.locator("#decision-list > li").first).to_contain_text("Tue 3 Mar, 20:30")
        page.get_by_label("From", exact=True).fill("2026-03-04T12:00")
        page.locator("#zones").get_by_role("radio").nth(1).check()
        expect(page.locator("#pool-plan")).to_contain_text("by 10:50")
        expect(page.get_by_label("From", exact=True)).to_have_value("2026-03-04T18:00")
        expect(page.locator("#decision-list > li").first).to_contain_text("02:30")
        page.reload()
        expect(page.locator("#pool-plan")).to_contain_text("by 10:50")
