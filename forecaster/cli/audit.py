"""`tidecast audit`: what was decided, what each decision was made from, and why."""

from typing import TYPE_CHECKING, Annotated

import typer

from forecaster.cli.options import ConfigOption, Output, OutputOption, PoolOption

if TYPE_CHECKING:
    from collections.abc import Sequence
    from zoneinfo import ZoneInfo

    from rich.console import Console

    from forecaster.json_shapes import DecisionAnswer, DecisionsAnswer, ExplanationAnswer

IdentifierArgument = Annotated[str, typer.Argument(metavar="ID", help="As 'audit list' has it.")]

app = typer.Typer(
    help="See what was decided, and why.",
    short_help="See what was decided, and why.",
    no_args_is_help=True,
)


@app.command("list", short_help="List decisions.")
def list_events(
    *,
    pool: PoolOption = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Decided from then on.")
    ] = None,
    held: Annotated[bool, typer.Option("--held", help="Held back by a guard alone.")] = False,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="At most so many.")] = 50,
    cursor: Annotated[
        str | None, typer.Option("--cursor", metavar="ID", help="Go on where a list ended.")
    ] = None,
    config: ConfigOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """List decisions that changed something or were held back, newest first."""
    from forecaster.cli.output import print_result
    from forecaster.cli.times import parse_time
    from forecaster.database.audit_log import AuditFilter
    from forecaster.tasks.auditing import list_decisions
    from forecaster.wiring import Workspace

    workspace = Workspace.open(config)
    wanted = AuditFilter(
        pool=pool,
        since_seconds=None if since is None else parse_time(since, "--since", workspace.zone),
        held_back=True if held else None,
    )
    answer = list_decisions(workspace, wanted, cursor, limit)
    print_result(answer, output, lambda console: _show_list(answer, workspace.zone, console))


@app.command(short_help="Print all that is on record of one.")
def show(
    identifier: IdentifierArgument,
    config: ConfigOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Print all that is on record of one decision."""
    from forecaster.cli.output import print_result
    from forecaster.tasks.auditing import show_decision
    from forecaster.wiring import Workspace

    workspace = Workspace.open(config)
    answer = show_decision(workspace, identifier)
    print_result(answer, output, lambda console: _show_one(answer, workspace.zone, console))


@app.command(short_help="Say in plain words why.")
def explain(
    identifier: IdentifierArgument,
    config: ConfigOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Say in plain words what was seen, by which policy it was decided, why, and what happened."""
    from forecaster.cli.output import print_result
    from forecaster.tasks.auditing import explain_decision
    from forecaster.wiring import Workspace

    answer = explain_decision(Workspace.open(config), identifier)
    print_result(answer, output, lambda console: _show_explanation(answer, console))


def _show_list(answer: "DecisionsAnswer", zone: "ZoneInfo", console: "Console") -> None:
    from forecaster.cli.output import table
    from forecaster.cli.times import moment_text

    if not answer.decisions:
        _show_lines(["No such decision is on record."], console)
        return
    rows = [
        (
            one.identifier,
            moment_text(one.made_seconds, zone),
            one.pool,
            f"{one.current_nodes}",
            f"{one.desired_nodes}",
            one.mode,
            one.bound_by,
            f"{one.policy_version}",
            "shadow" if one.is_shadow else one.standing,
        )
        for one in answer.decisions
    ]
    columns = (
        "id",
        "decided",
        "pool",
        "nodes",
        "desired",
        "mode",
        "bound by",
        "policy",
        "standing",
    )
    texts = ("decided", "pool", "mode", "bound by", "standing")
    console.print(table(columns, rows, texts=texts))
    if answer.cursor is not None:
        _show_lines([f"More with --cursor {answer.cursor}"], console)


def _show_one(answer: "DecisionAnswer", zone: "ZoneInfo", console: "Console") -> None:
    from forecaster.audit_words import figures_text
    from forecaster.cli.times import moment_text

    shadow = ", shadow" if answer.is_shadow else ""
    lines = [
        f"{answer.identifier}: {answer.pool}, {moment_text(answer.made_seconds, zone)}",
        f"  policy {answer.policy_version}{shadow}; {answer.standing}",
        f"  {answer.mode}, bound by {answer.bound_by}: {answer.current_nodes} to "
        f"{answer.desired_nodes} nodes",
        f"  seen: {figures_text(answer.seen)}",
        f"  thresholds: {figures_text(answer.thresholds)}",
        *(f"  {one.code}: {one.text}" for one in answer.reasons),
        *(f"  advice: {line}" for line in answer.advice),
        *(
            f"  {one.node_pool} by {one.back_end}: {one.current_nodes} to {one.desired_nodes} "
            f"nodes; {one.outcome or 'outcome not known'}{f', {one.detail}' if one.detail else ''}"
            for one in answer.actions
        ),
    ]
    _show_lines(lines, console)


def _show_explanation(answer: "ExplanationAnswer", console: "Console") -> None:
    parts = (
        ("What was seen", answer.seen),
        ("Which policy", answer.policy),
        ("Why", answer.why),
        ("What happened", answer.happened),
    )
    _show_lines([answer.decided], console)
    for title, lines in parts:
        _show_lines(["", title, *(f"  {line}" for line in lines)], console)


def _show_lines(lines: "Sequence[str]", console: "Console") -> None:
    for line in lines:
        console.print(line, soft_wrap=True)
