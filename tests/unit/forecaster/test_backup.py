"""A backup is whole or not there, and a service can go on from it."""

import sqlite3
from pathlib import Path

import pytest

from tests.fakes.command_line import Command, files_in

POLICY = """\
pools:
  - pool: a100/whole-node
    node_gpus: 8
    node_pools: [{name: a100}]
"""


@pytest.fixture
def filled(tidecast: Command, jobs_csv: Path) -> Command:
    """A data directory with history and a policy."""
    assert 0 == tidecast("history", "import", jobs_csv).code
    Path("policy.yaml").write_text(POLICY, encoding="utf-8")
    assert 0 == tidecast("policy", "apply", "policy.yaml").code
    return tidecast


def test_everything_is_there_again(filled: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the copy alone."""
    answer = filled("backup", "copies/monday", "--output", "json").answer
    assert ["tidecast.db", "history"] == answer["parts"]
    before = filled("history", "show").out, filled("policy", "show").out
    monkeypatch.setenv("TIDECAST_DATA_DIRECTORY", "copies/monday")
    assert before == (filled("history", "show").out, filled("policy", "show").out)


def test_it_is_taken_while_somebody_writes(filled: Command) -> None:
    """A writer that has not finished is not part of it, and holds nothing up."""
    writer = sqlite3.connect("tidecast-data/tidecast.db", isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("DELETE FROM policy_versions")
    assert 0 == filled("backup", "copy").code
    writer.execute("ROLLBACK")
    writer.close()
    (count,) = sqlite3.connect("copy/tidecast.db").execute("SELECT count(*) FROM policy_versions")
    assert (1,) == count


def test_what_is_there_is_not_touched(filled: Command) -> None:
    """A second backup needs a place of its own."""
    assert 0 == filled("backup", "copy").code
    before = files_in(Path("copy"))
    ran = filled("backup", "copy")
    assert (2, before) == (ran.code, files_in(Path("copy")))
    assert "there is something already" in ran.err


def test_a_backup_that_fails_leaves_nothing(filled: Command) -> None:
    """A damaged database is said, not copied."""
    Path("tidecast-data/tidecast.db").write_bytes(b"SQLite format 3\x00" + b"\xff" * 4096)
    for journal in Path("tidecast-data").glob("tidecast.db-*"):
        journal.unlink()
    ran = filled("backup", "places/copy")
    assert 2 == ran.code
    assert "no backup could be made" in ran.err
    assert [] == list(Path("places").iterdir())
