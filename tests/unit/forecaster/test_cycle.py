"""A cycle puts on record what it does before it does it, does it once, and touches nothing else."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from actuator.audit import EventStanding
from actuator.backends.back_end import Standing
from actuator.plan import Mode
from actuator.policy import OperatingMode
from forecaster.cycle import REASSERT_SECONDS, Effect, run_cycle
from tests.fakes.clusters import MINUTE, NOW, WHOLE, busy_cluster, flat, policy
from tests.fakes.cycles import RecordingBackEnd, Stage, ToldCluster


class Killed(Exception):
    """Stands for kill -9."""


@dataclass
class KilledAt:
    """A part of which one method kills the cycle, before or after it has done its work."""

    part: Any
    method: str
    done_first: bool

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.part, name)
        if name != self.method:
            return found

        def killed(*given: Any) -> None:
            if self.done_first:
                found(*given)
            raise Killed

        return killed


def events_of(stage: Stage) -> list[Any]:
    """The record in the order in which it was made."""
    return list(stage.record.events.values())


def test_a_cycle_asks_and_says_so() -> None:
    """The event holds what was seen, why, and what became of it."""
    stage = Stage()
    report = run_cycle(stage.parts(), Effect.ACT, NOW)
    (event,) = events_of(stage)
    assert {"np-whole": 12} == stage.back_end.nodes
    assert (EventStanding.CLOSED, 1, WHOLE) == (event.standing, event.policy_version, event.pool)
    assert [Standing.DONE] == [one.standing for one in event.outcomes]
    assert 80 == event.seen["need_gpus"]
    assert [Standing.DONE] == [one.outcome.standing for one in report.applied]


def test_a_plan_does_nothing() -> None:
    """It asks for nothing and records nothing."""
    stage = Stage()
    report = run_cycle(stage.parts(), Effect.PLAN, NOW)
    assert 12 == report.plan.pools[0].desired_nodes
    assert ([], []) == (stage.back_end.asked, events_of(stage))


@pytest.mark.parametrize("mode", [OperatingMode.FORECAST_ONLY, OperatingMode.PAUSED])
def test_only_pools_in_act_are_acted_on(mode: OperatingMode) -> None:
    """The rest are planned for."""
    stage = Stage(policies=[policy(mode=mode)])
    report = run_cycle(stage.parts(), Effect.ACT, NOW)
    assert 12 == report.plan.pools[0].desired_nodes
    assert ([], []) == (stage.back_end.asked, events_of(stage))


def test_the_next_cycle_counts_what_was_ordered_once() -> None:
    """The same cluster a minute later: two nodes are on their way, and nothing more is asked."""
    stage = Stage()
    run_cycle(stage.parts(), Effect.ACT, NOW)
    report = run_cycle(stage.parts(), Effect.ACT, NOW + MINUTE)
    assert (12, 12) == (report.plan.pools[0].current_nodes, report.plan.pools[0].desired_nodes)
    assert (1, 1) == (len(stage.back_end.asked), len(events_of(stage)))


def test_the_same_is_asked_again_after_a_while() -> None:
    """Somebody may have undone it by hand."""
    stage = Stage()
    run_cycle(stage.parts(), Effect.ACT, NOW)
    stage.cluster = ToldCluster(lambda now: busy_cluster(10, 2, now))
    stage.back_end.nodes["np-whole"] = 3
    for minute in range(1, REASSERT_SECONDS // MINUTE + 1):
        run_cycle(stage.parts(), Effect.ACT, NOW + minute * MINUTE)
    assert {"np-whole": 12} == stage.back_end.nodes


def test_a_hold_that_lasts_is_recorded_once() -> None:
    """A guard that holds for an hour is one event, not sixty."""
    stage = Stage(
        cluster=ToldCluster(lambda now: busy_cluster(2, 6, now)),
        foreseen=lambda now: flat(16, origin_seconds=now),
    )
    for minute in range(20):
        run_cycle(stage.parts(), Effect.ACT, NOW + minute * MINUTE)
    held = [event for event in events_of(stage) if event.plan.held_back]
    assert [(Mode.HELD, "quiet")] == [(one.plan.mode, one.plan.bound_by) for one in held]


def test_a_shadow_policy_is_recorded_and_never_acted_on() -> None:
    """It would have asked for more, and says so once."""
    bold = replace(
        policy(strategy=replace(policy().pools[0].strategy, buffer_factor=2.0)), version=2
    )
    stage = Stage(policies=[policy(), bold])
    report = run_cycle(stage.parts(), Effect.ACT, NOW)
    run_cycle(stage.parts(), Effect.ACT, NOW + MINUTE)
    assert {"np-whole": 12} == stage.back_end.nodes
    assert [13] == [trial.pools[0].desired_nodes for trial in report.trials]  # the step limit
    shadows = [event for event in events_of(stage) if event.shadow]
    assert {2} == {event.policy_version for event in shadows}
    assert all(event.standing is EventStanding.CLOSED for event in shadows)


def test_a_rollback_takes_effect_in_the_next_cycle() -> None:
    """Each event carries the version it followed."""
    stage = Stage()
    run_cycle(stage.parts(), Effect.ACT, NOW)
    stage.policies = [replace(policy(floor_nodes=15), version=2)]
    run_cycle(stage.parts(), Effect.ACT, NOW + MINUTE)
    assert {"np-whole": 15} == stage.back_end.nodes
    assert [1, 2] == [event.policy_version for event in events_of(stage)]


def test_while_the_cluster_is_not_in_view_nothing_is_asked() -> None:
    """Not even the same again: what is believed may be wrong."""
    blind = ToldCluster(lambda now: replace(busy_cluster(3, 0, now), synced=False))
    stage = Stage(cluster=blind)
    run_cycle(stage.parts(), Effect.ACT, NOW)
    assert [] == stage.back_end.asked


def test_what_could_not_be_asked_for_is_tried_elsewhere() -> None:
    """A back end that fails puts its node pool in backoff."""
    stage = Stage(back_end=RecordingBackEnd(standing=Standing.FAILED))
    run_cycle(stage.parts(), Effect.ACT, NOW)
    assert {"np-whole": 2} == stage.kept.kept.failed_launches
    run_cycle(stage.parts(), Effect.ACT, NOW + MINUTE)
    assert stage.kept.kept.memory.node_pools["np-whole"].backoff_until_seconds is not None


KILLS: list[tuple[str, str, bool]] = [
    ("record", "append_all", False),
    ("record", "append_all", True),
    ("back_end", "apply", False),
    ("back_end", "apply", True),
    ("record", "close_all", False),
    ("record", "close_all", True),
    ("kept", "save", False),
    ("kept", "save", True),
]


@pytest.mark.parametrize(("part", "method", "done_first"), KILLS)
@pytest.mark.parametrize("later", [0, MINUTE, 10 * MINUTE], ids="after {} s".format)
def test_killed_anywhere_it_has_one_effect(
    part: str, method: str, done_first: bool, later: int
) -> None:
    """The next cycle finds what was begun, and the world changes once."""
    stage = Stage()
    whole = stage.parts()
    killer: Callable[[Any], KilledAt] = lambda one: KilledAt(one, method, done_first)  # noqa: E731
    parts = (
        replace(whole, back_ends={"recording": killer(stage.back_end)})
        if part == "back_end"
        else replace(whole, **{part: killer(getattr(whole, part))})
    )
    with pytest.raises(Killed):
        run_cycle(parts, Effect.ACT, NOW)
    run_cycle(whole, Effect.ACT, NOW + later)
    assert (1, {"np-whole": 12}) == (stage.back_end.changes, stage.back_end.nodes)
    assert () == stage.record.open_events()


def test_nodes_that_go_slowly_are_not_asked_back() -> None:
    """The autoscaler takes its time; and what is then needed again is simply kept."""
    stage = Stage(
        cluster=ToldCluster(lambda now: busy_cluster(2, 6, now)),
        foreseen=lambda now: flat(16, origin_seconds=now),
    )
    for minute in range(45):
        run_cycle(stage.parts(), Effect.ACT, NOW + minute * MINUTE)
    assert ({"np-whole": 4}, 1) == (stage.back_end.nodes, stage.back_end.changes - 1)
    stage.foreseen = lambda now: flat(40, origin_seconds=now)
    report = run_cycle(stage.parts(), Effect.ACT, NOW + 45 * MINUTE)
    assert (4, 5) == (report.plan.pools[0].current_nodes, report.plan.pools[0].desired_nodes)
    after = run_cycle(stage.parts(), Effect.ACT, NOW + 46 * MINUTE)
    assert 5 == after.plan.pools[0].current_nodes
    assert () == stage.kept.kept.memory.node_pools["np-whole"].launches


def test_what_gave_nodes_back_is_not_finished_but_decided_anew() -> None:
    """A node that was idle then may carry a job now."""
    stage = Stage(
        cluster=ToldCluster(lambda now: busy_cluster(2, 6, now)),
        foreseen=lambda now: flat(16, origin_seconds=now),
    )
    for minute in range(30):
        run_cycle(stage.parts(), Effect.ACT, NOW + minute * MINUTE)
    killer = KilledAt(stage.back_end, "apply", done_first=False)
    with pytest.raises(Killed):
        run_cycle(
            replace(stage.parts(), back_ends={"recording": killer}),
            Effect.ACT,
            NOW + 30 * MINUTE,
        )
    stage.cluster = ToldCluster(lambda now: busy_cluster(8, 0, now))
    stage.foreseen = lambda now: flat(50, origin_seconds=now)
    run_cycle(stage.parts(), Effect.ACT, NOW + 31 * MINUTE)
    assert {"np-whole": 8} == stage.back_end.nodes
    assert EventStanding.ABANDONED in {event.standing for event in events_of(stage)}
