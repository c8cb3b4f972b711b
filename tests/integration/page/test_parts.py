"""What the page shows of pools, of what was learned, and of decisions."""

import re
from datetime import datetime
from statistics import median
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.fakes.demand import WHOLE
from tests.fakes.page_service import NOW_SECONDS, PageService, demand_of
from tests.fakes.page_viewer import Viewer

HOUR = 3_600

pytestmark = [pytest.mark.tool("chromium"), pytest.mark.browser]


def test_a_pool_is_shown_with_its_day_its_next_hour_and_why(
    viewer: Viewer, quiet: PageService
) -> None:
    """The plot holds demand, capacity, bands and the scheduled action; the words say why."""
    with viewer.look(quiet, plotly=None) as page:
        plot = page.locator("#pool-plot")
        expect(plot.locator(".main-svg").first).to_be_visible()
        drawn = plot.evaluate(
            """plot => ({ ends: plot.data.map(one => Math.max(...one.x)),
            lines: plot.layout.shapes.map(one => [one.type, one.x0]),
            capacity: plot.data[0].y.at(-1) })"""
        )
        assert NOW_SECONDS + HOUR == max(drawn["ends"])
        assert 96 == drawn["capacity"]
        assert ["line", NOW_SECONDS + 1_200] in drawn["lines"]
        assert ["rect", NOW_SECONDS + 2_100] in drawn["lines"]
        expect(plot).to_have_attribute("aria-label", re.compile("between 35 and 74 GPUs"))
        plan = page.locator("#pool-plan")
        expect(plan).to_contain_text("12 → 13 nodes")
        expect(plan).to_contain_text("14 nodes in 20 min")
        expect(plan).to_contain_text("the 0.9 quantile of demand passes 80 % of 96 GPUs")
        expect(plan).to_contain_text("It is only said, not done")
        expect(page.locator("#pool-parts")).to_contain_text("The time of day and week+7")
        expect(page.locator("#pool-announced")).to_contain_text("32 GPUs more, 80 % sure")
        page.locator("#pool-list button", has_text="fragment").click()
        expect(page.locator("#pool-plan")).to_contain_text("No plan has this pool.")
        assert "pool=a100%2Ffragment" in page.url


def test_the_score_is_told_against_the_same_as_now(viewer: Viewer, quiet: PageService) -> None:
    """The sentence says by how much, and the table says for which span."""
    with viewer.look(quiet) as page:
        score = page.locator("#score")
        expect(score).to_contain_text("lost 14 % less than")
        expect(score).to_contain_text("trusted for 2 days")
        expect(score.get_by_role("row", name="Last week")).to_have_text(
            "Last week0.8690 %1998 of 2016"
        )
        expect(page.locator("#score-plot")).to_have_attribute("aria-label", re.compile("to 0.86"))


def test_the_weekly_tide_is_the_median_of_each_hour(viewer: Viewer, quiet: PageService) -> None:
    """Every cell is what a plain loop over the history gives, by the viewer's clock."""
    with viewer.look(quiet) as page:
        expect(page.locator("#tide tbody td")).to_have_count(7 * 24)
        shown = page.locator("#tide tbody td").all_inner_texts()
        expect(page.locator("#tide td.now")).to_have_attribute("title", re.compile("Wed 10:00"))
    assert usual_week() == [float(one) for one in shown]


def usual_week() -> list[float]:
    """The median of the highest demand of each hour of a week, Monday first, by Berlin's clocks."""
    series, hours, week = demand_of(WHOLE, 0), {}, {}
    for row, gpus in enumerate(series.demand_gpus):
        if np.isfinite(gpus):
            hour = (series.start_seconds + row * series.step_seconds) // HOUR
            hours[hour] = max(hours.get(hour, 0.0), float(gpus))
    for hour, gpus in hours.items():
        local = datetime.fromtimestamp(hour * HOUR, ZoneInfo("Europe/Berlin"))
        week.setdefault(local.weekday() * 24 + local.hour, []).append(gpus)
    return [float(int(median(week[hour]) + 0.5)) for hour in range(7 * 24)]


def test_decisions_are_filtered_paged_and_explained(viewer: Viewer, quiet: PageService) -> None:
    """The service filters; each decision opens into its story, and older ones come on demand."""
    with viewer.look(quiet) as page:
        rows = page.locator("#decision-list > li")
        expect(rows).to_have_count(10)
        page.get_by_role("button", name="Show older ones").click()
        expect(rows).to_have_count(20)
        page.get_by_label("Held back").select_option("true")
        expect(rows).to_have_count(10)
        for tags in page.locator("#decision-list .tags").all():
            expect(tags).to_contain_text("held back")
        page.get_by_label("Held back").select_option("false")
        expect(rows.first).not_to_contain_text("held back")
        rows.first.locator("summary").click()
        expect(rows.first).to_contain_text("7 nodes where there were 5")
        expect(rows.first).to_contain_text("at most 2 nodes more in one cycle, 9 were wanted")
        page.get_by_label("Since").fill("2026-03-05")
        expect(page.locator("#decisions-state")).to_contain_text("No decision fits.")
        expect(rows).to_have_count(0)
