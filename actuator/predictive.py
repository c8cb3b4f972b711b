"""Sizing from a forecast: how many nodes a pool will need, and whether to ask for them now.

The path says when need passes the trigger, the peak how high it goes. A peak may pass where no
single step does; it then counts as needed halfway through its window. Both times only move closer
as demand grows, so more demand never means fewer nodes. (Letting a late step put off what the peak
asks for would break that: a rise of that step alone would turn 'now' into 'later'.)

Nodes hold what their jobs fill of them when packed well; those that are not ready hold nothing, so
they are counted on top of what the need takes. Whether a
forecast may be used at all is decided elsewhere.
"""

import math
from dataclasses import dataclass

from actuator.outlook import Outlook
from actuator.plan import Mode, Proposal, Reason, ScheduledAction
from actuator.policy import PoolPolicy
from actuator.sizing import nodes_for
from actuator.view import PoolView


@dataclass(frozen=True, slots=True)
class Predictive:
    """What the forecast asks for.

    Attributes:
        proposal: nodes there should be now.
        need_gpus: demand that it, or what is scheduled, is sized for; None where the forecast does
            not say.
        needed_by_seconds: Unix time by which what it asks for is needed; None if it asks for
            nothing now.
        scheduled: what is to be asked for later, if anything.
    """

    proposal: Proposal
    need_gpus: float | None
    needed_by_seconds: int | None = None
    scheduled: ScheduledAction | None = None


def predictive(
    outlook: Outlook, view: PoolView, pool: PoolPolicy, lead_seconds: int, now_seconds: int
) -> Predictive:
    """The size that the forecast asks for: more now, more later, or no more than need takes.

    Args:
        outlook: demand ahead at the quantile of the pool's strategy.
        view: the pool now.
        pool: its strategy and how its nodes come.
        lead_seconds: how long before a need its nodes have to be asked for.
        now_seconds: Unix time of the decision.
    """
    if not math.isfinite(outlook.peak_gpus + sum(outlook.path_gpus)):
        return _unknown(view)
    strategy, current_nodes = pool.strategy, view.current_nodes
    held_gpus = view.coming_gpus * view.fill_share
    trigger_gpus = strategy.trigger_share * held_gpus
    passes_seconds = _passes_seconds(outlook, trigger_gpus, now_seconds)
    reach_seconds = now_seconds + lead_seconds - strategy.tolerated_wait_seconds
    need_gpus = _highest_gpus(outlook, now_seconds, passes_seconds, reach_seconds)
    buffered_gpus = need_gpus * strategy.buffer_factor
    nodes = nodes_for(buffered_gpus, pool, view.fill_share) + view.unready_nodes
    needed_by_seconds, scheduled = None, None
    if passes_seconds is None:
        code, how, desired_nodes = "predictive-enough", "stays within", min(current_nodes, nodes)
    elif passes_seconds <= reach_seconds:
        code, how, desired_nodes = "predictive-need", "soon passes", max(current_nodes, nodes)
        needed_by_seconds = max(now_seconds, passes_seconds + strategy.tolerated_wait_seconds)
    else:
        code, how, desired_nodes = "predictive-later", "later passes", current_nodes
        at_seconds = now_seconds + passes_seconds - reach_seconds
        scheduled = ScheduledAction(
            at_seconds, at_seconds + lead_seconds, max(current_nodes, nodes)
        )
    reason = Reason(
        code,
        f"need of {need_gpus:.4g} GPUs at quantile {outlook.quantile:g} {how} "
        f"{strategy.trigger_share:.0%} of the {held_gpus:.4g} GPUs that the nodes here or on their "
        f"way hold; with the buffer it takes {nodes} nodes",
    )
    proposal = Proposal(current_nodes, desired_nodes, Mode.PREDICTIVE, code, (reason,))
    return Predictive(proposal, need_gpus, needed_by_seconds, scheduled)


def _unknown(view: PoolView) -> Predictive:
    reason = Reason("forecast-unknown", "the forecast holds a number that is not one")
    current_nodes = view.current_nodes
    return Predictive(
        Proposal(current_nodes, current_nodes, Mode.HELD, reason.code, (reason,), held_back=True),
        need_gpus=None,
    )


def _passes_seconds(outlook: Outlook, trigger_gpus: float, now_seconds: int) -> int | None:
    """When demand first passes the trigger; None if it does not as far as the path goes."""
    origin_seconds, step_seconds = outlook.origin_seconds, outlook.step_seconds
    passing = []
    if outlook.peak_gpus > trigger_gpus:
        passing.append(origin_seconds + outlook.peak_seconds // 2)
    first = _step_at(outlook, now_seconds)
    for step, demand_gpus in enumerate(outlook.path_gpus[first:], start=first):
        if demand_gpus > trigger_gpus:
            passing.append(origin_seconds + step * step_seconds)
            break
    return min(passing, default=None)


def _highest_gpus(
    outlook: Outlook, now_seconds: int, passes_seconds: int | None, reach_seconds: int
) -> float:
    """The highest of the peak and of the steps to size for.

    These are the steps that acting now can serve, or those up to the first that passes the trigger
    later; where none passes, all of them, so that nothing is given back that is needed again.
    """
    if passes_seconds is None:
        end = len(outlook.path_gpus)
    else:
        end = _step_at(outlook, max(reach_seconds, passes_seconds)) + 1
    return max(outlook.peak_gpus, *outlook.path_gpus[_step_at(outlook, now_seconds) : end], 0.0)


def _step_at(outlook: Outlook, at_seconds: int) -> int:
    """Which step of the path that moment lies in; the first for all before it."""
    return max(0, (at_seconds - outlook.origin_seconds) // outlook.step_seconds)
