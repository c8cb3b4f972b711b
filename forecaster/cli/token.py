"""`tidecast token`: who may call the API."""

from typing import TYPE_CHECKING, Annotated

import typer

from forecaster.cli.options import ConfigOption, Output, OutputOption
from forecaster.scopes import Scope

if TYPE_CHECKING:
    from collections.abc import Sequence
    from zoneinfo import ZoneInfo

    from rich.console import Console

    from forecaster.json_shapes import KnownToken, TokenAnswer, TokensAnswer

_DAY_SECONDS = 86_400

app = typer.Typer(
    help="See and change who may call the API.",
    short_help="See and change who may call the API.",
    no_args_is_help=True,
)


@app.command(short_help="Make a token.")
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whose it is, or what for.")],
    *,
    scope: Annotated[
        list[Scope] | None,
        typer.Option(
            "--scope", help="What it allows; may be given several times. read if left out."
        ),
    ] = None,
    days: Annotated[
        int | None,
        typer.Option(
            "--days", min=1, metavar="N", help="Days until it expires; never if left out."
        ),
    ] = None,
    config: ConfigOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Make a token and print it, once: only its digest is kept."""
    from forecaster.cli.output import print_result
    from forecaster.clock import now_seconds
    from forecaster.tasks.access import create_token
    from forecaster.wiring import Workspace

    workspace, now = Workspace.open(config), now_seconds()
    expires = None if days is None else now + days * _DAY_SECONDS
    answer = create_token(workspace, name, scope or [Scope.READ], now, expires)
    print_result(answer, output, lambda console: _show_new(answer, console))


@app.command("list", short_help="List the tokens there are.")
def list_tokens(config: ConfigOption = None, output: OutputOption = Output.TABLE) -> None:
    """List the tokens, newest first, without the tokens themselves."""
    from forecaster.cli.output import print_result
    from forecaster.tasks import access
    from forecaster.wiring import Workspace

    workspace = Workspace.open(config)
    answer = access.list_tokens(workspace)
    print_result(answer, output, lambda console: _show_list(answer, workspace.zone, console))


@app.command(short_help="Let a token count no more.")
def revoke(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="As 'token list' has it.")],
    config: ConfigOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Let a token count no more, at once and for good."""
    from forecaster.cli.output import print_result
    from forecaster.clock import now_seconds
    from forecaster.tasks.access import revoke_token
    from forecaster.wiring import Workspace

    answer = revoke_token(Workspace.open(config), identifier, now_seconds())
    print_result(answer, output, lambda console: _show_revoked(answer, console))


def _show_new(answer: "TokenAnswer", console: "Console") -> None:
    console.print(answer.token, soft_wrap=True)
    console.print(
        f"Token {answer.identifier} of {answer.name} allows {', '.join(answer.scopes)}. Keep it "
        "now: it cannot be shown again.",
        soft_wrap=True,
    )


def _show_list(answer: "TokensAnswer", zone: "ZoneInfo", console: "Console") -> None:
    from forecaster.cli.output import table

    if not answer.tokens:
        console.print("There is no token yet; 'tidecast token create NAME' makes one.")
        return
    columns = ("token", "name", "allows", "made", "ends")
    console.print(table(columns, _rows(answer.tokens, zone), texts=columns))


def _rows(tokens: "Sequence[KnownToken]", zone: "ZoneInfo") -> list[tuple[str, ...]]:
    from forecaster.cli.times import moment_text

    return [
        (
            one.identifier,
            one.name,
            ", ".join(one.scopes),
            moment_text(one.made_seconds, zone),
            "revoked"
            if one.revoked_seconds is not None
            else "never"
            if one.expires_seconds is None
            else moment_text(one.expires_seconds, zone),
        )
        for one in tokens
    ]


def _show_revoked(answer: "KnownToken", console: "Console") -> None:
    console.print(f"Token {answer.identifier} of {answer.name} counts no more.", soft_wrap=True)
