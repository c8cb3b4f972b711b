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
        typer.Option("--models", metavar="A,B", help="These models, best liked first."),
    ] = "",
    config: ConfigOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Train models on the newest days, and make the best one champion if it earns it.

    Without --models, training.candidates compete, or else forecast.model alone. They are judged on
    the newest days (training.judge_days), of which they have seen nothing. The best one takes the
    champion's place if it is not worse; 'tidecast models rollback' goes back. MLflow is told.
    """
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
    from forecaster.cli.models import MEASURES, ratio_text
    from forecaster.cli.output import table
    from forecaster.cli.times import moment_text

    rows = [
        (
            one.model_name,
            one.model_version,
            *(ratio_text(one.loss_ratio.get(measure)) for measure in MEASURES),
            "champion" if one.model_version == answer.champion_version else "",
        )
        for one in answer.models
    ]
    console.print(table(("model", "version", *MEASURES, ""), rows, texts=("version", "")))
    console.print(
        f"Learned from {len(answer.pools)} pools, "
        f"{moment_text(answer.trained.start_seconds, zone)} to "
        f"{moment_text(answer.trained.end_seconds, zone)}."
    )
    if answer.judged:
        console.print(
            f"Judged unseen on {moment_text(answer.judged.start_seconds, zone)} to "
            f"{moment_text(answer.judged.end_seconds, zone)}; peak, path WQL: loss as a ratio to "
            "'the same as now'.",
            soft_wrap=True,
        )
    done = "is champion now" if answer.promoted else "was not made champion"
    console.print(f"{answer.challenger} {done}:")
    for reason in answer.reasons:
        console.print(f"  {reason}", soft_wrap=True)
