"""The backtest's page: complete, self-contained, and deaf to what names try to say."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from html.parser import HTMLParser

import numpy as np
import pytest

from features.pool import Pool
from forecaster.report import backtest_report, worst_origins
from models.backtest import BacktestResult, scores
from models.forecast import QUANTILE_LEVELS, Forecast, Knowledge
from tests.fakes.backtests import HORIZON, MONDAY_SECONDS, sample_result, sample_series

MADE_AT = datetime(2026, 4, 9, 8, 30, tzinfo=UTC)
HOSTILE = "<img src=x onerror=alert(1)>\"'</script><script>alert(2)</script>&amp;"


class Page(HTMLParser):
    """What a browser would make of the page: its elements, and its text outside of scripts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._hidden = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._hidden += tag in {"script", "style"}

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in {"script", "style"}

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def report_of(result: BacktestResult, title: str = "Backtest") -> Page:
    return Page(backtest_report(result, scores(result), title, MADE_AT))


@cache
def sample_page() -> Page:
    return report_of(sample_result())


def test_the_page_loads_nothing_from_outside() -> None:
    """No element names another place; the plots' code is in the page once."""
    html = backtest_report(sample_result(), scores(sample_result()), "Backtest", MADE_AT)
    page = Page(html)
    assert [] == [one for one in page.all("script") if "src" in one]
    assert [] == page.all("link") + page.all("img") + page.all("iframe")
    assert [] == [one for one in page.all("a") if not (one["href"] or "").startswith("#")]
    assert "@import" not in html.split("</style>")[0]
    assert "url(" not in html.split("</style>")[0]
    assert 1 == html.count("plotly.js v")


def test_every_pool_has_its_verdict_first_and_its_section() -> None:
    """The list at the top says who won and by how much, and links to each pool."""
    page = sample_page()
    assert ["pool-0", "pool-1"] == [one["id"] for one in page.all("section")]
    assert {"#pool-0", "#pool-1"} <= {one["href"] for one in page.all("a")}
    assert 4 == len(re.findall(r"good is better than 'the same as now' by \d+ %", page.text))


def test_every_plot_says_in_words_what_it_shows() -> None:
    """Each figure has a caption, and a label for those who do not see it."""
    page = sample_page()
    plots = [one for one in page.all("div") if (one.get("class") or "").startswith("plot")]
    assert len(plots) == len(page.all("figcaption")) == len(page.all("figure"))
    assert all(one["role"] == "img" and one["aria-label"] for one in plots)
    assert "The highest demand of the next 30 minutes, as good forecast it" in page.text


def test_the_tables_hold_every_model_and_every_level() -> None:
    """Four tables a pool: ratios with errors, loss, and both coverages, a row per model."""
    page = sample_page()
    assert 2 * 4 == len(page.all("table")) == len(page.all("caption"))
    rows = [one for one in page.all("th") if one["scope"] == "row"]
    assert 2 * 4 * 3 == len(rows)
    cells = 3 * (len(QUANTILE_LEVELS) + 4) + 3 * 3 * len(QUANTILE_LEVELS)
    assert 2 * cells == len(page.all("td"))


def test_times_are_those_of_the_clusters_clock() -> None:
    """The replayed span begins at midnight UTC, which is two o'clock in a Berlin summer."""
    assert "from Tue 7 Apr 2026, 02:00 to Thu 9 Apr 2026, 01:55" in sample_page().text
    assert "Europe/Berlin time" in sample_page().text


def test_a_trace_without_dates_counts_days() -> None:
    """No date is made up where times count from the start of a trace."""
    page = report_of(sample_result(start_seconds=0))
    assert "from day 1, 00:00 to day 2, 23:55" in page.text
    assert "1970" not in page.text


def test_hostile_names_stay_text() -> None:
    """Pool, model and title with markup are shown as written, and add no element."""
    hostile = report_of(
        sample_result(names=(HOSTILE, "t4/fragment"), good_model=HOSTILE), title=HOSTILE
    )
    assert [tag for tag, _ in sample_page().elements] == [tag for tag, _ in hostile.elements]
    assert hostile.text.count(HOSTILE) > 4


def test_no_data_of_a_plot_can_end_its_script() -> None:
    """Inside the page's JSON every '<' is written as an escape."""
    html = backtest_report(sample_result(), scores(sample_result()), "Backtest", MADE_AT)
    blocks = re.findall(r'<script type="application/json">(.*?)</script>', html, re.DOTALL)
    assert len(blocks) == html.count("<figure>")
    assert not any("<" in block for block in blocks)


def test_the_worst_origins_are_the_largest_losses_apart_from_each_other() -> None:
    """A naive search over all origins finds the same ones."""
    result = sample_result()
    said = result.forecasts["persistence"].peak[0, :, QUANTILE_LEVELS.index(0.9)]
    came = result.actual_peak[0]
    loss = {
        origin: max(0.9 * (came[origin] - said[origin]), 0.1 * (said[origin] - came[origin]))
        for origin in range(len(came))
        if np.isfinite(came[origin]) and np.isfinite(said[origin])
    }
    expected: list[int] = []
    while len(expected) < 5:
        left = {
            origin: value
            for origin, value in loss.items()
            if all(abs(origin - taken) >= 36 for taken in expected)
        }
        expected.append(max(left, key=lambda origin: left[origin]))
    assert expected == worst_origins(result, 0, "persistence")


def test_unobserved_origins_are_never_among_the_worst() -> None:
    """Where nothing came to be seen there is no loss, and no plot of it."""
    result = sample_result()
    nothing = replace(result, actual_peak=np.full_like(result.actual_peak, np.nan))
    assert [] == worst_origins(nothing, 0, "good")


def test_a_pool_that_was_not_observed_is_not_judged() -> None:
    """Its section says so and holds its empty tables, without plots."""
    result = sample_result()
    unknown = replace(
        result,
        actual_peak=np.full_like(result.actual_peak, np.nan),
        actual_path=np.full_like(result.actual_path, np.nan),
    )
    page = report_of(unknown)
    assert 4 == page.text.count("Too little of these days was observed to judge any forecast.")
    assert [] == page.all("figure")
    assert "nan" not in page.text


def test_the_newest_forecast_is_shown_beside_the_score_of_its_pool() -> None:
    """Its sentence names now, the window and the 0.9 quantile of the peak."""
    series = sample_series("t4/fragment", MONDAY_SECONDS)
    levels = np.arange(1.0, 8.0)
    forecast = Forecast(
        pool=Pool.parse("t4/fragment"),
        origin=datetime.fromtimestamp(series.end_seconds, tz=UTC),
        horizon=HORIZON,
        levels=QUANTILE_LEVELS,
        now_gpus=30.0,
        path_gpus=np.tile(levels, (HORIZON.steps, 1)),
        peak_gpus=30 + levels,
        model_name="good",
        model_version="1",
        knowledge=Knowledge(86_400, 1.0, series.end_seconds),
        explanation={},
    )
    result = sample_result()
    html = backtest_report(result, scores(result), "Backtest", MADE_AT, [(series, forecast)])
    assert "From Thu 9 Apr 2026, 02:00: 30 GPUs now" in html.split('id="pool-1"')[1]
    assert "the next 30 minutes need at most 35 GPUs" in html.split('id="pool-1"')[1]
    assert "newest forecast" not in html.split('id="pool-1"')[0]


@pytest.mark.parametrize("title", ["$body", "${plotly}", "100 %"])
def test_a_title_is_no_template(title: str) -> None:
    """What looks like a placeholder in a title is a title."""
    assert title in report_of(sample_result(), title=title).text
