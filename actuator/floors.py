"""The least that a pool should have whatever its forecast says, and which of several floors binds.

A floor never lowers anything, and what it rests on is never made up: on a view in doubt an
announcement counts only as far as it needs no view. No model and no feature is imported.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from actuator.plan import Reason
from actuator.policy import PoolPolicy
from actuator.sizing import nodes_for
from actuator.view import PoolView


@dataclass(frozen=True, slots=True)
class Floor:
    """Least nodes, and why.

    Attributes:
        nodes: least nodes.
        reason: what asks for them.
    """

    nodes: int
    reason: Reason


NO_FLOOR = Floor(0, Reason("no-floor", "nothing asks for a floor now"))


class AnnouncedKind(StrEnum):
    """What the amount of an announcement is."""

    ABSOLUTE = "absolute"
    EXTRA = "extra"
    FACTOR = "factor"


@dataclass(frozen=True, slots=True)
class AnnouncedDemand:
    """What a person says one pool will need.

    Attributes:
        start_seconds: Unix time from which it is needed.
        end_seconds: Unix time from which it no longer is.
        kind: absolute GPUs, GPUs on top of demand, or a factor on it.
        amount: GPUs or factor, not negative.
        reason: in the person's words.
        identifier: names the announcement.
    """

    start_seconds: int
    end_seconds: int
    kind: AnnouncedKind
    amount: float
    reason: str
    identifier: str


def announced_floor(
    announcements: Sequence[AnnouncedDemand],
    view: PoolView,
    pool: PoolPolicy,
    lead_seconds: int,
    now_seconds: int,
) -> Floor:
    """The nodes that announcements ask for, from a lead time before they begin.

    Extras add up. Of absolute amounts and of factors the highest counts, each alone; the largest of
    the three is the floor. There is no buffer on what a person asks for.

    Args:
        announcements: of this pool.
        view: the pool now; its demand is what extras and factors build on, unless it is in doubt:
            extras then count alone and factors not at all.
        pool: how its nodes come.
        lead_seconds: how long before a need its nodes have to be asked for.
        now_seconds: Unix time of the decision.
    """
    holding: dict[AnnouncedKind, list[AnnouncedDemand]] = {}
    for one in announcements:
        if one.start_seconds - lead_seconds <= now_seconds < one.end_seconds:
            holding.setdefault(one.kind, []).append(one)
    if not holding:
        return NO_FLOOR
    need_gpus, asking = max(
        (_asked_for(kind, alike, view) for kind, alike in holding.items()), key=lambda one: one[0]
    )
    nodes = nodes_for(need_gpus, pool, view.fill_share)
    said = ", ".join(
        f"{one.identifier} ({one.kind} {one.amount:g}, {one.reason})" for one in asking
    )
    text = f"announced: {said}; {need_gpus:g} GPUs take {nodes} nodes"
    if view.doubtful:
        text += "; demand now is in doubt, so extras count alone and factors not at all"
    return Floor(nodes, Reason("announcement", text))


def highest_floor(first: Floor, *others: Floor) -> Floor:
    """The floor that binds; of equal ones the first."""
    return max((first, *others), key=lambda floor: floor.nodes)


def _asked_for(
    kind: AnnouncedKind, alike: list[AnnouncedDemand], view: PoolView
) -> tuple[float, list[AnnouncedDemand]]:
    """GPUs that announcements of one kind ask for, and which of them do."""
    highest = max(alike, key=lambda one: one.amount)
    if kind == AnnouncedKind.ABSOLUTE:
        return highest.amount, [highest]
    known_gpus = 0.0 if view.doubtful else view.demand_gpus
    if kind == AnnouncedKind.FACTOR:
        return known_gpus * highest.amount, [highest]
    return known_gpus + sum(one.amount for one in alike), alike
