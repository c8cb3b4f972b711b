"""`tidecast demo`: the whole way on a made-up cluster, for those who have none at hand."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forecaster.cli.options import ConfigOption, Output, OutputOption

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from rich.console import Console

    from forecaster.json_shapes import DemoAnswer


def demo(
    report: Annotated[
        Path | None,
        typer.Option(
            "--report", metavar="FILE.html", help="Where the report goes; into the demo's data."
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", help="Another seed makes another cluster.")
    ] = 7,
    config: ConfigOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Make up 35 days of a 20-person team's cluster, learn from them, forecast, and keep score.

    Everything stays in the directory `demo` of the data directory, which is made anew each time.
    """
    from forecaster.cli.output import print_result, progress
    from forecaster.clock import now_seconds
    from forecaster.tasks.demonstrating import demo_workspace, demonstrate

    workspace = demo_workspace(config)
    with progress("Demo") as shown:
        answer = demonstrate(workspace, seed, report, now_seconds(), shown)
    print_result(answer, output, lambda console: _show(answer, workspace.zone, console))


def _show(answer: "DemoAnswer", zone: "ZoneInfo", console: "Console") -> None:
    from forecaster.cli.backtest import show_scores
    from forecaster.cli.forecast import show_forecasts

    show_forecasts(answer.forecasts, zone, console)
    console.print("")
    show_scores(answer.scores, console)
    console.print("")
    console.print(f"Report with plots: {answer.report}", soft_wrap=True)
