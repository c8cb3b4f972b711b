"""Whether the process that runs a job is still there."""

import socket
import subprocess
import sys
from dataclasses import replace

from forecaster.database.job_runs import JobRun, RunStanding
from forecaster.scheduling.holders import is_dead, this_process

RUN = JobRun(1, "pull", 0, 0, None, RunStanding.RUNNING, "", "", give_up_seconds=100)


def held_by(holder: str) -> JobRun:
    return replace(RUN, holder=holder)


def test_this_process_lives() -> None:
    """Until its time is over."""
    run = held_by(this_process())
    assert not is_dead(run, 100)
    assert is_dead(run, 101)


def test_a_process_that_ended_is_dead() -> None:
    """Its number is no longer there."""
    script = "from forecaster.scheduling.holders import this_process; print(this_process())"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert is_dead(held_by(ran.stdout.strip()), 0)


def test_a_number_that_came_again_is_another_process() -> None:
    """A restarted container has the same name and the same numbers."""
    assert is_dead(held_by(this_process() + "9"), 0)


def test_a_process_of_another_machine_lives_until_its_time_is_over() -> None:
    """Nothing can be seen of it from here."""
    elsewhere = this_process().replace(socket.gethostname(), "elsewhere", 1)
    assert not is_dead(held_by(elsewhere + "9"), 100)
    assert is_dead(held_by(elsewhere), 101)
