"""Killed -9 between a decision and its effect, on a real database: one effect, nothing left open.

Each cycle runs in a child process that kills itself at the point under test. The world outside is a
file that holds one absolute number per node pool and a line for each change of it.
"""

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from actuator.backends.back_end import Outcome, Request, Standing
from actuator.deciding import Surroundings
from forecaster.cycle import Effect, Parts, run_cycle
from forecaster.database import Database
from forecaster.database.audit_log import AuditLog
from forecaster.database.cycle_memory import CycleMemory
from forecaster.database.kept_state import KeptInDatabase
from tests.fakes.clusters import MINUTE, NOW, WHOLE, busy_cluster, flat, policy
from tests.fakes.cycles import ToldCluster

POINTS = [
    ("append_all", False),
    ("append_all", True),
    ("apply", False),
    ("apply", True),
    ("close_all", False),
    ("close_all", True),
    ("save", False),
    ("save", True),
]


@dataclass
class Outside:
    """The world: a file with the number asked for, and a line for each change."""

    path: Path
    name: str = "recording"

    def apply(self, request: Request) -> Outcome:
        """Set the number, as an absolute one."""
        wanted = f"{request.node_pool.name} {request.desired_nodes}"
        if self.changes()[-1:] == [wanted]:
            return Outcome(Standing.UNCHANGED, "already so", request.desired_nodes)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(wanted + "\n")
        return Outcome(Standing.DONE, "asked", request.desired_nodes)

    def changes(self) -> list[str]:
        """Every number that was ever set."""
        return self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []


@dataclass
class KillsItself:
    """A part that kills the process at one of its methods, before or after it has worked."""

    part: Any
    method: str
    worked: bool

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.part, name)
        return self._killing(found) if name == self.method else found

    def _killing(self, found: Callable[..., Any]) -> Callable[..., None]:
        def killed(*given: Any) -> None:
            if self.worked:
                found(*given)
            os.kill(os.getpid(), signal.SIGKILL)

        return killed


def parts(directory: Path, database: Database, kill: tuple[str, bool] | None) -> Parts:
    """What a cycle talks to, one method of which may kill it."""
    outside = Outside(directory / "outside.txt")
    made = Parts(
        cluster=ToldCluster(lambda now: busy_cluster(10, 0, now)),
        policies=lambda: [policy()],
        surroundings=lambda _, now: Surroundings({WHOLE: flat(80, origin_seconds=now)}),
        kept=KeptInDatabase(CycleMemory(database)),
        record=AuditLog(database),
        back_ends={outside.name: outside},
    )
    if kill is None:
        return made
    return replace(
        made,
        kept=KillsItself(made.kept, *kill),
        record=KillsItself(made.record, *kill),
        back_ends={outside.name: KillsItself(outside, *kill)},
    )


def cycle_in_child(directory: Path, kill: tuple[str, bool]) -> int:
    """One cycle in a child that kills itself; gives the signal that ended it."""
    child = os.fork()
    if child == 0:
        try:
            with Database.open(f"sqlite:///{directory / 'tidecast.db'}") as database:
                run_cycle(parts(directory, database, kill), Effect.ACT, NOW)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def check_once(directory: Path, kill: tuple[str, bool]) -> None:
    """Kill a cycle, run the next one, and look at the world."""
    directory.mkdir()
    assert -signal.SIGKILL == cycle_in_child(directory, kill)
    with Database.open(f"sqlite:///{directory / 'tidecast.db'}") as database:
        run_cycle(parts(directory, database, None), Effect.ACT, NOW + MINUTE)
        assert ["np-whole 12"] == Outside(directory / "outside.txt").changes()
        assert () == AuditLog(database).open_events()


@pytest.mark.parametrize("point", POINTS, ids=str)
def test_a_killed_cycle_has_one_effect(tmp_path: Path, point: tuple[str, bool]) -> None:
    """Wherever it was killed."""
    check_once(tmp_path / "once", point)


@pytest.mark.slow
@pytest.mark.parametrize("point", POINTS, ids=str)
def test_a_hundred_killed_cycles_have_one_effect_each(
    tmp_path: Path, point: tuple[str, bool]
) -> None:
    """A hundred times at each point."""
    for number in range(100):
        check_once(tmp_path / str(number), point)
