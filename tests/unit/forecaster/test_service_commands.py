"""The commands `job`, `token` and `announce`, where their answers depend on chance or the time."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from forecaster.clock import now_seconds
from forecaster.database.announcements import Announcements
from forecaster.database.job_runs import Claim, JobRuns
from forecaster.database.tokens import Tokens
from forecaster.scheduling import jobs as table
from forecaster.scheduling.holders import this_process
from forecaster.scopes import Scope
from forecaster.wiring import Workspace
from tests.fakes.command_line import Command
from tests.fakes.waiting import eventually

FLOOD = ("announce", "create", "--from", "2099-03-06T09:00Z", "--to", "2099-03-06T11:00Z",
         "--owner", "ada")  # fmt: skip


def test_a_token_that_was_made_opens_what_it_allows(tidecast: Command) -> None:
    """Until it is revoked; the list does not show it."""
    made = tidecast(
        "token", "create", "grafana", "--scope", "read", "--scope", "announce", "--days", "7",
        "--output", "json",
    ).answer  # fmt: skip
    assert ["announce", "read"] == made["scopes"]
    assert 7 * 86_400 == made["expires_seconds"] - made["made_seconds"]
    with Workspace.open(None).open_database() as database:
        token = Tokens(database).verify(made["token"], now_seconds())
    assert token is not None
    assert {Scope.READ, Scope.ANNOUNCE} == token.scopes
    assert made["token"].rpartition("_")[2] not in tidecast("token", "list", "--output", "json").out
    assert 0 == tidecast("token", "revoke", made["identifier"]).code
    assert re.search(r"grafana .* revoked", tidecast("token", "list").out)
    with Workspace.open(None).open_database() as database:
        assert Tokens(database).verify(made["token"], now_seconds()) is None


def test_a_token_is_printed_alone_on_its_line(tidecast: Command) -> None:
    """So that it can be taken from there; it may read and nothing else."""
    ran = tidecast("token", "create", "ci")
    assert re.fullmatch(r"tidecast_[0-9a-f]{16}_[\w-]{43}", ran.out.splitlines()[0])
    assert "of ci allows read. Keep it now" in ran.out


def test_a_job_that_was_run_is_on_record(tidecast: Command) -> None:
    """With what it did."""
    assert {"job": "prune", "standing": "done", "detail": "nothing was old enough"} == tidecast(
        "job", "run", "prune", "--output", "json"
    ).answer
    listed = {one["job"]: one for one in tidecast("job", "list", "--output", "json").answer["jobs"]}
    assert ["forecast", "score", "train", "prune"] == list(listed)
    assert "done" == listed["prune"]["last"]["standing"]
    assert listed["train"]["last"] is None
    assert listed["prune"]["next_due_seconds"] > now_seconds()


def test_a_job_that_fails_says_so_by_its_code(tidecast: Command) -> None:
    """And why; the record has it too."""
    ran = tidecast("job", "run", "forecast")
    assert 1 == ran.code
    assert ran.out.startswith("forecast failed: ")
    assert "failed" in tidecast("job", "list").out


def test_a_job_that_runs_elsewhere_is_left_alone(tidecast: Command) -> None:
    """Which is no failure."""
    now = now_seconds()
    with Workspace.open(None).open_database() as database:
        JobRuns(database).begin(Claim("prune", 0, this_process(), now + 600), now)
    ran = tidecast("job", "run", "prune")
    assert (0, "prune skipped: it is running already, or has just run\n") == (ran.code, ran.out)


SLOW = """
import sys
from pathlib import Path
from threading import Event
from forecaster.cli import main
from forecaster.scheduling import jobs
def slow(*_):
    def run(now, stop):
        Path("began").touch()
        Event().wait()
    return run
jobs._prune = slow
sys.argv = ["tidecast", "job", "run", "prune"]
main()
"""


def test_a_job_that_is_told_to_end_records_it(tidecast: Command) -> None:
    """A pod that is taken away leaves no run open."""
    root = Path(table.__file__).parents[2]
    running = subprocess.Popen(
        [sys.executable, "-c", SLOW],
        env={**os.environ, "PYTHONPATH": str(root)},
        stderr=subprocess.PIPE,
        text=True,
    )
    eventually(Path("began").exists, seconds=60)
    running.send_signal(signal.SIGTERM)
    assert (None, "Running prune ...\n") == running.communicate(timeout=60)
    assert 128 + signal.SIGTERM == running.returncode
    with Workspace.open(None).open_database() as database:
        run = JobRuns(database).last()["prune"]
    assert ("interrupted", "it was broken off") == (run.standing.value, run.detail)


def test_what_is_announced_twice_counts_once(tidecast: Command) -> None:
    """What was called off may be announced anew, under another name."""
    first = tidecast(*FLOOD, "--extra", "64", "--output", "json").answer
    again = tidecast(*FLOOD, "--extra", "64", "--output", "json").answer
    assert first == again
    assert 0 == tidecast("announce", "cancel", first["identifier"]).code
    anew = tidecast(*FLOOD, "--extra", "64", "--output", "json").answer
    assert first["identifier"] != anew["identifier"]
    with Workspace.open(None).open_database() as database:
        active = Announcements(database).active(now_seconds())
    assert [anew["identifier"]] == [one.identifier for one in active]


def test_an_announcement_recurs_where_the_cluster_lives(tidecast: Command, tmp_path: Path) -> None:
    """Its rule's local times are in the cluster's zone; days are left out."""
    (tmp_path / "tidecast.yaml").write_text("calendar: {time_zone: Europe/Berlin}")
    made = tidecast(
        *FLOOD, "--factor", "1.5", "--repeat", "FREQ=WEEKLY;COUNT=2", "--without", "2099-03-13",
        "--not-on-holidays", "--certainty", "0.8", "--output", "json",
    ).answer  # fmt: skip
    assert ("factor", 1.5, 0.8) == (made["kind"], made["amount"], made["certainty"])
    assert made["end_seconds"] == made["ends_seconds"]
    with Workspace.open(None).open_database() as database:
        kept = Announcements(database).get(made["identifier"]).announcement
    assert kept.recurrence is not None
    assert ("Europe/Berlin", False) == (kept.recurrence.time_zone, kept.recurrence.on_holidays)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((), "give one of --gpus, --extra and --factor"),
        (("--gpus", "1", "--extra", "1"), "give one of --gpus, --extra and --factor"),
        (("--gpus", "1", "--without", "2099-03-13"), "need --repeat"),
        (("--gpus", "1", "--repeat", "daily"), "is no cron line"),
        (("--gpus", "1", "--repeat", "FREQ=DAILY", "--without", "x"), "--without takes a date"),
        (("--gpus", "1", "--certainty", "2"), "a certainty of 2"),
        (("--gpus", "1", "--to", "2020-01-01"), "it ends before it begins"),
        (("--gpus", "1", "--from", "2020-01-01", "--to", "2020-01-02"), "it is over already"),
        (("--gpus", "1", "--from", "2099-03-06T09:00"), "has no time zone"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(
    tidecast: Command, arguments: tuple[str, ...], problem: str
) -> None:
    """And nothing is announced."""
    ran = tidecast(*FLOOD, *arguments)
    assert 2 == ran.code
    assert problem in ran.err
    assert 1 == len(ran.err.splitlines())
    assert [] == tidecast("announce", "list", "--all", "--output", "json").answer["announcements"]


def test_a_long_list_is_read_page_by_page(tidecast: Command) -> None:
    """The cursor goes on where a page ended."""
    for gpus in ("1", "2", "3"):
        tidecast(*FLOOD, "--gpus", gpus)
    first = tidecast("announce", "list", "--limit", "2", "--output", "json").answer
    rest = tidecast("announce", "list", "--cursor", first["cursor"], "--output", "json").answer
    found = [one["amount"] for one in first["announcements"] + rest["announcements"]]
    assert ([1.0, 2.0, 3.0], None) == (sorted(found), rest["cursor"])
    assert f"--cursor {first['cursor']}" in tidecast("announce", "list", "--limit", "2").out
