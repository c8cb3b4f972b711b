"""`tidecast plan` and `tidecast act`: what would be done for every pool and why, and doing it."""

import signal
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated

import typer

from forecaster.cli.options import ConfigOption, Output, OutputOption

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from rich.console import Console

    from features.errors import TidecastError
    from forecaster.json_shapes import ActAnswer, PlanAnswer, PlanOfPool

StateOption = Annotated[
    Path | None,
    typer.Option(
        "--state",
        metavar="FILE.json",
        help="Take the cluster from this file, at the moment that it says, not from its API.",
    ),
]


def plan(
    state: StateOption = None,
    config: ConfigOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Say for every pool what would be done now, and why. Nothing is asked for.

    Where a Prometheus is set, what the history lacks is pulled first.
    """
    from forecaster.acting_wiring import Purpose
    from forecaster.cli.output import print_result, print_warnings, progress
    from forecaster.clock import now_seconds
    from forecaster.tasks.acting import ActingOptions, acting_on
    from forecaster.wiring import Workspace

    workspace = Workspace.open(config)
    options = ActingOptions(Purpose.PLAN, state)
    with progress("Planning"), acting_on(workspace, options) as actor:
        answer = actor.plan(now_seconds())
    print_warnings(answer.warnings)
    print_result(answer, output, lambda console: show_plan(answer, workspace.zone, console))


def act(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be asked of each node pool.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Go on, a cycle a minute, until stopped.")
    ] = False,
    state: StateOption = None,
    config: ConfigOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Do one cycle for real: decide, ask for nodes, and put it on record.

    Only pools whose mode in the policy is `act` are acted on; a dry run shows the others as well.
    """
    from forecaster.acting_wiring import Purpose
    from forecaster.cli.output import progress
    from forecaster.clock import now_seconds
    from forecaster.tasks.acting import ActingOptions, acting_on
    from forecaster.wiring import Workspace

    workspace = Workspace.open(config)
    options = ActingOptions(Purpose.DRY_RUN if dry_run else Purpose.ACT, state)
    with progress("Acting"), acting_on(workspace, options) as actor:
        if not watch:
            _tell(actor.act(now_seconds()), workspace.zone, output)
            return
        actor.keep_acting(
            now_seconds, _stopped_by_signals(), lambda done: _tell(done, workspace.zone, output)
        )


def _stopped_by_signals() -> Event:
    """Set once the process is asked to end."""
    stopped = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    return stopped


def _tell(done: "ActAnswer | TidecastError", zone: "ZoneInfo", output: Output) -> None:
    from features.errors import TidecastError
    from forecaster.cli.output import print_result, print_warnings

    if isinstance(done, TidecastError):
        print_warnings(str(done).splitlines())
        return
    print_warnings(done.plan.warnings)
    print_result(done, output, lambda console: _show_act(done, zone, console))


def show_plan(answer: "PlanAnswer", zone: "ZoneInfo", console: "Console") -> None:
    """Print a plan as a table, then why, pool by pool."""
    from forecaster.cli.output import table
    from forecaster.cli.times import moment_text

    moment = moment_text(answer.made_seconds, zone)
    console.print(f"Plan of {moment} by policy version {answer.policy_version}.\n")
    columns = ("pool", "mode", "nodes", "wanted", "by", "bound by", "then")
    rows = [_row(one, zone) for one in answer.pools]
    console.print(table(columns, rows, texts=("mode", "by", "bound by", "then")))
    for one in answer.pools:
        console.print(f"\n{one.pool}:", soft_wrap=True)
        for reason in one.reasons:
            console.print(f"  {reason.text}", soft_wrap=True)
        for advice in one.advice:
            console.print(f"  advice: {advice}", soft_wrap=True)
    _show_shadow(answer, console)


def _row(one: "PlanOfPool", zone: "ZoneInfo") -> tuple[str, ...]:
    from forecaster.cli.times import moment_text

    later = one.scheduled
    then = (
        "-" if later is None else f"{later.desired_nodes} at {moment_text(later.at_seconds, zone)}"
    )
    nodes = (str(one.current_nodes), str(one.desired_nodes))
    return (one.pool, one.operating_mode, *nodes, one.mode, one.bound_by, then)


def _show_shadow(answer: "PlanAnswer", console: "Console") -> None:
    """Where the shadow policy would do otherwise."""
    if answer.shadow_policy_version is None:
        return
    live = {one.pool: one.desired_nodes for one in answer.pools}
    differing = [one for one in answer.shadow_pools if live.get(one.pool) != one.desired_nodes]
    console.print(f"\nShadow policy version {answer.shadow_policy_version}:")
    for one in differing:
        console.print(f"  {one.pool}: {one.desired_nodes} nodes, by {one.bound_by}")
    if not differing:
        console.print("  the same for every pool")


def _show_act(answer: "ActAnswer", zone: "ZoneInfo", console: "Console") -> None:
    show_plan(answer.plan, zone, console)
    console.print("\nAsked for:" if answer.requests else "\nNothing new was asked for.")
    for one in answer.requests:
        console.print(
            f"  {one.node_pool}: {one.desired_nodes} nodes by {one.back_end}: {one.standing}, "
            f"{one.detail}",
            soft_wrap=True,
        )
    for line in answer.node_care:
        console.print(f"  {line}", soft_wrap=True)
    for identifier in answer.finished:
        console.print(f"  finished what a cycle that was cut off had begun: {identifier}")
