"""What the record of decisions keeps to, on every database."""

from dataclasses import replace
from pathlib import Path

import pytest

from actuator.audit import EventStanding, abandoned, closed, shadowed
from actuator.backends.back_end import Outcome, Standing
from features.errors import BadInput
from forecaster.database import Database
from forecaster.database.audit_log import AuditFilter, AuditLog
from tests.fakes.decisions import DONE, START_SECONDS, event, plan, policy
from tests.fakes.processes import process

DAY = 86_400


KILLED = """
import os, signal, sys
from forecaster.database import Database
from forecaster.database.audit_log import AuditLog
from tests.fakes.decisions import event
AuditLog(Database.open(sys.argv[1])).append(event())
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_appended_is_found_open_and_closed_once(url: str) -> None:
    """Between append and close nothing is lost, and nothing is finished twice."""
    killed = process(KILLED, url)
    assert ("", "") == killed.communicate(timeout=60)
    assert -9 == killed.returncode
    with Database.open(url) as database:
        log = AuditLog(database)
        assert (event(),) == log.open_events()
        assert event() == log.append(event())
        assert log.close(event().identifier, (DONE,), START_SECONDS + 90)
        assert not log.close(event().identifier, (), START_SECONDS + 120)
        assert () == log.open_events()
        expected = closed(event(), (DONE,), START_SECONDS + 90)
        assert (expected,) == log.page().events
        assert expected == log.append(event())


def test_an_event_comes_back_as_it_was_appended(database: Database) -> None:
    """All of it, with what nobody knew, and whatever stood in a text."""
    log = AuditLog(database)
    odd = event(
        seen={"demand_gpus": float("nan"), "waiting_gpus": None, "forecast": "none 'yet'\n☂"}
    )
    (action,) = odd.actions
    odd = replace(odd, actions=(replace(action, headroom_gpus=float("inf")),))
    assert odd == log.append(odd) == log.show(odd.identifier)
    assert {"demand_gpus": None, "waiting_gpus": None, "forecast": "none 'yet'\n☂"} == odd.seen


def test_events_are_told_apart_by_what_is_asked(database: Database) -> None:
    """Newest first; every filter leaves out what does not fit."""
    log = AuditLog(database)
    tried = shadowed(plan("h100"), policy(4, "h100"), START_SECONDS + 180)
    held = event(2, desired_nodes=5, targets=())
    free = event(0, held_back=False)
    assert (held, free, tried) == log.append_all((held, free, tried))

    def found(**wanted: object) -> list[str]:
        return [one.identifier for one in log.page(AuditFilter(**wanted)).events]  # type: ignore[arg-type]

    order = [tried.identifier, held.identifier, free.identifier]
    assert order == found()
    assert order[:1] == found(pool="h100") == found(shadow=True)
    assert order[1:] == found(shadow=False)
    assert order[:2] == found(held_back=True) == found(since_seconds=START_SECONDS + 120)
    assert order[2:] == found(held_back=False) == found(until_seconds=START_SECONDS + 120)
    assert order[2:] == found(standing=EventStanding.OPEN)
    assert order[:2] == found(standing=EventStanding.CLOSED)


def test_pages_hold_every_event_once(database: Database) -> None:
    """Also where several were decided in the same second, and new ones come in between."""
    log = AuditLog(database)
    pools = [f"gpu-{number}" for number in range(7)]
    expected = {event(minute, pool).identifier for minute in range(2) for pool in pools}
    log.append_all([event(minute, pool) for minute in range(2) for pool in pools])
    cursor, seen = None, []
    for page in range(5):
        found = log.page(cursor=cursor, limit=3)
        seen += [one.identifier for one in found.events]
        cursor = found.cursor
        log.append(event(10 + page))
    assert cursor is None
    assert (14, expected) == (len(seen), set(seen))
    assert sorted(seen, key=lambda one: (int(one.split("-")[0]), one), reverse=True) == seen


@pytest.mark.parametrize("cursor", ["", "x", "12; DROP", "9" * 99, "²-1"])
def test_what_is_no_cursor_is_refused(cursor: str, tmp_path: Path) -> None:
    """It comes from outside."""
    with Database.open(f"sqlite:///{tmp_path / 't.db'}") as database:
        with pytest.raises(BadInput, match="is no cursor"):
            AuditLog(database).page(cursor=cursor)
        with pytest.raises(BadInput, match="not between 1 and 1000"):
            AuditLog(database).page(limit=0)


def test_closing_several_is_all_or_nothing(database: Database) -> None:
    """One that is not on record keeps the others open; one that was closed stays as it was."""
    log = AuditLog(database)
    first, second, third = (log.append(event(minute)) for minute in range(3))
    with pytest.raises(BadInput, match="there is no decision 'nothing' on record"):
        log.close_all({first.identifier: (DONE,), "nothing": ()}, START_SECONDS)
    assert (first, second, third) == log.open_events()
    failed = Outcome(Standing.FAILED, "no answer")
    assert log.close(first.identifier, (failed,), START_SECONDS + 1)
    outcomes = {first.identifier: (DONE,), second.identifier: (DONE,)}
    assert (second.identifier,) == log.close_all(outcomes, START_SECONDS + 2)
    assert (failed,) == log.show(first.identifier).outcomes
    assert log.abandon(third.identifier, START_SECONDS + 3)
    assert not log.abandon(third.identifier, START_SECONDS + 4)
    assert abandoned(third, START_SECONDS + 3) == log.show(third.identifier)


def test_the_record_is_kept_for_as_long_as_it_must_be(database: Database) -> None:
    """What is still open stays, however old."""
    log = AuditLog(database)
    for minute in range(3):
        log.append(event(minute))
    log.close_all({event(1).identifier: (), event(2).identifier: ()}, START_SECONDS)
    with pytest.raises(BadInput, match="at least 15 days, 14 is less"):
        log.prune(START_SECONDS + 999 * DAY, keep_days=14)
    assert 0 == log.prune(START_SECONDS + 60 + 15 * DAY, keep_days=15)
    assert 1 == log.prune(START_SECONDS + 61 + 15 * DAY, keep_days=15)
    assert [event(2).identifier, event(0).identifier] == [
        one.identifier for one in log.page().events
    ]
