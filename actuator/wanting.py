"""What a pool should have before floors and guards: by forecast where one may be used, or by queue.

The queue is a floor under the forecast, and the only guide where the forecast is missing, stale or
demoted. What is missing never gives nodes back; only a forecast in full trust, or a queue that is
seen beside a demoted one, may. It imports no model and no feature.
"""

from dataclasses import dataclass, replace

from actuator.guards.guard import held_to
from actuator.memory import QueueTimers
from actuator.outlook import Foreseen, Outlook, Trust
from actuator.plan import Mode, Proposal, Reason, ScheduledAction
from actuator.policy import Policy, PoolPolicy
from actuator.predictive import predictive
from actuator.reactive import reactive_nodes
from actuator.sizing import nodes_for
from actuator.view import PoolView


@dataclass(frozen=True, slots=True)
class PoolNow:
    """A pool at the moment of deciding.

    Attributes:
        pool: what the operator wants for it.
        view: what there is.
        queue: how far its queue has come, advanced to now.
        lead_seconds: time between asking for a node and needing it.
        now_seconds: Unix time.
    """

    pool: PoolPolicy
    view: PoolView
    queue: QueueTimers
    lead_seconds: int
    now_seconds: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a pool should have, and what that rests on.

    Attributes:
        proposal: nodes, before floors and guards.
        need_gpus: highest demand foreseen; None where nothing may be given back by it.
        lead_seconds: time between asking for a node and needing it.
        needed_by_seconds: Unix time at which the nodes are needed; None if nothing is asked for.
        scheduled: what comes later.
        reference: the forecast it rests on, or why none was used.
    """

    proposal: Proposal
    need_gpus: float | None
    lead_seconds: int
    needed_by_seconds: int | None = None
    scheduled: ScheduledAction | None = None
    reference: str = ""


def wanted(foreseen: Foreseen, at_hand: PoolNow, policy: Policy) -> Wanted:
    """What the pool should have now.

    Args:
        foreseen: its demand ahead, as far as it is known.
        at_hand: the pool now.
        policy: reactive rules, and the age at which a forecast is stale.
    """
    by_queue = reactive_nodes(
        at_hand.view, at_hand.queue, policy.reactive, at_hand.pool, at_hand.now_seconds
    )
    if foreseen.outlook is None:
        why = Reason("forecast-unavailable", f"there is no forecast: {foreseen.missing}")
        return _by_queue_alone(at_hand, by_queue, why)
    age_seconds = at_hand.now_seconds - foreseen.outlook.origin_seconds
    if age_seconds > policy.guards.stale_after_seconds:
        most = policy.guards.stale_after_seconds // 60
        why = Reason("forecast-stale", f"the forecast is {age_seconds // 60} min old, over {most}")
        return _by_queue_alone(at_hand, by_queue, why)
    if foreseen.trust is Trust.DEMOTE:
        why = Reason("forecast-demoted", f"the forecast is demoted: {foreseen.trust_reason}")
        return _by_queue_beside_demoted(at_hand, by_queue, why)
    return _by_forecast(foreseen, foreseen.outlook, at_hand, by_queue)


def _by_forecast(
    foreseen: Foreseen, outlook: Outlook, at_hand: PoolNow, by_queue: Proposal | None
) -> Wanted:
    """The forecast's size, with the queue as a floor under it."""
    ahead = predictive(
        outlook, at_hand.view, at_hand.pool, at_hand.lead_seconds, at_hand.now_seconds
    )
    proposal = ahead.proposal
    if foreseen.trust is Trust.CAUTION and proposal.scales_down:
        reason = Reason("forecast-caution", f"no scale-down in caution: {foreseen.trust_reason}")
        proposal = held_to(proposal, proposal.current_nodes, reason)
    needed_by_seconds = ahead.needed_by_seconds
    if by_queue is not None and by_queue.desired_nodes > proposal.desired_nodes:
        proposal = replace(by_queue, reasons=(*proposal.reasons, *by_queue.reasons))
        needed_by_seconds = at_hand.now_seconds
    return Wanted(
        proposal,
        ahead.need_gpus,
        at_hand.lead_seconds,
        needed_by_seconds=needed_by_seconds,
        scheduled=ahead.scheduled,
        reference=outlook.reference,
    )


def _by_queue_alone(at_hand: PoolNow, by_queue: Proposal | None, why: Reason) -> Wanted:
    """The queue's size, or what is there where the queue asks for nothing."""
    if by_queue is None:
        current = at_hand.view.current_nodes
        held = Proposal(current, current, Mode.REACTIVE, "queue", (why,))
        return Wanted(held, None, at_hand.lead_seconds, reference=why.text)
    proposal = replace(by_queue, reasons=(why, *by_queue.reasons))
    return Wanted(proposal, None, at_hand.lead_seconds, at_hand.now_seconds, reference=why.text)


def _by_queue_beside_demoted(at_hand: PoolNow, by_queue: Proposal | None, why: Reason) -> Wanted:
    """The queue's size, which may give back what running and waiting jobs do not take."""
    view, pool = at_hand.view, at_hand.pool
    alone = _by_queue_alone(at_hand, by_queue, why)
    if by_queue is not None or view.doubtful:
        return alone
    least = nodes_for(view.demand_gpus * pool.strategy.buffer_factor, pool, view.fill_share)
    if least >= view.current_nodes:
        return alone
    text = f"running and waiting jobs take {view.demand_gpus:g} GPUs, with the buffer {least} nodes"
    reasons = (why, Reason("queue", text))
    proposal = Proposal(view.current_nodes, least, Mode.REACTIVE, "queue", reasons)
    return replace(alone, proposal=proposal, need_gpus=view.demand_gpus)
