"""Is everything all right: one light, one sentence, and never good where it is not known."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.fakes.demand import WHOLE
from tests.fakes.page_service import NOW_SECONDS, PageService
from tests.fakes.page_viewer import Change, Viewer, answering

HOUR = 3_600

pytestmark = [pytest.mark.tool("chromium"), pytest.mark.browser]


def test_one_light_and_one_sentence_say_that_all_is_well(
    viewer: Viewer, quiet: PageService
) -> None:
    """With nothing wrong the light is good, and says how much is done."""
    with viewer.look(quiet) as page:
        expect(page.get_by_role("status").first).to_have_text(
            "All is well. Forecasts only for 2 pools: nothing is touched."
        )
        expect(page.locator("#light")).to_have_attribute("data-level", "good")


def failed_job(content: Any) -> None:
    content["jobs"][0]["last"] = {
        "due_seconds": NOW_SECONDS - 60,
        "begun_seconds": NOW_SECONDS - 60,
        "ended_seconds": NOW_SECONDS,
        "standing": "failed",
        "detail": "the disk is full",
    }


def stale_data(content: Any) -> None:
    content["pools"][0]["observed_seconds"] = NOW_SECONDS - 4 * HOUR


def old_forecast(content: Any) -> None:
    content["forecasts"][1]["origin_seconds"] = NOW_SECONDS - HOUR


def nothing_at_all(content: Any) -> None:
    content["pools"] = []


def demoted(content: Any) -> None:
    content["pools"][1]["trust"] = "demote"


def out_of_view(content: Any) -> None:
    content["warnings"] = ["pods are not listed yet"]


def held_from_growing(content: Any) -> None:
    why = {"code": "budget", "text": "the budget of the day is spent"}
    content["pools"][0] |= {"held_back": True, "bound_by": "budget", "reasons": [why]}


def held_from_shrinking(content: Any) -> None:
    why = {"code": "cooldown", "text": "the last scale-up was 5 min ago"}
    content["pools"][0] |= {"held_back": True, "bound_by": "cooldown", "reasons": [why]}


@pytest.mark.parametrize(
    ("path", "change", "level", "sentence", "remedy"),
    [
        ("/v1/jobs", failed_job, "bad", "failed at 10:24", "the disk is full"),
        ("/v1/pools", stale_data, "bad", "a100/fragment ends at 06:25.", "tidecast doctor"),
        ("/v1/forecasts", old_forecast, "bad", "of a100/whole-node is of 09:25.", "by its queue"),
        ("/v1/pools", nothing_at_all, "unknown", "There is no history yet.", "tidecast doctor"),
        ("/v1/pools", demoted, "warn", "a100/whole-node is demoted", "sized by its queue"),
        ("/v1/plan", out_of_view, "bad", "The cluster is not wholly in view.", "not listed yet"),
        ("/v1/plan", held_from_growing, "warn", "holds a100/whole-node at 13", "budget of the day"),
        ("/v1/plan", held_from_shrinking, "good", "All is well.", ""),
    ],
)  # fmt: skip
def test_the_light_tells_the_worst_and_what_to_do(
    *,
    viewer: Viewer,
    quiet: PageService,
    path: str,
    change: Change,
    level: str,
    sentence: str,
    remedy: str,
) -> None:
    """Each thing that can be wrong has its level, its sentence and its remedy."""
    with viewer.look(quiet, prepare=answering(path, change)) as page:
        expect(page.locator("#light-sentence")).to_contain_text(sentence)
        expect(page.locator("#light-remedy")).to_contain_text(remedy)
        expect(page.locator("#light")).to_have_attribute("data-level", level)


def test_a_part_that_cannot_be_read_is_not_taken_for_good(
    viewer: Viewer, quiet: PageService
) -> None:
    """The light says that something is not known; the other parts are there all the same."""

    def prepare(page: Page) -> None:
        problem = {"detail": "the database is locked", "status": 503}
        page.route("**/v1/jobs", lambda route: route.fulfill(status=503, json=problem))

    with viewer.look(quiet, prepare=prepare, allowed="503") as page:
        expect(page.locator("#light-sentence")).to_have_text("Jobs: not known.")
        expect(page.locator("#light-remedy")).to_have_text("the database is locked")
        expect(page.locator("#light")).to_have_attribute("data-level", "unknown")
        expect(page.locator("#pool-name")).to_have_text("a100/whole-node")


def test_what_is_not_known_is_never_shown_as_zero(viewer: Viewer, quiet: PageService) -> None:
    """Null becomes words, in the list of pools and in what the forecast is made of."""

    def blind(content: Any) -> None:
        content["pools"][1] |= {"demand_gpus": None, "capacity_gpus": None}

    def silent(content: Any) -> None:
        content["forecasts"][1] = {
            "available": False, "pool": str(WHOLE), "reason": "nothing was observed",
        }  # fmt: skip

    def prepare(page: Page) -> None:
        answering("/v1/pools", blind)(page)
        answering("/v1/forecasts", silent)(page)

    with viewer.look(quiet, prepare=prepare) as page:
        row = page.locator("#pool-list button", has_text="whole-node")
        expect(row).to_contain_text("Demand not known of not known")
        expect(row).to_contain_text("Peak ahead not known")
        expect(page.locator("#pool-sentence")).to_have_text(
            "There is no forecast: nothing was observed"
        )
        expect(page.locator("#pool-parts")).to_have_text("Not known: nothing was observed")
        expect(page.locator("#pool-caption")).to_contain_text("What comes is not known.")
