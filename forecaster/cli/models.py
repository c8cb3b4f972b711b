"""`tidecast models`: which versions were trained, which one forecasts, and how to go back."""

from typing import TYPE_CHECKING, Annotated

import typer

from forecaster.cli.options import ConfigOption, Output, OutputOption

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from rich.console import Console

    from forecaster.json_shapes import ModelAnswer, ModelsAnswer, PromotionAnswer

MEASURES = ("peak 0.9", "peak 0.95", "path WQL")

app = typer.Typer(
    help="See the trained versions, and choose the champion.",
    short_help="See trained versions, choose the champion.",
    no_args_is_help=True,
)


@app.command("list", short_help="List the versions there are.")
def list_models(config: ConfigOption = None, output: OutputOption = Output.TABLE) -> None:
    """List the trained versions, newest first, and which of them is champion."""
    from forecaster.cli.output import print_result, print_warnings
    from forecaster.tasks.versions import list_versions
    from forecaster.wiring import Workspace

    workspace = Workspace.open(config)
    answer = list_versions(workspace)
    print_warnings(answer.problems)
    print_result(answer, output, lambda console: _show_list(answer, workspace.zone, console))


@app.command(short_help="Say what a version was made from.")
def show(
    version: Annotated[
        str | None, typer.Argument(metavar="VERSION", help="The champion if left out.")
    ] = None,
    config: ConfigOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Say what a version was made from, how good it was, and whether its files are whole."""
    from forecaster.cli.output import print_result
    from forecaster.tasks.versions import show_version
    from forecaster.wiring import Workspace

    workspace = Workspace.open(config)
    answer = show_version(workspace, version)
    print_result(answer, output, lambda console: _show_one(answer, workspace.zone, console))


@app.command(short_help="Make a version the champion.")
def promote(
    version: Annotated[str, typer.Argument(metavar="VERSION", help="As 'models list' has it.")],
    config: ConfigOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Make a version the champion, whatever the judging said of it."""
    from forecaster.cli.output import print_result, print_warnings, progress
    from forecaster.clock import now_seconds
    from forecaster.tasks.versions import promote_version
    from forecaster.wiring import Workspace

    workspace = Workspace.open(config)
    with progress("Promoting"):
        answer = promote_version(workspace, version, now_seconds())
    print_warnings(answer.warnings)
    print_result(answer, output, lambda console: _show_promotion(answer, console))


@app.command(short_help="Go back to the champion before.")
def rollback(config: ConfigOption = None, output: OutputOption = Output.TABLE) -> None:
    """Go back to the champion before this one; twice goes back two."""
    from forecaster.cli.output import print_result, print_warnings, progress
    from forecaster.tasks.versions import roll_back
    from forecaster.wiring import Workspace

    workspace = Workspace.open(config)
    with progress("Rolling back"):
        answer = roll_back(workspace)
    print_warnings(answer.warnings)
    print_result(answer, output, lambda console: _show_promotion(answer, console))


def ratio_text(ratio: float | None) -> str:
    """A loss as a ratio to persistence, for people."""
    return "-" if ratio is None else f"{ratio:.2f}"


def _show_list(answer: "ModelsAnswer", zone: "ZoneInfo", console: "Console") -> None:
    from forecaster.cli.output import table
    from forecaster.cli.times import moment_text

    if not answer.versions:
        console.print(
            f"{answer.models_directory} holds no trained model yet; 'tidecast train' makes one.",
            soft_wrap=True,
        )
        return
    rows = [
        (
            one.model_version,
            one.model_name,
            moment_text(one.last_seconds, zone),
            *(ratio_text(one.loss_ratio.get(measure)) for measure in MEASURES),
            "champion" if one.is_champion else "",
        )
        for one in answer.versions
    ]
    columns = ("version", "model", "learned until", *MEASURES, "")
    console.print(table(columns, rows, texts=("model", "learned until", "")))
    console.print("peak, path WQL: loss on the judged days as a ratio to 'the same as now'.")


def _show_one(answer: "ModelAnswer", zone: "ZoneInfo", console: "Console") -> None:
    from forecaster.cli.times import moment_text

    role = "champion" if answer.is_champion else "not the champion"
    first, last = (moment_text(at, zone) for at in (answer.first_seconds, answer.last_seconds))
    ratios = ", ".join(
        f"{measure} {ratio_text(answer.loss_ratio[measure])}"
        for measure in MEASURES
        if measure in answer.loss_ratio
    )
    lines = [
        f"{answer.model_name} {answer.model_version}: {role}",
        f"  learned from {len(answer.pools)} pools, {first} to {last}",
        f"  loss as a ratio to 'the same as now': {ratios or 'not judged'}",
        *(f"  {reason}" for reason in answer.reasons),
        f"  made by tidecast {answer.code_version} from data {answer.data_sha256[:12]}",
        f"  files: {', '.join(answer.files_sha256)}; {answer.bytes} bytes, all as they were saved",
    ]
    for line in lines:
        console.print(line, soft_wrap=True)


def _show_promotion(answer: "PromotionAnswer", console: "Console") -> None:
    console.print(f"{answer.model_name} {answer.champion_version} is champion now.")
