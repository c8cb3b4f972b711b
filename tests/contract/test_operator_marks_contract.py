"""What the stores of protections and pool modes keep to, on every database."""

from dataclasses import replace

import pytest

from actuator.policy import OperatingMode
from features.errors import BadInput
from forecaster.database import Database
from forecaster.database.cycle_memory import Overtaken
from forecaster.database.pool_modes import PoolMode, PoolModes
from forecaster.database.protections import KeptProtection, ProtectedKind, Protections

NODE = KeptProtection(ProtectedKind.NODE, "gpu-1", "ada", "a long run", 100, 200)
POD = KeptProtection(ProtectedKind.POD, "team/train-0", "bob", "", 100)
ACT = PoolMode("a100/whole-node", OperatingMode.ACT, "ada", "a good week", 100, 0)


def test_a_mark_holds_until_it_expires(database: Database) -> None:
    """One without an end holds until it is taken off."""
    marks = Protections(database)
    marks.protect(POD)
    marks.protect(NODE)
    assert (NODE, POD) == marks.active(199)
    assert (POD,) == marks.active(200)
    assert marks.release(ProtectedKind.POD, "team/train-0")
    assert not marks.release(ProtectedKind.POD, "team/train-0")
    assert (NODE,) == marks.active(199)
    assert 0 == marks.prune(199)
    assert 1 == marks.prune(200)
    assert () == marks.active(100)


def test_a_mark_that_is_set_again_takes_the_place_of_the_first(database: Database) -> None:
    """A pod of the same name is another thing."""
    marks = Protections(database)
    for mark in (NODE, replace(NODE, kind=ProtectedKind.POD), replace(NODE, owner="bob")):
        marks.protect(mark)
    assert ["bob", "ada"] == [one.owner for one in marks.active(100)]


def test_a_mark_that_cannot_be_meant_is_refused(database: Database) -> None:
    """Nothing is kept of it."""
    refused = [
        (replace(NODE, name=" "), "needs a name"),
        (replace(NODE, owner=""), "needs a name and an owner"),
        (replace(NODE, reason="x" * 501), "longer than 500"),
        (replace(NODE, expires_seconds=100), "would have expired already"),
    ]
    for mark, problem in refused:
        with pytest.raises(BadInput, match=problem):
            Protections(database).protect(mark)
    assert () == Protections(database).active(0)


def test_a_pool_is_only_forecast_until_somebody_says_more(database: Database) -> None:
    """A mode says who set it and why."""
    modes = PoolModes(database)
    never = PoolMode("a100/whole-node", OperatingMode.FORECAST_ONLY, "", "", None, 0)
    assert never == modes.get("a100/whole-node")
    assert {} == modes.modes()
    assert replace(ACT, version=1) == modes.change(ACT, 0) == modes.get("a100/whole-node")
    assert {"a100/whole-node": replace(ACT, version=1)} == modes.modes()


def test_a_mode_is_changed_by_who_read_it_last(database: Database) -> None:
    """The same mode again is no change; without a version it is set whatever it was."""
    modes = PoolModes(database)
    modes.change(ACT)
    assert 1 == modes.change(replace(ACT, author="bob"), 1).version
    paused = replace(ACT, mode=OperatingMode.PAUSED)
    with pytest.raises(Overtaken, match=r"changed meanwhile \(version 1, read was 0\)"):
        modes.change(paused, 0)
    assert replace(paused, version=2) == modes.change(paused, 1)
    assert 3 == modes.change(ACT).version
    forecast_only = replace(ACT, pool="h100", mode=OperatingMode.FORECAST_ONLY)
    assert 1 == modes.change(forecast_only).version


def test_a_mode_of_nobody_is_refused(database: Database) -> None:
    """Whoever lets nodes be touched is named."""
    refused = [
        (replace(ACT, author=" "), "needs a pool, an author"),
        (replace(ACT, pool=""), "needs a pool"),
        (replace(ACT, made_seconds=None), "and a time"),
        (replace(ACT, reason="x" * 501), "longer than 500"),
    ]
    for mode, problem in refused:
        with pytest.raises(BadInput, match=problem):
            PoolModes(database).change(mode)
    assert {} == PoolModes(database).modes()
