"""Options that several commands share, so that they read and mean the same everywhere."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Output(StrEnum):
    """How a command prints its result."""

    TABLE = "table"
    JSON = "json"


ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        envvar="TIDECAST_CONFIG",
        metavar="FILE",
        help="Settings file; tidecast.yaml of the working directory if it is there.",
    ),
]
OutputOption = Annotated[
    Output, typer.Option("--output", help="Print a table for people or JSON for programs.")
]
PoolOption = Annotated[
    str | None,
    typer.Option("--pool", metavar="POOL", help="This pool alone, such as a100/whole-node."),
]
ReportOption = Annotated[
    Path | None,
    typer.Option(
        "--report", metavar="FILE.html", help="Write a report with plots, one file, to this place."
    ),
]


def names_in(text: str) -> tuple[str, ...]:
    """The names in a list with commas; none in an empty one."""
    return tuple(name.strip() for name in text.split(",") if name.strip())
