"""How results, warnings and progress are printed: results on stdout, all else on stderr.

Nothing is printed here that a program could not also get with `--output json`.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from forecaster.cli.options import Output

if TYPE_CHECKING:
    from forecaster.json_shapes import Shape

PLAIN_WIDTH = 160  # columns where the output is no terminal: the same in every pipe and file

ReportProgress = Callable[[str, int, int], None]


def print_result(result: "Shape", output: Output, show: Callable[[Console], None]) -> None:
    """Print a result as JSON, or let `show` print it for people."""
    if output is Output.JSON:
        typer.echo(result.model_dump_json(indent=2))
    else:
        show(_console(sys.stdout))


def print_warnings(warnings: Sequence[str]) -> None:
    """One line each, on stderr."""
    for warning in warnings:
        typer.echo(f"warning: {warning}", err=True)


def table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], texts: Sequence[str] = ()
) -> Table:
    """A table of figures, right-aligned, but for its first column and the named ones, of text."""
    built = Table(box=None, pad_edge=False, header_style="bold")
    for index, column in enumerate(columns):
        is_text = index == 0 or column in texts
        built.add_column(column, justify="left" if is_text else "right", no_wrap=is_text)
    for row in rows:
        built.add_row(*row)
    return built


@contextmanager
def progress(title: str) -> Iterator[ReportProgress]:
    """Show that something long is under way: a bar in a terminal, plain lines elsewhere.

    Yields:
        What the work calls with (name of what is being done, parts done, parts in all).
    """
    console = _console(sys.stderr)
    if not console.is_terminal:
        yield _plain_lines(title)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        task = bars.add_task(title, total=None)

        def show(what: str, done: int, total: int) -> None:
            bars.update(task, description=f"{title}: {what}", completed=done, total=total)

        yield show


def _plain_lines(title: str) -> ReportProgress:
    """A line at the beginning, and one for each thing that is begun."""
    typer.echo(f"{title} ...", err=True)
    begun: set[str] = set()

    def show(what: str, _done: int, _total: int) -> None:
        if what not in begun:
            begun.add(what)
            typer.echo(f"{title}: {what} ...", err=True)

    return show


def _console(stream: TextIO) -> Console:
    width = None if stream.isatty() else PLAIN_WIDTH
    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False)
