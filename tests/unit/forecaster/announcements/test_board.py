"""What all announcements together mean for a forecast and for a plan."""

from dataclasses import replace

import pytest

from actuator.policy import COST, PERFORMANCE, NodePoolPolicy, PoolPolicy
from features.pool import Pool
from forecaster.announcements.board import AnnouncementBoard
from forecaster.announcements.recurrence import Recurrence
from tests.fakes.announcements import DAY, FLOOD, HOUR

WHOLE = PoolPolicy("a100/whole-node", 8, (NodePoolPolicy("np"),))
OTHER = PoolPolicy("h100/whole-node", 8, (NodePoolPolicy("np2"),))


def known(board: AnnouncementBoard, origin: int, until: int, pool: str = WHOLE.pool) -> list[int]:
    """Starts of the events that a forecast is told of."""
    return [one.start_seconds for one in board.known_at(Pool.parse(pool), origin, until)]


@pytest.mark.parametrize(
    ("origin", "until", "expected"),
    [
        (9 * HOUR, 11 * HOUR, [10 * HOUR]),
        (11 * HOUR, 13 * HOUR, [10 * HOUR]),
        (12 * HOUR, 13 * HOUR, []),
        (9 * HOUR, 10 * HOUR, []),
        (HOUR - 1, 11 * HOUR, []),
    ],
)
def test_an_event_is_told_while_it_touches_and_is_known(
    origin: int, until: int, expected: list[int]
) -> None:
    """Neither before it was made nor once it is over."""
    assert expected == known(AnnouncementBoard([FLOOD]), origin, until)


def test_changing_the_future_changes_nothing_known_before() -> None:
    """An announcement made later, or called off later, is not seen earlier."""
    later = replace(FLOOD, identifier="a2", announced_seconds=9 * HOUR, start_seconds=9 * HOUR + 1)
    called_off = replace(FLOOD, cancelled_seconds=9 * HOUR)
    before = known(AnnouncementBoard([FLOOD]), 8 * HOUR, DAY)
    assert before == known(AnnouncementBoard([called_off, later]), 8 * HOUR, DAY)
    assert [9 * HOUR + 1] == known(AnnouncementBoard([called_off, later]), 9 * HOUR, DAY)


def test_a_recurring_one_comes_each_time() -> None:
    """Also where it began before the span that is asked for."""
    daily = replace(FLOOD, recurrence=Recurrence("FREQ=DAILY"))
    board = AnnouncementBoard([daily])
    assert [3 * DAY + 10 * HOUR] == known(board, 3 * DAY + 11 * HOUR, 3 * DAY + 12 * HOUR)
    assert [one * DAY + 10 * HOUR for one in range(4)] == known(board, 9 * HOUR, 4 * DAY)


def test_one_for_all_pools_reaches_each() -> None:
    """And one for a pool reaches no other."""
    everywhere = replace(FLOOD, pool=None)
    board = AnnouncementBoard([everywhere])
    assert [10 * HOUR] == known(board, 9 * HOUR, DAY, pool="h100/fragment")
    assert [] == known(AnnouncementBoard([FLOOD]), 9 * HOUR, DAY, pool="h100/fragment")
    floors = board.floors([WHOLE, OTHER], 9 * HOUR, DAY)
    assert [1, 1] == [len(floors[pool.pool]) for pool in (WHOLE, OTHER)]


@pytest.mark.parametrize(
    ("certainty", "strategy", "counts"),
    [(0.3, COST, True), (0.2, COST, False), (0.02, PERFORMANCE, True), (0.005, PERFORMANCE, False)],
)
def test_a_plan_counts_what_is_likelier_than_what_it_leaves_out(
    certainty: float, strategy: object, counts: bool
) -> None:
    """A cautious strategy prepares for what a thrifty one does not."""
    pool = replace(WHOLE, strategy=strategy)  # type: ignore[arg-type]
    board = AnnouncementBoard([replace(FLOOD, certainty=certainty)])
    assert counts == bool(board.floors([pool], 9 * HOUR, DAY)[pool.pool])


def test_a_forecast_counts_what_is_likelier_than_not() -> None:
    """It is no plan for the worst."""
    assert [] == known(AnnouncementBoard([replace(FLOOD, certainty=0.5)]), 9 * HOUR, DAY)
    assert [10 * HOUR] == known(AnnouncementBoard([replace(FLOOD, certainty=0.51)]), 9 * HOUR, DAY)


def test_a_floor_says_who_and_why() -> None:
    """For whoever reads the plan."""
    (floor,) = AnnouncementBoard([FLOOD]).floors([WHOLE], 9 * HOUR, DAY)[WHOLE.pool]
    assert ("announced by ada: sweep", "a1", "extra") == (
        floor.reason,
        floor.identifier,
        floor.kind,
    )
