"""What an announcement would change, before anybody makes it: a forecast, and the nodes of a plan.

It is worked out from the forecast and the plan that are there already, so it costs little and asks
nobody. It keeps nothing.
"""

from dataclasses import dataclass, replace

import numpy as np

from actuator.policy import PoolPolicy
from actuator.sizing import nodes_for
from features.calendar import ClusterCalendar
from features.events import EventKind
from features.panel import DemandPanel
from features.series import DemandSeries
from forecaster.announcements.announcement import Announcement
from forecaster.announcements.board import AnnouncementBoard
from models.adjustments import with_events
from models.forecast import Forecast, QuantileArrays
from models.protocol import Context


@dataclass(frozen=True)
class NodesAsked:
    """What a plan would have ready for an announcement.

    Attributes:
        nodes: nodes that it takes, at most the ceiling.
        ceiling_nodes: most nodes of the pool.
        lead_seconds: how long before it begins they are asked for, at least.
    """

    nodes: int
    ceiling_nodes: int
    lead_seconds: int


def raised(said: Forecast, one: Announcement, calendar: ClusterCalendar) -> Forecast:
    """A forecast as it would have been, had the announcement been known at its origin."""
    origin_seconds, step_seconds = int(said.origin.timestamp()), said.horizon.step_seconds
    board = AnnouncementBoard([replace(one, announced_seconds=origin_seconds)])
    now = np.array([said.now_gpus])
    panel = DemandPanel.of(
        [DemandSeries(said.pool, origin_seconds - step_seconds, step_seconds, now)]
    )
    arrays = with_events(
        QuantileArrays(said.path_gpus[None, None], said.peak_gpus[None, None]),
        panel,
        np.array([1]),
        Context(said.horizon, calendar, board),
    )
    return replace(said, path_gpus=arrays.path[0, 0], peak_gpus=arrays.peak[0, 0])


def announced_gpus(one: Announcement, now_gpus: float | None) -> float | None:
    """Demand that an announcement speaks of, on top of that of now where it is no absolute one.

    None where demand now is not known and it takes that to say.
    """
    if one.kind is EventKind.ABSOLUTE:
        return one.amount
    if now_gpus is None:
        return None
    return now_gpus + one.amount if one.kind is EventKind.EXTRA else now_gpus * one.amount


def nodes_asked(gpus: float, pool: PoolPolicy) -> NodesAsked:
    """The nodes that so many GPUs take; there is no buffer on what a person asks for."""
    nodes = min(nodes_for(gpus, pool, fill_share=1.0), pool.ceiling_nodes)
    return NodesAsked(nodes, pool.ceiling_nodes, pool.lead_seconds)
