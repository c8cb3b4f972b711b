"""`tidecast announce`: tell it what it cannot know, see what was told, and take it back."""

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from features.errors import BadInput
from forecaster.cli.options import ConfigOption, Output, OutputOption

if TYPE_CHECKING:
    from collections.abc import Sequence
    from zoneinfo import ZoneInfo

    from rich.console import Console

    from features.events import EventKind
    from forecaster.announcements.recurrence import Recurrence
    from forecaster.json_shapes import AnnouncementAnswer, AnnouncementsAnswer, CalendarAnswer

app = typer.Typer(
    help="Announce demand that no history can know of.",
    short_help="Announce demand that no history knows of.",
    no_args_is_help=True,
)


@app.command(short_help="Announce a flood.")
def create(
    *,
    pool: Annotated[
        str | None,
        typer.Option("--pool", metavar="POOL", help="Whose demand; every pool's if left out."),
    ] = None,
    begin: Annotated[
        str, typer.Option("--from", metavar="TIME", help="When it begins, the first time.")
    ],
    end: Annotated[str, typer.Option("--to", metavar="TIME", help="When that time is over.")],
    gpus: Annotated[
        float | None, typer.Option("--gpus", metavar="N", help="At least so many GPUs.")
    ] = None,
    extra: Annotated[
        float | None, typer.Option("--extra", metavar="N", help="So many GPUs more than usual.")
    ] = None,
    factor: Annotated[
        float | None, typer.Option("--factor", metavar="X", help="So many times the usual demand.")
    ] = None,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why.")] = "",
    owner: Annotated[
        str,
        typer.Option(
            "--owner", metavar="NAME", help="Who says so; the user of this machine if left out."
        ),
    ] = "",
    certainty: Annotated[
        float, typer.Option("--certainty", metavar="P", help="How likely it is, up to 1.")
    ] = 1.0,
    repeat: Annotated[
        str | None,
        typer.Option("--repeat", metavar="RULE", help="FREQ=WEEKLY;BYDAY=FR, or five cron fields."),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(
            "--without", metavar="DATE", help="Not on this date; may be given several times."
        ),
    ] = None,
    not_on_holidays: Annotated[
        bool, typer.Option("--not-on-holidays", help="Not on public holidays.")
    ] = False,
    config: ConfigOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Announce demand: at least so much, so much more, or a factor, from then to then.

    Saying the same again changes nothing. TIME is ISO 8601 with an offset or Z, or a date, which
    begins at midnight in calendar.time_zone; a RULE's local times are in that zone.
    """
    from forecaster.announcements.announcement import Announcement
    from forecaster.cli.output import print_result, print_warnings
    from forecaster.cli.times import parse_time
    from forecaster.clock import now_seconds
    from forecaster.tasks.announcing import announce
    from forecaster.wiring import Workspace

    workspace, now = Workspace.open(config), now_seconds()
    kind, amount = _kind_and_amount(gpus, extra, factor)
    said = Announcement(
        identifier="",
        pool=pool,
        start_seconds=parse_time(begin, "--from", workspace.zone),
        end_seconds=parse_time(end, "--to", workspace.zone),
        kind=kind,
        amount=amount,
        reason=reason,
        owner=owner or _user(),
        announced_seconds=now,
        certainty=certainty,
        recurrence=_recurrence(repeat, workspace.zone, without or [], not_on_holidays),
    )
    answer = announce(workspace, said, now)
    print_warnings(answer.warnings)
    print_result(answer, output, lambda console: _show([answer], workspace.zone, console))


@app.command("list", short_help="List what is announced.")
def list_announcements(
    *,
    pool: Annotated[
        str | None,
        typer.Option("--pool", metavar="POOL", help="For this pool, or for every pool."),
    ] = None,
    owner: Annotated[
        str | None, typer.Option("--owner", metavar="NAME", help="Announced by this one.")
    ] = None,
    past: Annotated[bool, typer.Option("--all", help="Also what is over or cancelled.")] = False,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="At most so many.")] = 50,
    cursor: Annotated[
        str | None, typer.Option("--cursor", metavar="ID", help="Go on where a list ended.")
    ] = None,
    config: ConfigOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """List the announcements that stand, newest first."""
    from forecaster.cli.output import print_result
    from forecaster.clock import now_seconds
    from forecaster.database.announcements import AnnouncementFilter
    from forecaster.tasks import announcing
    from forecaster.wiring import Workspace

    workspace = Workspace.open(config)
    wanted = AnnouncementFilter(
        pool=pool, owner=owner, active_seconds=None if past else now_seconds()
    )
    answer = announcing.list_announcements(workspace, wanted, cursor, limit)
    print_result(answer, output, lambda console: _show_list(answer, workspace.zone, console))


@app.command(short_help="Call an announcement off.")
def cancel(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="As 'announce list' has it.")],
    config: ConfigOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Call an announcement off, from now on."""
    from forecaster.cli.output import print_result
    from forecaster.clock import now_seconds
    from forecaster.tasks.announcing import cancel_announcement
    from forecaster.wiring import Workspace

    answer = cancel_announcement(Workspace.open(config), identifier, now_seconds())
    print_result(
        answer, output, lambda console: console.print(f"Announcement {identifier} is called off.")
    )


@app.command("import", short_help="Take announcements from a calendar.")
def import_calendar(
    file: Annotated[Path, typer.Argument(metavar="FILE.ics", help="An iCalendar file.")],
    config: ConfigOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Take over what a calendar announces: events with GPUS=64, GPUS=+64 or GPUS=x1.5 in them.

    What the same file announced before and no longer has is called off.
    """
    from forecaster.cli.output import print_result
    from forecaster.clock import now_seconds
    from forecaster.tasks import announcing
    from forecaster.wiring import Workspace

    answer = announcing.import_calendar(Workspace.open(config), file, now_seconds())
    print_result(answer, output, lambda console: _show_import(answer, console))


def _kind_and_amount(
    gpus: float | None, extra: float | None, factor: float | None
) -> "tuple[EventKind, float]":
    from features.events import EventKind

    amounts = {EventKind.ABSOLUTE: gpus, EventKind.EXTRA: extra, EventKind.FACTOR: factor}
    given = [(kind, amount) for kind, amount in amounts.items() if amount is not None]
    if len(given) != 1:
        raise BadInput("give one of --gpus, --extra and --factor: how much will be needed")
    return given[0]


def _recurrence(
    rule: str | None, zone: "ZoneInfo", without: "Sequence[str]", not_on_holidays: bool
) -> "Recurrence | None":
    from forecaster.announcements.recurrence import Recurrence

    if rule is None:
        if without or not_on_holidays:
            raise BadInput("--without and --not-on-holidays need --repeat; leave them out")
        return None
    try:
        dates = tuple(date.fromisoformat(day) for day in without)
    except ValueError:
        raise BadInput("--without takes a date such as 2026-12-24") from None
    return Recurrence(rule, zone.key, dates, on_holidays=not not_on_holidays)


def _user() -> str:
    from getpass import getuser

    return getuser()


def _show(
    announcements: "Sequence[AnnouncementAnswer]", zone: "ZoneInfo", console: "Console"
) -> None:
    from forecaster.cli.output import table
    from forecaster.cli.times import moment_text

    rows = [
        (
            one.identifier,
            one.pool or "every pool",
            moment_text(one.start_seconds, zone),
            moment_text(one.end_seconds, zone),
            one.recurrence or "once",
            _amount_text(one),
            one.owner,
            "cancelled" if one.cancelled_seconds is not None else one.reason,
        )
        for one in announcements
    ]
    columns = ("announcement", "pool", "from", "to", "again", "GPUs", "owner", "")
    console.print(table(columns, rows, texts=[name for name in columns if name != "GPUs"]))


def _amount_text(one: "AnnouncementAnswer") -> str:
    sign = {"absolute": "", "extra": "+", "factor": "x"}[one.kind]
    likely = "" if one.certainty == 1 else f" ({one.certainty:.0%})"
    return f"{sign}{one.amount:g}{likely}"


def _show_list(answer: "AnnouncementsAnswer", zone: "ZoneInfo", console: "Console") -> None:
    if not answer.announcements:
        console.print("Nothing is announced; 'tidecast announce create' does.")
        return
    _show(answer.announcements, zone, console)
    if answer.cursor:
        console.print(f"There are more: --cursor {answer.cursor}", soft_wrap=True)


def _show_import(answer: "CalendarAnswer", console: "Console") -> None:
    console.print(
        f"{len(answer.added)} added, {len(answer.changed)} changed, "
        f"{len(answer.cancelled)} cancelled."
    )
