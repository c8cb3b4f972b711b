"""The `tidecast` command: one file per group of commands.

Commands read arguments, call what does the work and print; none decides anything. Nothing heavy is
imported before a command runs, so that `--help` answers at once.
"""

import logging
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from features.errors import TidecastError
from forecaster.cli import (
    announce,
    audit,
    backtest,
    backup,
    demo,
    doctor,
    forecast,
    history,
    job,
    models,
    plan,
    policy,
    serve,
    token,
    train,
)

USER_ERROR = 2
INTERRUPTED = 130

app = typer.Typer(
    name="tidecast",
    help="Forecasts the next 30 minutes of GPU demand, pool by pool, with honest uncertainty.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("demo", short_help="See it work on a made-up cluster.")(demo.demo)
app.command("doctor", short_help="Say what is missing, and how to get it.")(doctor.doctor)
app.add_typer(history.app, name="history")
app.add_typer(models.app, name="models")
app.command("train", short_help="Let the models learn from the history.")(train.train)
app.command("forecast", short_help="Say what each pool will need next.")(forecast.forecast)
app.command("backtest", short_help="Score the models on the newest days.")(backtest.backtest)
app.command("plan", short_help="Say what would be done now, and why.")(plan.plan)
app.command("act", short_help="Decide, and ask for nodes.")(plan.act)
app.add_typer(policy.app, name="policy")
app.add_typer(audit.app, name="audit")
app.add_typer(announce.app, name="announce")
app.command("serve", short_help="Run the service.")(serve.serve)
app.add_typer(job.app, name="job")
app.add_typer(token.app, name="token")
app.command("backup", short_help="Copy all that cannot be had again.")(backup.backup)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"tidecast {version('tidecast')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def tidecast(
    context: typer.Context,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Forecasts the next 30 minutes of GPU demand, pool by pool, with honest uncertainty."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code: 0, 2 for a user's error, 130 for Ctrl-C."""
    # Retries are part of the one message that follows when all of them fail.
    logging.getLogger("stamina").addHandler(logging.NullHandler())
    try:
        code = app(args=list(arguments), prog_name="tidecast", standalone_mode=False)
    except TidecastError as error:
        for line in str(error).splitlines():
            typer.echo(f"tidecast: {line}", err=True)
        return USER_ERROR
    except typer.TyperException as error:
        message = " ".join(error.format_message().split())
        typer.echo(f"tidecast: {message} (see 'tidecast --help')", err=True)
        return USER_ERROR
    return code if isinstance(code, int) else 0


def main() -> None:
    """Entry point of the `tidecast` command."""
    try:
        sys.exit(run(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
