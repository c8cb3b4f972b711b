"""`tidecast train`: let the models learn from the history in the store."""

from typing import TYPE_CHECKING, Annotated

import typer

from forecaster.cli.options import ConfigOption, Output, OutputOption, names_in

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from rich.console import Console

    from forecaster.json_shapes import TrainAnswer


def train(
    models: Annotated[
        str,
        typer.Option("--models", metavar="A,B", help="These models; forecast.model if left out."),
    ] = "",
    config: ConfigOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Let the models learn from the newest days of the history (forecast.train_days)."""
    from forecaster.cli.output import print_result, print_warnings, progress
    from forecaster.clock import now_seconds
    from forecaster.tasks.training import train_models
    from forecaster.wiring import Workspace

    workspace = Workspace.open(config)
    with progress("Training") as trained:
        answer = train_models(workspace, names_in(models), now_seconds(), trained)
    print_warnings(answer.warnings)
    print_result(answer, output, lambda console: _show(answer, workspace.zone, console))


def _show(answer: "TrainAnswer", zone: "ZoneInfo", console: "Console") -> None:
    from forecaster.cli.output import table
    from forecaster.cli.times import moment_text

    rows = [(model.model_name, model.model_version) for model in answer.models]
    console.print(table(("model", "version"), rows))
    console.print(
        f"Learned from {len(answer.pools)} pools, "
        f"{moment_text(answer.trained.start_seconds, zone)} to "
        f"{moment_text(answer.trained.end_seconds, zone)}."
    )
