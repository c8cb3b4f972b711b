"""`tidecast backtest`: how good each model would have been, against 'the same as now'."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forecaster.cli.options import (
    ConfigOption,
    Output,
    OutputOption,
    PoolOption,
    ReportOption,
    names_in,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from zoneinfo import ZoneInfo

    from rich.console import Console

    from forecaster.json_shapes import BacktestAnswer, ScoreOfModel


def backtest(
    *,
    pool: PoolOption = None,
    days: Annotated[
        float, typer.Option("--days", min=0, metavar="N", help="Replay the newest N days.")
    ] = 7.0,
    models: Annotated[
        str,
        typer.Option("--models", metavar="A,B", help="These models; all of them if left out."),
    ] = "",
    forecasts: Annotated[
        Path | None,
        typer.Option("--forecasts", metavar="FILE.parquet", help="Write every forecast here."),
    ] = None,
    report: ReportOption = None,
    config: ConfigOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Replay the newest days: what each model would have said at every step, and how good it was.

    A model is fitted anew each day, on what was known then. Ratios are to 'the same as now' with
    the quantiles of its own past errors; below 1 is better than that.
    """
    from forecaster.cli.output import print_result, print_warnings, progress
    from forecaster.clock import now_seconds
    from forecaster.tasks.backtesting import BacktestOptions, backtest_history
    from forecaster.wiring import Workspace

    workspace = Workspace.open(config)
    options = BacktestOptions(
        pool=pool,
        days=days,
        models=names_in(models),
        forecasts=forecasts,
        report=report,
    )
    with progress("Replaying") as replayed:
        answer = backtest_history(workspace, options, now_seconds(), replayed)
    print_warnings(answer.warnings)
    print_result(answer, output, lambda console: _show(answer, workspace.zone, console))


def show_scores(scores: "Sequence[ScoreOfModel]", console: "Console") -> None:
    """Print scores as a table, one row per pool and model."""
    from forecaster.cli.output import table

    rows = [
        (
            score.pool,
            score.model_name,
            _figure(score.peak_pinball_ratio["0.5"]),
            _figure(score.peak_pinball_ratio["0.9"]),
            _figure(score.peak_pinball_ratio["0.95"]),
            _figure(score.peak_pinball_ratio["0.99"]),
            _share(score.peak_coverage["0.9"]),
            _figure(score.wql_ratio),
            _figure(score.mae_gpus),
            str(score.origins),
        )
        for score in sorted(scores, key=lambda one: one.pool)
    ]
    columns = (
        "pool",
        "model",
        "peak 0.5",
        "peak 0.9",
        "peak 0.95",
        "peak 0.99",
        "covered 0.9",
        "path WQL",
        "MAE",
        "origins",
    )
    console.print(table(columns, rows, texts=("model",)))
    console.print(
        "peak, path WQL: loss as a ratio to 'the same as now'; below 1 is better than that.\n"
        "covered 0.9: peaks at or below the 0.9 quantile. MAE: GPUs, of the median path.",
        soft_wrap=True,
    )


def _show(answer: "BacktestAnswer", zone: "ZoneInfo", console: "Console") -> None:
    from forecaster.cli.times import moment_text

    start = moment_text(answer.tested.start_seconds, zone)
    console.print(f"Replayed {start} to {moment_text(answer.tested.end_seconds, zone)}.\n")
    show_scores(answer.scores, console)
    for what, place in (("Report", answer.report), ("Forecasts", answer.forecasts)):
        if place:
            console.print(f"{what}: {place}", soft_wrap=True)


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"
