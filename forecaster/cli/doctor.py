"""`tidecast doctor`: is there a way from what is here to a forecast, and what is missing."""

from typing import TYPE_CHECKING

import typer

from forecaster.cli.options import ConfigOption, Output, OutputOption

if TYPE_CHECKING:
    from rich.console import Console

    from forecaster.json_shapes import DoctorAnswer

NOT_READY = 1


def doctor(config: ConfigOption = None, output: OutputOption = Output.TABLE) -> None:
    """Check Prometheus, history and calendar, and say what is missing and how to get it.

    Changes nothing. The exit code is 1 if something stands in the way of a forecast.
    """
    from forecaster.cli.output import print_result, progress
    from forecaster.clock import now_seconds
    from forecaster.tasks.checking import examine
    from forecaster.wiring import Workspace

    workspace = Workspace.open(config)
    with progress("Looking around"):
        answer = examine(workspace, now_seconds())
    print_result(answer, output, lambda console: _show(answer, console))
    if not answer.ready:
        raise typer.Exit(NOT_READY)


def _show(answer: "DoctorAnswer", console: "Console") -> None:
    for check in answer.checks:
        console.print(f"{check.status:<8} {check.name}: {check.finding}", soft_wrap=True)
        if check.remedy:
            console.print(f"{'':<8} -> {check.remedy}", soft_wrap=True)
    problems = sum(check.status == "problem" for check in answer.checks)
    console.print("")
    console.print(
        "Nothing stands in the way of a forecast."
        if answer.ready
        else f"{problems} problem{'s' if problems > 1 else ''} in the way of a forecast."
    )
