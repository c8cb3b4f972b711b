"""What people do on the page: announce floods, call them off, change modes."""

from typing import Any

import pytest
from playwright.sync_api import Route, expect

from forecaster.database.announcements import AnnouncementFilter, Announcements
from tests.fakes.demand import WHOLE
from tests.fakes.page_service import NOW, NOW_SECONDS, PageService
from tests.fakes.page_viewer import Viewer, say_a_flood

pytestmark = [pytest.mark.tool("chromium"), pytest.mark.browser]


def active(service: PageService) -> list[Any]:
    """What is announced, newest first."""
    page = Announcements(service.database).page(AnnouncementFilter(active_seconds=NOW_SECONDS))
    return [one.announcement for one in page.announcements]


def test_a_flood_is_previewed_announced_and_called_off(viewer: Viewer, own: PageService) -> None:
    """Nothing is sent before its effect was seen; what is sent is what was said."""
    with viewer.look(own) as page:
        say_a_flood(page)
        expect(page.get_by_role("button", name="Announce it")).to_be_hidden()
        page.get_by_role("button", name="Preview its effect").click()
        effect = page.locator("#effect")
        expect(effect).to_contain_text("It comes 18:00 to 20:30.")
        expect(effect).to_contain_text("a100/whole-node")
        expect(effect).to_contain_text("at most 20")
        assert 1 == len(active(own))
        page.get_by_label("GPUs more", exact=True).fill("24")
        expect(page.get_by_role("button", name="Announce it")).to_be_hidden()
        page.get_by_role("button", name="Preview its effect").click()
        page.get_by_role("button", name="Announce it").click()
        expect(page.locator("#announce-state")).to_contain_text("It is announced.")
        said = next(one for one in active(own) if one.identifier != "sweep")
        assert (str(WHOLE), 24.0, 0.9) == (said.pool, said.amount, said.certainty)
        assert ("a <b>sweep</b>", "local") == (said.reason, said.owner)
        assert NOW.replace(hour=17, minute=0).timestamp() == said.start_seconds
        assert NOW.replace(hour=19, minute=30).timestamp() == said.end_seconds
        page.get_by_role("button", name="Call off: 24 GPUs more, 90 % sure").click()
        page.get_by_role("button", name="Call it off").click()
        expect(page.locator("#standing li")).to_have_count(1)
        assert ["sweep"] == [one.identifier for one in active(own)]


def test_an_announcement_whose_answer_is_lost_is_not_made_twice(
    viewer: Viewer, own: PageService
) -> None:
    """The page says that it is uncertain; sending again carries the same key."""

    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    with viewer.look(own, allowed="net::ERR_FAILED") as page:
        say_a_flood(page)
        page.get_by_role("button", name="Preview its effect").click()
        page.route("**/v1/announcements", lose, times=1)
        page.get_by_role("button", name="Announce it").click()
        expect(page.locator("#announce-problem")).to_contain_text("Sending it again is safe.")
        assert 2 == len(active(own))
        page.get_by_role("button", name="Announce it").click()
        expect(page.locator("#announce-state")).to_contain_text("It is announced.")
    assert 2 == len(active(own))


def test_what_cannot_be_announced_says_why(viewer: Viewer, quiet: PageService) -> None:
    """The service's reason stands at the form, and there is nothing to send."""
    with viewer.look(quiet, allowed="422") as page:
        say_a_flood(page)
        page.get_by_label("GPUs more", exact=True).fill("9999")
        page.get_by_role("button", name="Preview its effect").click()
        expect(
            page.get_by_role("alert").filter(has_text="more than a100/whole-node may have")
        ).to_be_visible()
        expect(page.get_by_role("button", name="Announce it")).to_be_hidden()
        page.get_by_label("To", exact=True).fill("2026-03-04T17:00")
        page.get_by_role("button", name="Preview its effect").click()
        expect(page.locator("#announce-problem")).to_contain_text("it ends before it begins")


def test_a_mode_is_changed_only_after_a_question(viewer: Viewer, own: PageService) -> None:
    """The answer that leaves things as they are is the one that has the focus."""
    with viewer.look(own) as page:
        page.get_by_role("radio", name="Act").check()
        page.get_by_role("button", name="Change").click()
        dialog = page.get_by_role("dialog", name="Act: a100/whole-node?")
        expect(dialog.get_by_role("button", name="Leave it")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_role("radio", name="Forecast only")).to_be_checked()
        assert 0 == own.context.modes.get(str(WHOLE)).version
        page.get_by_role("radio", name="Act").check()
        page.get_by_role("button", name="Change").click()
        dialog.get_by_role("button", name="Act").click()
        expect(page.locator("#pool-mode")).to_contain_text("Set by local")
        expect(page.get_by_role("radio", name="Act")).to_be_checked()
        expect(page.locator("#light-sentence")).to_contain_text("Tidecast acts for 1 of 2 pools.")
    assert "act" == own.context.modes.get(str(WHOLE)).mode.value
