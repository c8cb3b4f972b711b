"""Transcripts of the command line, to the letter: what users see changes only on purpose.

Each file of `tests/golden` is a session in an empty directory with `jobs.csv` and policies in it,
all at one moment; the one of `audit` finds decisions on record. After a change on purpose,
`UPDATE_GOLDEN=1 pytest tests/unit/forecaster/test_golden.py` writes them anew; read the difference
before you commit it.
"""

import os
import re
import shlex
from pathlib import Path

import pytest

from forecaster.wiring import Workspace
from tests.fakes.command_line import Command
from tests.fakes.decisions import put_on_record

GOLDEN = Path(__file__).parents[2] / "golden"
SESSIONS = sorted(GOLDEN.glob("*.txt"))
NOW_SECONDS = 1_772_672_400  # 2026-03-05T01:00:00Z, when the jobs of jobs.csv have ended
VERSION = re.compile(r"\d{8}T\d{6}Z(-\d+)?(?P<gap> *)")


def same_for_any_version(found: re.Match[str]) -> str:
    """The word VERSION, as wide as the version was where it stands in a column."""
    gap = found["gap"]
    return "VERSION" + gap if len(gap) < 2 else "VERSION".ljust(len(found[0]))


def transcript(tidecast: Command, command: str) -> str:
    """A command with what it printed, stderr marked, and its exit code unless zero."""
    ran = tidecast(*shlex.split(command)[1:])
    lines = [f"$ {command}", *ran.out.splitlines()]
    lines += [f"! {line}" for line in ran.err.splitlines()]
    lines += [f"exit code {ran.code}"] if ran.code else []
    return VERSION.sub(same_for_any_version, "\n".join(line.rstrip() for line in lines)) + "\n"


@pytest.mark.parametrize("session", SESSIONS, ids=lambda path: path.stem)
def test_a_session_reads_as_it_is_written(
    tidecast: Command,
    jobs_csv: Path,
    policy_files: Path,
    session: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every command of the session prints what stands below it."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr("forecaster.clock.now_seconds", lambda: NOW_SECONDS)
    if session.stem == "audit":
        with Workspace.open(None).open_database() as database:
            put_on_record(database)
    written = session.read_text(encoding="utf-8")
    commands = [line[2:] for line in written.splitlines() if line.startswith("$ ")]
    printed = "\n".join(transcript(tidecast, command) for command in commands)
    if os.environ.get("UPDATE_GOLDEN"):
        session.write_text(printed, encoding="utf-8")
    assert written == printed


def test_there_are_sessions() -> None:
    """The test above is about something."""
    assert {
        "help",
        "history",
        "models",
        "forecast",
        "backtest",
        "doctor",
        "errors",
        "policy",
        "audit",
    } <= {path.stem for path in SESSIONS}
