"""Cycles one after another: each is told of, one that fails stops none, and a signal ends them."""

from collections.abc import Callable
from dataclasses import replace
from threading import Event

from actuator.state import ClusterState
from features.errors import SourceUnavailable, TidecastError
from forecaster.acting_wiring import Purpose
from forecaster.json_shapes import ActAnswer
from forecaster.tasks.acting import ActingOptions, Actor
from tests.fakes.clusters import MINUTE, NOW, busy_cluster
from tests.fakes.cycles import Stage, ToldCluster


class NoWait(Event):
    """Waits for nothing, and remembers for how long it should have."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        """At once."""
        assert timeout is not None
        self.waits.append(timeout)
        return self.is_set()


def ticking(seconds: int) -> Callable[[], int]:
    """A clock that each look moves on."""
    looks = iter(range(NOW, NOW + 10_000, seconds))
    return lambda: next(looks)


def test_a_cycle_that_fails_stops_none_after_it() -> None:
    """The first finds no database, the second acts, then it is asked to end."""

    def first_fails(now_seconds: int) -> ClusterState:
        if now_seconds == NOW:
            raise SourceUnavailable("the database does not answer")
        return busy_cluster(10, 0, now_seconds)

    stage = Stage(cluster=ToldCluster(first_fails))
    told: list[ActAnswer | TidecastError] = []
    stopped = NoWait()

    def tell(one: ActAnswer | TidecastError) -> None:
        told.append(one)
        if len(told) == 2:
            stopped.set()

    actor = Actor(stage.parts(), ActingOptions(Purpose.ACT), [])
    actor.keep_acting(ticking(5), stopped, tell)
    failed, acted = told
    assert "the database does not answer" == str(failed)
    assert isinstance(acted, ActAnswer)
    assert [("np-whole", 12)] == [(one.node_pool, one.desired_nodes) for one in acted.requests]
    assert [MINUTE - 5] * 2 == stopped.waits


def test_a_cycle_that_took_too_long_is_followed_at_once() -> None:
    """Well, after a second."""
    stopped = NoWait()
    actor = Actor(Stage().parts(), ActingOptions(Purpose.ACT), [])
    actor.keep_acting(ticking(90), stopped, lambda _: stopped.set())
    assert [1] == stopped.waits


def test_a_plan_shows_what_a_shadow_policy_would_do() -> None:
    """Beside the live one, with its version."""
    live = Stage().policies[0]
    stage = Stage(policies=[live, replace(live, version=2)])
    answer = Actor(stage.parts(), ActingOptions(Purpose.PLAN), []).plan(NOW)
    assert (1, 2) == (answer.policy_version, answer.shadow_policy_version)
    assert [12] == [one.desired_nodes for one in answer.shadow_pools]
