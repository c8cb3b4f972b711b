"""`tidecast history`: get demand history into the store, and see what it holds."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from features.errors import BadInput
from forecaster.cli.options import ConfigOption, Output, OutputOption, names_in

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from rich.console import Console

    from forecaster.json_shapes import HistoryAnswer, ImportAnswer, PullAnswer

app = typer.Typer(
    help="Get demand history into the store, and see what it holds.",
    short_help="Get demand history, and see it.",
    rich_markup_mode=None,
)


@app.command(short_help="Ask Prometheus for what is missing.")
def pull(
    days: Annotated[
        int | None,
        typer.Option(
            "--days", min=1, metavar="N", help="Days back from now; history.keep_days if left out."
        ),
    ] = None,
    config: ConfigOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Ask Prometheus for the history that the store lacks."""
    from forecaster.cli.output import print_result, print_warnings, progress
    from forecaster.clock import now_seconds
    from forecaster.tasks.pulling import pull_history
    from forecaster.wiring import Workspace

    workspace = Workspace.open(config)
    with progress("Pulling history from Prometheus"):
        answer = pull_history(workspace, now_seconds(), days)
    print_warnings(answer.warnings)
    print_result(answer, output, lambda console: _show_pull(answer, workspace.zone, console))


@app.command("import", short_help="Take history from files.")
def import_files(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Parquet or CSV: jobs or demand.")
    ],
    *,
    select: Annotated[
        list[str] | None,
        typer.Option(
            "--select",
            metavar="COLUMN=VALUE",
            help="Keep the rows with this value; may be given several times.",
        ),
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Leave out what lies before.")
    ] = None,
    until: Annotated[
        str | None,
        typer.Option("--until", metavar="TIME", help="Leave out what lies at or after."),
    ] = None,
    gpu_type: Annotated[
        str,
        typer.Option("--gpu-type", metavar="NAME", help="GPU type where the table names none."),
    ] = "gpu",
    gpu_type_column: Annotated[
        str,
        typer.Option("--gpu-type-column", metavar="COLUMN", help="The column that names it."),
    ] = "gpu_type",
    pool_columns: Annotated[
        str,
        typer.Option(
            "--pool-columns",
            metavar="A,B",
            help="Demand tables with one column per pool: these columns.",
        ),
    ] = "",
    step: Annotated[
        int | None,
        typer.Option(
            "--step",
            min=1,
            metavar="SECONDS",
            help="Spacing of the series; history.step_seconds if left out.",
        ),
    ] = None,
    node_gpus: Annotated[
        float,
        typer.Option(
            "--node-gpus", metavar="N", help="GPUs of a full node where the table does not say."
        ),
    ] = 8.0,
    config: ConfigOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Take history from files of jobs or of demand.

    Which of the two a file is shows in its columns: submit, end and gpus for jobs; time and demand
    otherwise. TIME is ISO 8601 with an offset or Z, a date (midnight in calendar.time_zone), or a
    number of seconds for traces without dates.
    """
    from forecaster.cli.output import print_result, print_warnings, progress
    from forecaster.cli.times import check_order, parse_time
    from forecaster.tasks.importing import ImportOptions
    from forecaster.tasks.importing import import_files as import_into_store
    from forecaster.wiring import Workspace

    workspace = Workspace.open(config)
    since_seconds = parse_time(since, "--since", workspace.zone) if since else None
    until_seconds = parse_time(until, "--until", workspace.zone) if until else None
    check_order(since_seconds, until_seconds)
    options = ImportOptions(
        select=dict(_column_and_value(text) for text in select or ()),
        since_seconds=since_seconds,
        until_seconds=until_seconds,
        gpu_type=gpu_type,
        gpu_type_column=gpu_type_column,
        pool_columns=names_in(pool_columns),
        step_seconds=step,
        node_gpus=node_gpus,
    )
    with progress(f"Importing {_files_text(files)}"):
        answer = import_into_store(workspace, files, options)
    for file in answer.files:
        print_warnings([f"{file.file}: {warning}" for warning in file.warnings])
    print_result(answer, output, lambda console: _show_import(answer, workspace.zone, console))


@app.command(short_help="Say what the store holds.")
def show(config: ConfigOption = None, output: OutputOption = Output.TABLE) -> None:
    """Say what the store holds: span, share observed, gaps, capped steps."""
    from forecaster.cli.output import print_result, print_warnings
    from forecaster.tasks.describing import describe_history
    from forecaster.wiring import Workspace

    workspace = Workspace.open(config)
    answer = describe_history(workspace)
    print_warnings(answer.problems)
    print_result(answer, output, lambda console: _show_history(answer, workspace.zone, console))


def _column_and_value(text: str) -> tuple[str, str]:
    column, equals, value = text.partition("=")
    if not equals or not column.strip():
        raise BadInput(f"--select: '{text}' is not 'column=value', such as cluster=cluster07")
    return column.strip(), value.strip()


def _files_text(files: Sequence[Path]) -> str:
    return files[0].name if len(files) == 1 else f"{len(files)} files"


def _show_pull(answer: "PullAnswer", zone: "ZoneInfo", console: "Console") -> None:
    from forecaster.cli.times import moment_text

    if not answer.asked_spans:
        console.print(f"Nothing was missing: the store is as new as {answer.source}.")
        return
    first = min(span.start_seconds for span in answer.asked_spans)
    last = max(span.end_seconds for span in answer.asked_spans)
    console.print(
        f"{answer.observed_steps} observed steps of {len(answer.pools)} pools from "
        f"{answer.source}, {moment_text(first, zone)} to {moment_text(last, zone)}."
    )


def _show_import(answer: "ImportAnswer", zone: "ZoneInfo", console: "Console") -> None:
    from forecaster.cli.output import table
    from forecaster.cli.times import moment_text

    rows = [
        (
            pool.pool,
            moment_text(pool.start_seconds, zone),
            moment_text(pool.end_seconds, zone),
            str(pool.observed_steps),
            f"{file.step_seconds} s",
            Path(file.file).name,
        )
        for file in answer.files
        for pool in file.pools
    ]
    console.print(table(("pool", "from", "to", "observed steps", "step", "file"), rows))


def _show_history(answer: "HistoryAnswer", zone: "ZoneInfo", console: "Console") -> None:
    from forecaster.cli.output import table
    from forecaster.cli.times import moment_text

    if not answer.pools:
        console.print(
            f"{answer.data_directory} holds no history yet. Get some with 'tidecast history pull' "
            "(Prometheus) or 'tidecast history import FILE'.",
            soft_wrap=True,
        )
        return
    rows = [
        (
            pool.pool,
            moment_text(pool.start_seconds, zone),
            moment_text(pool.end_seconds, zone),
            f"{pool.observed_share:.1%}",
            str(len(pool.gaps)),
            str(pool.capped_steps),
            f"{pool.step_seconds} s",
        )
        for pool in answer.pools
    ]
    console.print(table(("pool", "from", "to", "observed", "gaps", "capped", "step"), rows))
