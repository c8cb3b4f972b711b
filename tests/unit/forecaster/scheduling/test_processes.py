"""Commands in processes of their own."""

import os
from pathlib import Path
from threading import Event, Thread

import pytest

from features.errors import SourceUnavailable
from forecaster.scheduling import processes
from forecaster.scheduling.performing import Stopped
from forecaster.scheduling.processes import run_command
from tests.fakes.waiting import eventually


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Data of the commands stays in an empty directory."""
    monkeypatch.setenv("PYTHONPATH", str(Path(processes.__file__).parents[2]))
    monkeypatch.chdir(tmp_path)


def test_what_a_command_says_is_given_back() -> None:
    """Its stdout alone."""
    assert "holds no history yet" in run_command(("history", "show"), Event())


def test_a_command_that_fails_says_why() -> None:
    """In one line, with its code."""
    with pytest.raises(SourceUnavailable) as told:
        run_command(("train", "--models", "nobody"), Event())
    assert "'tidecast train --models nobody' ended with code 2: there is no model" in str(
        told.value
    )
    assert 1 == len(str(told.value).splitlines())


def test_a_command_that_is_asked_to_stop_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At lower priority than this process until then; nothing of it stays behind."""
    began = tmp_path / "began"
    slow = tmp_path / "slow"
    slow.write_text(f"#!/bin/sh\necho $$ > {began}.part; mv {began}.part {began}\nexec sleep 600\n")
    slow.chmod(0o755)
    monkeypatch.setattr(processes.sys, "executable", str(slow))
    stop, ended = Event(), []

    def work() -> None:
        with pytest.raises(Stopped, match="'tidecast train' was asked to stop"):
            run_command(("train",), stop)
        ended.append(True)

    thread = Thread(target=work)
    thread.start()
    eventually(began.exists)
    child = int(began.read_text())
    eventually(lambda: os.getpriority(os.PRIO_PROCESS, child) == processes.NICENESS)
    stop.set()
    thread.join(timeout=30)
    assert [True] == ended
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
