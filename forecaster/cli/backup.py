"""`tidecast backup`: a copy of all that cannot be had again."""

from pathlib import Path
from typing import Annotated

import typer

from forecaster.cli.options import ConfigOption, Output, OutputOption

MEGABYTE = 1_000_000


def backup(
    place: Annotated[
        Path, typer.Argument(metavar="DIRECTORY", help="A directory that is not there yet.")
    ],
    config: ConfigOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Copy database, history and models to a new directory while everything runs.

    To go back, stop the service and set `data_directory` to the copy.
    """
    from forecaster.cli.output import print_result, print_warnings, progress
    from forecaster.tasks.backing_up import back_up
    from forecaster.wiring import Workspace

    with progress("Backing up"):
        answer = back_up(Workspace.open(config), place)
    print_warnings(answer.warnings)
    print_result(
        answer,
        output,
        lambda console: console.print(
            f"{', '.join(answer.parts) or 'Nothing'} copied to {answer.place}, "
            f"{answer.bytes / MEGABYTE:.1f} MB.",
            soft_wrap=True,
        ),
    )
