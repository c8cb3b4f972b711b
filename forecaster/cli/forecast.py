"""`tidecast forecast`: what each pool will need next, and what the forecast knew."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from forecaster.cli.options import ConfigOption, Output, OutputOption, PoolOption

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from rich.console import Console

    from forecaster.json_shapes import ForecastOfPool, NoForecastOfPool

PEAK_LEVELS = ("0.5", "0.9", "0.95", "0.99")
PATH_MINUTES = (10, 20, 30, 60)
_DAY_SECONDS = 86_400


def forecast(
    pool: PoolOption = None,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="TIME", help="From this moment; the newest if left out."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="M", help="This model; the champion if left out."),
    ] = None,
    config: ConfigOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Forecast each pool's demand: the peak of the next 30 minutes and the path of the next hour.

    Where a Prometheus is set, what the store lacks is pulled first. With --at, only what was known
    at that moment is used, and nothing is pulled.
    """
    from forecaster.cli.output import print_result, print_warnings, progress
    from forecaster.cli.times import parse_time
    from forecaster.clock import now_seconds
    from forecaster.tasks.forecasting import ForecastOptions, forecast_pools
    from forecaster.wiring import Workspace

    workspace = Workspace.open(config)
    options = ForecastOptions(
        pool=pool,
        at_seconds=parse_time(at, "--at", workspace.zone) if at else None,
        model=model,
    )
    with progress("Forecasting"):
        answer = forecast_pools(workspace, options, now_seconds())
    print_warnings(answer.warnings)
    print_result(
        answer, output, lambda console: show_forecasts(answer.forecasts, workspace.zone, console)
    )


def show_forecasts(
    forecasts: "Sequence[ForecastOfPool | NoForecastOfPool]", zone: "ZoneInfo", console: "Console"
) -> None:
    """Print forecasts as a table, then what each one knew, then a sentence each."""
    known = [one for one in forecasts if one.available]
    if known:
        _show_table(known, console)
        console.print("")
    for one in forecasts:
        if one.available:
            _show_knowledge(one, zone, console)
        else:
            console.print(f"{one.pool}: no forecast: {one.reason}", soft_wrap=True)


def _show_table(forecasts: "Sequence[ForecastOfPool]", console: "Console") -> None:
    from forecaster.cli.output import table

    columns = ("pool", "now", *(f"peak {level}" for level in PEAK_LEVELS))
    path_columns = [f"+{ahead} min" for ahead in PATH_MINUTES]
    rows = [
        (
            one.pool,
            _gpus(one.now_gpus),
            *(_gpus(one.peak_gpus[level]) for level in PEAK_LEVELS),
            *(_gpus(_median_at(one, ahead * 60)) for ahead in PATH_MINUTES),
            one.model_name,
        )
        for one in forecasts
    ]
    console.print(table((*columns, *path_columns, "model"), rows, texts=("model",)))
    console.print(
        f"GPUs. peak: highest demand of the next {forecasts[0].peak_window_seconds // 60} minutes, "
        "by quantile; +10 min: median demand then.",
        soft_wrap=True,
    )


def _median_at(forecast: "ForecastOfPool", seconds_ahead: int) -> float | None:
    """Median demand of the step that closes then; None where the path has no such step."""
    medians = {step.seconds_ahead: step.demand_gpus["0.5"] for step in forecast.path}
    return medians.get(seconds_ahead)


def _show_knowledge(forecast: "ForecastOfPool", zone: "ZoneInfo", console: "Console") -> None:
    from forecaster.cli.times import moment_text

    console.print(
        f"{forecast.pool} at {moment_text(forecast.origin_seconds, zone)}: {forecast.sentence}",
        soft_wrap=True,
    )
    console.print(
        f"  knew {forecast.history_seconds / _DAY_SECONDS:.1f} days of history, "
        f"{forecast.observed_share:.1%} observed"
    )
    for note in forecast.notes:
        console.print(f"  note: {note}", soft_wrap=True)


def _gpus(gpus: float | None) -> str:
    """GPUs for people: whole where they are, else one decimal."""
    if gpus is None:
        return "-"
    return f"{gpus:.0f}" if abs(gpus - round(gpus)) < 0.05 else f"{gpus:.1f}"  # noqa: PLR2004 - half of the last digit shown
