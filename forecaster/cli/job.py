"""`tidecast job`: what the service does by itself, how that went, and one of its jobs run now."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from forecaster.cli.options import ConfigOption, Output, OutputOption

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from rich.console import Console

    from forecaster.json_shapes import JobAnswer, JobsAnswer

FAILED = 1
TERMINATED = 128 + signal.SIGTERM
NO_FAILURE = ("done", "skipped")

app = typer.Typer(
    help="See the scheduled jobs, and run one of them.",
    short_help="See and run the scheduled jobs.",
    no_args_is_help=True,
)


@app.command("list", short_help="List the jobs and their last runs.")
def list_jobs(config: ConfigOption = None, output: OutputOption = Output.TABLE) -> None:
    """List the jobs that these settings ask for, when each is due, and how its last run went."""
    from forecaster.cli.output import print_result
    from forecaster.clock import now_seconds
    from forecaster.tasks import jobs
    from forecaster.wiring import Workspace

    workspace = Workspace.open(config)
    answer = jobs.list_jobs(workspace, now_seconds())
    print_result(answer, output, lambda console: _show_list(answer, workspace.zone, console))


@app.command(short_help="Run one job now.")
def run(
    name: Annotated[str, typer.Argument(metavar="NAME", help="As 'job list' has it.")],
    config: ConfigOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Run one job now, as a Kubernetes CronJob does.

    If it is running in another process, nothing is done. The exit code is 1 if it failed.
    """
    from forecaster.cli.output import print_result, progress
    from forecaster.clock import now_seconds
    from forecaster.logs import log_to_stderr
    from forecaster.tasks import jobs
    from forecaster.wiring import Workspace

    log_to_stderr()
    stop = Event()
    with progress(f"Running {name}"), _told_to_end(stop):
        answer = jobs.run_job(Workspace.open(config), name, config, now_seconds, stop)
    print_result(answer, output, lambda console: _show_run(answer, console))
    if answer.standing not in NO_FAILURE:
        raise typer.Exit(FAILED)


@contextmanager
def _told_to_end(stop: Event) -> Iterator[None]:
    """Let a SIGTERM break the work off, so that its end is recorded."""

    def end(_signal: int, _frame: FrameType | None) -> None:
        stop.set()
        raise SystemExit(TERMINATED)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _show_list(answer: "JobsAnswer", zone: "ZoneInfo", console: "Console") -> None:
    from forecaster.cli.output import table
    from forecaster.cli.times import moment_text

    rows = [
        (
            one.job,
            one.schedule,
            moment_text(one.next_due_seconds, zone),
            moment_text(one.last.begun_seconds, zone) if one.last else "never",
            one.last.standing if one.last else "",
        )
        for one in answer.jobs
    ]
    columns = ("job", "schedule", "next", "last", "")
    console.print(table(columns, rows, texts=columns))
    for one in answer.jobs:
        if one.last is not None and one.last.detail:
            console.print(f"{one.job}: {one.last.detail}", soft_wrap=True)


def _show_run(answer: "JobAnswer", console: "Console") -> None:
    console.print(f"{answer.job} {answer.standing}: {answer.detail}", soft_wrap=True)
