"""What was announced against what came; what was not seen is not scored."""

from dataclasses import replace

import numpy as np
import pytest

from features.errors import Unavailable
from features.events import EventKind
from features.pool import Pool
from features.series import DemandSeries
from forecaster.announcements.board import Occurrence
from forecaster.announcements.scoring import AnnouncementScore, scored
from tests.fakes.announcements import FLOOD, HOUR

POOL = Pool.parse("a100/whole-node")


def came(*demand_gpus: float) -> DemandSeries:
    """An hour to each figure, from 08:00."""
    return DemandSeries(POOL, 8 * HOUR, HOUR, np.array(demand_gpus))


def time_of(kind: EventKind = EventKind.EXTRA, amount: float = 64) -> Occurrence:
    """From 10:00 to 12:00."""
    return Occurrence(replace(FLOOD, kind=kind, amount=amount), 10 * HOUR, 12 * HOUR)


@pytest.mark.parametrize(
    ("kind", "amount", "announced"),
    [(EventKind.EXTRA, 64, 84), (EventKind.FACTOR, 3, 60), (EventKind.ABSOLUTE, 64, 64)],
)
def test_it_is_held_against_the_hour_before_and_the_highest_that_came(
    kind: EventKind, amount: float, announced: float
) -> None:
    """Extra and factor stand on what was usual."""
    score = scored(time_of(kind, amount), came(500, 20, 30, 42, 900))
    assert isinstance(score, AnnouncementScore)
    assert (announced, 20, 42, 1.0) == (
        score.announced_gpus,
        score.before_gpus,
        score.came_gpus,
        score.observed_share,
    )
    assert 42 / announced == score.came_share


@pytest.mark.parametrize(
    ("demand", "why"),
    [
        ((1, 2, 3), "not over yet"),
        ((1, 2, np.nan, np.nan), "only 0% of its time"),
        ((1, np.nan, 3, 4), "the hour before"),
    ],
)
def test_what_was_not_seen_is_not_scored(demand: tuple[float, ...], why: str) -> None:
    """And says why."""
    score = scored(time_of(), came(*demand))
    assert isinstance(score, Unavailable)
    assert why in score.reason


def test_half_of_it_is_enough() -> None:
    """And what was seen is said."""
    score = scored(time_of(), came(1, 2, np.nan, 4))
    assert isinstance(score, AnnouncementScore)
    assert (4, 0.5) == (score.came_gpus, score.observed_share)
