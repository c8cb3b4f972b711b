"""A backtest as one page for people: is the forecast any good here, and where was it not?

The page stands alone: its plots' code is embedded from the installed package and it loads nothing.
It must never carry a name from outside unescaped; pools and models are named by others.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from html import escape
from importlib.resources import files
from string import Template

import numpy as np

from features.pool import Pool
from features.series import DemandSeries
from forecaster import report_words as words
from forecaster.report_clock import ReportClock
from forecaster.report_figures import (
    bands_figure,
    coverage_figure,
    forecast_figure,
    worst_figure,
)
from forecaster.report_html import cell, plot, ratio_cell, table
from models.backtest import YARDSTICKS, BacktestResult
from models.forecast import QUANTILE_LEVELS, Forecast
from models.scores import PoolScore, pinball_loss

WORST_ORIGINS = 5
_APART_SECONDS = 3 * 3600  # so that one burst does not fill the list of the worst


def backtest_report(
    result: BacktestResult,
    scores: Sequence[PoolScore],
    title: str,
    made_at: datetime,
    upcoming: Sequence[tuple[DemandSeries, Forecast]] = (),
) -> str:
    """The page, as HTML.

    Args:
        result: what models said, and what came.
        scores: what `models.backtest.scores` made of it.
        title: heading of the page, plain text.
        made_at: when the report is made.
        upcoming: the newest forecast of pools with the history it used, shown beside the score.
    """
    from plotly.offline import get_plotlyjs

    clock = ReportClock.of(result.panel.has_calendar, result.context.calendar)
    by_pool = {
        pool: [score for score in scores if score.pool == pool] for pool in result.panel.pools
    }
    newest = {forecast.pool: (series, forecast) for series, forecast in upcoming}
    sections = [
        _pool_section(result, index, by_pool[pool], clock, newest.get(pool))
        for index, pool in enumerate(result.panel.pools)
    ]
    template = Template(files("forecaster").joinpath("templates/report.html").read_text("utf-8"))
    return template.substitute(
        title=escape(title),
        lead=_lead(result, by_pool, clock),
        body="\n".join(sections),
        footer=f"<p>Made by Tidecast at {made_at.isoformat(timespec='seconds')}. {_READING}</p>",
        plotly=get_plotlyjs(),
    )


_READING = (
    "Pinball loss is the mean cost of a quantile that missed, in GPUs; a ratio below 1 means less "
    "of it than 'the same as now' with quantiles of its own past errors. Differences under 2 % are "
    "noise. Weighted quantile loss (WQL) and mean absolute error (MAE) are of the whole path."
)


def worst_origins(result: BacktestResult, pool: int, model: str) -> list[int]:
    """The origins with the highest pinball loss at the 0.9 quantile, worst first.

    Args:
        result: the backtest.
        pool: index of the pool.
        model: name of the model.

    Returns:
        Indices into the result's origins, at most `WORST_ORIGINS`, none near another.
    """
    level = QUANTILE_LEVELS.index(words.VERDICT_LEVEL)
    loss = pinball_loss(result.forecasts[model].peak[pool], result.actual_peak[pool])[:, level]
    apart = max(1, _APART_SECONDS // result.panel.step_seconds)
    chosen: list[int] = []
    for origin in np.argsort(-loss, kind="stable"):
        if len(chosen) == WORST_ORIGINS or not loss[origin] > 0:
            break
        if all(abs(result.origins[origin] - result.origins[other]) >= apart for other in chosen):
            chosen.append(int(origin))
    return chosen


def _lead(
    result: BacktestResult, by_pool: Mapping[Pool, Sequence[PoolScore]], clock: ReportClock
) -> str:
    first, last = (int(seconds) for seconds in result.panel.seconds_at(result.origins[[0, -1]]))
    minutes = result.context.horizon.peak_seconds // 60
    items = "\n".join(
        f'<li><a href="#pool-{index}">{escape(str(pool))}</a>'
        f"<span>{escape(words.verdict(of_pool))}</span></li>"
        for index, (pool, of_pool) in enumerate(by_pool.items())
    )
    return (
        f'<p class="lead">What would have been forecast for the next {minutes} minutes at every '
        f"step from {clock.text(first)} to {clock.text(last)} ({escape(clock.name)}), and what "
        f'came.</p>\n<ul class="verdicts">\n{items}\n</ul>'
    )


def _pool_section(
    result: BacktestResult,
    pool: int,
    scores: Sequence[PoolScore],
    clock: ReportClock,
    newest: tuple[DemandSeries, Forecast] | None,
) -> str:
    name = escape(str(result.panel.pools[pool]))
    best = words.best_score(scores)
    parts = [f"<h2>{name}</h2>", f"<p>{escape(words.verdict(scores))}</p>"]
    if best is not None:
        parts.append(_facts(best))
    if newest is not None:
        parts.append(_newest(*newest, result, clock))
    if best is not None:
        parts += [
            _bands(result, pool, best.model, clock),
            _worst(result, pool, best.model, clock),
            _coverage(scores, best),
        ]
    parts.append(_tables(scores))
    return f'<section id="pool-{pool}" aria-label="{name}">\n' + "\n".join(parts) + "\n</section>"


def _facts(best: PoolScore) -> str:
    level = words.VERDICT_LEVEL
    facts = {
        "best model": escape(best.model),
        f"loss at {level:g}, against the same as now": words.number(best.pinball_ratio[level]),
        f"peaks at or below {level:g}": words.percent(best.coverage[level]),
        "error of the median path": f"{words.number(best.mae_gpus, 1)} GPUs",
        "forecasts scored": f"{best.origins:,}",
    }
    items = "".join(f"<div><dt>{name}</dt><dd>{fact}</dd></div>" for name, fact in facts.items())
    return f'<dl class="facts">{items}</dl>'


def _newest(
    series: DemandSeries, forecast: Forecast, result: BacktestResult, clock: ReportClock
) -> str:
    peak = words.gpus(forecast.peak_at(words.VERDICT_LEVEL))
    said = (
        f"From {clock.text(int(forecast.origin.timestamp()))}: {words.gpus(forecast.now_gpus)} "
        f"GPUs now; with {words.percent(words.VERDICT_LEVEL)} probability the next "
        f"{forecast.horizon.peak_seconds // 60} minutes need at most {peak} GPUs."
    )
    drawn = forecast_figure(series, forecast, result.context.calendar)
    return (
        f"<h3>The newest forecast, by {escape(forecast.model_name)}</h3>\n"
        f'<div class="half">{plot(drawn, "small", said)}</div>'
    )


def _bands(result: BacktestResult, pool: int, model: str, clock: ReportClock) -> str:
    minutes = result.context.horizon.peak_seconds // 60
    caption = (
        f"The highest demand of the next {minutes} minutes, as {model} forecast it at each moment "
        f"and as it came ({clock.name}). Grey: not observed."
    )
    drawn = plot(bands_figure(result, pool, model, clock), "tall", caption)
    return f"<h3>Forecast and what came</h3>\n{drawn}"


def _worst(result: BacktestResult, pool: int, model: str, clock: ReportClock) -> str:
    origins = worst_origins(result, pool, model)
    if not origins:
        return ""
    plots = "\n".join(
        plot(worst_figure(result, pool, model, origin, clock), "small", text)
        for origin in origins
        for text in [_miss(result, pool, model, origin, clock)]
    )
    return (
        "<h3>Where it was worst</h3>\n"
        f"<p>The moments with the highest loss at the {words.VERDICT_LEVEL:g} quantile. The dotted "
        f'line is when the forecast was made.</p>\n<div class="close-ups">\n{plots}\n</div>'
    )


def _miss(result: BacktestResult, pool: int, model: str, origin: int, clock: ReportClock) -> str:
    level = QUANTILE_LEVELS.index(words.VERDICT_LEVEL)
    said = float(result.forecasts[model].peak[pool, origin, level])
    came = float(result.actual_peak[pool, origin])
    when = clock.text(int(result.panel.seconds_at(int(result.origins[origin]))))
    how = "too few" if came > said else "too many"
    return (
        f"{when}: at most {words.gpus(said)} GPUs were forecast and {words.gpus(came)} came, "
        f"{words.gpus(abs(came - said))} {how}."
    )


def _coverage(scores: Sequence[PoolScore], best: PoolScore) -> str:
    now = next((score for score in scores if score.model == YARDSTICKS[0].name), None)
    compared = [best] if now is None or now is best else [best, now]
    caption = (
        f"Share of peaks at or below each quantile of {best.model}. The bar below a mark is the "
        "share that equals the quantile; one that touches the dotted line keeps its promise."
    )
    drawn = plot(coverage_figure(compared), "tall", caption)
    return f'<h3>Does a quantile hold what it promises?</h3>\n<div class="half">{drawn}</div>'


def _tables(scores: Sequence[PoolScore]) -> str:
    def by_level(name: str, text: Callable[[float], str]) -> Callable[[PoolScore], list[str]]:
        return lambda score: [text(getattr(score, name)[level]) for level in QUANTILE_LEVELS]

    levels = [f"{level:g}" for level in QUANTILE_LEVELS]
    overview = table(
        "Pinball loss of the peak as a ratio to 'the same as now', by quantile level; error of the "
        "whole path",
        ["model", *levels, "WQL", "WQL ratio", "MAE, GPUs", "forecasts"],
        {
            score.model: [
                *(ratio_cell(score.pinball_ratio[level]) for level in QUANTILE_LEVELS),
                cell(words.number(score.wql, 4)),
                ratio_cell(score.wql_ratio),
                cell(words.number(score.mae_gpus)),
                cell(f"{score.origins:,}"),
            ]
            for score in scores
        },
    )
    details = "\n".join(
        table(
            caption,
            ["model", *levels],
            {score.model: [cell(text) for text in row(score)] for score in scores},
        )
        for caption, row in (
            (
                "Pinball loss of the peak in GPUs",
                by_level("pinball", words.number),
            ),
            ("Peaks at or below the quantile", by_level("coverage", words.percent)),
            ("Peaks strictly below the quantile", by_level("coverage_below", words.percent)),
        )
    )
    return (
        f"<h3>Scores of every model</h3>\n{overview}\n"
        f"<details><summary>Loss and coverage by quantile level</summary>\n{details}\n</details>"
    )
