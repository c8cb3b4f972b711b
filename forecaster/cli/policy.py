"""`tidecast policy`: what is in force, what was before, what would change, and how to go back."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forecaster.cli.options import ConfigOption, Output, OutputOption

if TYPE_CHECKING:
    from collections.abc import Sequence
    from zoneinfo import ZoneInfo

    from rich.console import Console

    from forecaster.database.policy_versions import Authorship
    from forecaster.json_shapes import PoliciesAnswer, PolicyAnswer, PolicyChangeAnswer

NO_CHANGE = "Both say the same."

NoteOption = Annotated[str, typer.Option("--note", metavar="TEXT", help="Why, for the record.")]
AuthorOption = Annotated[
    str, typer.Option("--author", metavar="NAME", help="Who; the user of this machine if left out.")
]
VersionArgument = Annotated[int | None, typer.Argument(metavar="VERSION", show_default=False)]

app = typer.Typer(
    help="See and change the policy that nodes are planned by.",
    short_help="See and change the policy.",
    no_args_is_help=True,
)


@app.command(short_help="Put a policy into force.")
def apply(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A policy, as YAML.")],
    note: NoteOption = "",
    author: AuthorOption = "",
    config: ConfigOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Put a policy into force from the next cycle on; one that breaks a rule changes nothing."""
    from forecaster.cli.output import print_result
    from forecaster.tasks.policies import apply_policy
    from forecaster.wiring import Workspace

    answer = apply_policy(Workspace.open(config), file, _authorship(author, note))
    print_result(answer, output, lambda console: _show_change(answer, console))


@app.command("list", short_help="List the versions there are.")
def list_versions(config: ConfigOption = None, output: OutputOption = Output.TABLE) -> None:
    """List every policy that was ever in force or tried, newest first."""
    from forecaster.cli.output import print_result
    from forecaster.tasks.policies import list_policies
    from forecaster.wiring import Workspace

    workspace = Workspace.open(config)
    answer = list_policies(workspace)
    print_result(answer, output, lambda console: _show_list(answer, workspace.zone, console))


@app.command(short_help="Print one version.")
def show(
    version: VersionArgument = None,
    config: ConfigOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Print one version, every default written out; the one in force if none is named."""
    from forecaster.cli.output import print_result
    from forecaster.tasks.policies import show_policy
    from forecaster.wiring import Workspace

    workspace = Workspace.open(config)
    answer = show_policy(workspace, version)
    print_result(answer, output, lambda console: _show_one(answer, workspace.zone, console))


@app.command(short_help="Say what differs between two.")
def diff(
    before: Annotated[str, typer.Argument(metavar="A", help="A version's number, or a file.")],
    after: Annotated[str, typer.Argument(metavar="B", help="The same.")],
    config: ConfigOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Say what differs between two versions, or between a version and a file."""
    from forecaster.cli.output import print_result
    from forecaster.tasks.policies import diff_policies
    from forecaster.wiring import Workspace

    answer = diff_policies(Workspace.open(config), before, after)
    print_result(
        answer, output, lambda console: _show_lines(answer.changes or [NO_CHANGE], console)
    )


@app.command(short_help="Go back to an earlier policy.")
def rollback(
    version: VersionArgument = None,
    note: NoteOption = "",
    author: AuthorOption = "",
    config: ConfigOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Put an earlier policy into force again, from the next cycle on.

    Without a version this is the one before the one in force; twice goes back two.
    """
    from forecaster.cli.output import print_result
    from forecaster.tasks.policies import roll_back_policy
    from forecaster.wiring import Workspace

    answer = roll_back_policy(Workspace.open(config), version, _authorship(author, note))
    print_result(answer, output, lambda console: _show_change(answer, console))


@app.command(short_help="Try a policy without acting on it.")
def shadow(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="A policy, as YAML.", show_default=False)
    ] = None,
    *,
    off: Annotated[bool, typer.Option("--off", help="Try none any more.")] = False,
    note: NoteOption = "",
    author: AuthorOption = "",
    config: ConfigOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Try a policy beside the one in force: what it would decide is recorded, and not done."""
    from forecaster.cli.output import print_result
    from forecaster.tasks.policies import stop_trying_policy, try_policy
    from forecaster.wiring import Workspace

    if (file is None) != off:
        raise typer.BadParameter("give either FILE or --off")
    workspace, by = Workspace.open(config), _authorship(author, note)
    if file is not None:
        change = try_policy(workspace, file, by)
        print_result(change, output, lambda console: _show_change(change, console))
        return
    answer = stop_trying_policy(workspace, by.made_seconds)
    ended = answer.ended_version
    line = "No policy was tried." if ended is None else f"Policy {ended} is no longer tried."
    print_result(answer, output, lambda console: _show_lines([line], console))


def _authorship(author: str, note: str) -> "Authorship":
    from forecaster.clock import now_seconds
    from forecaster.database.policy_versions import Authorship

    return Authorship(author or _user(), now_seconds(), note)


def _user() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user need have no name
        return "unknown"


def _show_change(answer: "PolicyChangeAnswer", console: "Console") -> None:
    standing = "in force from the next cycle on" if answer.standing == "in-force" else "tried"
    came_from = "" if answer.restored_from is None else f", as version {answer.restored_from} was"
    if answer.is_new:
        line = f"Policy {answer.policy_version} is {standing}{came_from}."
    else:
        already = "in force" if answer.standing == "in-force" else "tried"
        line = f"Policy {answer.policy_version} says the same and is {already} already."
    _show_lines([line, *answer.changes], console)


def _show_list(answer: "PoliciesAnswer", zone: "ZoneInfo", console: "Console") -> None:
    from forecaster.cli.output import table
    from forecaster.cli.times import moment_text

    if not answer.versions:
        _show_lines(["There is no policy yet; 'tidecast policy apply FILE' makes one."], console)
        return
    rows = [
        (
            f"{one.policy_version}",
            moment_text(one.made_seconds, zone),
            one.author,
            one.standing,
            "" if one.restored_from is None else f"{one.restored_from}",
            one.note,
        )
        for one in answer.versions
    ]
    columns = ("version", "made", "by", "standing", "as", "note")
    console.print(table(columns, rows, texts=("made", "by", "standing", "note")))


def _show_one(answer: "PolicyAnswer", zone: "ZoneInfo", console: "Console") -> None:
    from forecaster.cli.times import moment_text
    from forecaster.policy import canonical_yaml

    made = moment_text(answer.made_seconds, zone)
    note = f": {answer.note}" if answer.note else ""
    head = f"# version {answer.policy_version} ({answer.standing}) by {answer.author}, {made}{note}"
    _show_lines([head, *canonical_yaml(answer.document).splitlines()], console)


def _show_lines(lines: "Sequence[str]", console: "Console") -> None:
    for line in lines:
        console.print(line, soft_wrap=True)
