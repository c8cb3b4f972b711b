"""What an operator allows and wants, as values: strategies, floors, guards, node pools.

Every number that a decision uses comes from here, so that a policy version explains the decision.
It must hold no default that differs from the documented ones, and reads no file: documents become
policies in the forecaster. No model and no feature is imported.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

Shape = Literal["whole-node", "fragment", "mixed"]


class OperatingMode(StrEnum):
    """What may be done for a pool."""

    FORECAST_ONLY = "forecast-only"
    ACT = "act"
    PAUSED = "paused"


@dataclass(frozen=True)
class Strategy:
    """How cautiously a pool is sized.

    Attributes:
        name: `cost`, `balanced`, `performance`, or `priced` where prices gave the quantile.
        quantile: which quantile of demand is planned for.
        buffer_factor: capacity per need; at least 1.
        trigger_share: share of capacity beyond which need asks for more nodes.
        tolerated_wait_seconds: how long a job may wait; need may be served so much later.
    """

    name: str
    quantile: float
    buffer_factor: float
    trigger_share: float
    tolerated_wait_seconds: int = 0


COST = Strategy("cost", quantile=0.75, buffer_factor=1.1, trigger_share=0.9)
BALANCED = Strategy("balanced", quantile=0.9, buffer_factor=1.2, trigger_share=0.8)
PERFORMANCE = Strategy("performance", quantile=0.99, buffer_factor=1.3, trigger_share=0.7)
STRATEGIES = {one.name: one for one in (COST, BALANCED, PERFORMANCE)}


def priced_strategy(idle_gpu_hour: float, waiting_hour: float) -> Strategy:
    """The strategy of the newsvendor: plan for the quantile at which both costs balance.

    A GPU too many costs its idle hour, one too few an hour of waiting; the best quantile is
    waiting / (waiting + idle) (Arrow, Harris and Marschak, 1951, 'Optimal inventory policy'). The
    quantile already prices what is spare, so there is no buffer on top.

    Args:
        idle_gpu_hour: price of an idle GPU for an hour, positive.
        waiting_hour: price of a job's waiting for one GPU for an hour, positive.
    """
    quantile = waiting_hour / (waiting_hour + idle_gpu_hour)
    return Strategy("priced", quantile=quantile, buffer_factor=1.0, trigger_share=1.0)


@dataclass(frozen=True)
class ReactivePolicy:
    """When the queue alone asks for nodes.

    Attributes:
        queue_threshold_jobs: more waiting jobs than this arm.
        arm_after_seconds: how long the queue must be above the threshold to arm.
        confirm_after_seconds: how long it must stay armed before nodes are asked for.
        long_wait_seconds: a P95 of the waits above this arms at once.
    """

    queue_threshold_jobs: int = 0
    arm_after_seconds: int = 120
    confirm_after_seconds: int = 300
    long_wait_seconds: int = 600


@dataclass(frozen=True)
class GuardPolicy:
    """What no plan may pass.

    Attributes:
        step_limit_share: most nodes added in one cycle, as a share of the current ones; at least 1.
        scale_down_below_share: need must be below this share of what would be left.
        quiet_seconds: no submissions for so long before a scale-down.
        idle_seconds: a node counts as idle after so long without a job.
        idle_utilisation: and while its GPUs are used less than this, 0 to 1; None where their use
            is not looked at.
        cooldown_seconds: least time between two scale-downs, and after a scale-up.
        most_unready_share: with more of the nodes unready than this, nothing is scaled.
        stale_after_seconds: a forecast older than this is not used.
        gap_seconds: a pause between cycles longer than this starts all timers anew.
    """

    step_limit_share: float = 0.3
    scale_down_below_share: float = 0.6
    quiet_seconds: int = 1800
    idle_seconds: int = 900
    idle_utilisation: float | None = 0.2
    cooldown_seconds: int = 1800
    most_unready_share: float = 0.45
    stale_after_seconds: int = 900
    gap_seconds: int = 300


@dataclass(frozen=True)
class LaunchPolicy:
    """When a node pool that does not deliver is passed over.

    Attributes:
        timeout_seconds: an ordered node that is not capacity after this has failed.
        backoff_seconds: how long a node pool is left alone after a first failure; it doubles.
        longest_backoff_seconds: at most so long.
        spot_success_share: spot that delivers less than this share is left for on-demand.
        spot_window_seconds: over so long.
        spot_return_seconds: after so long spot is tried again.
    """

    timeout_seconds: int = 900
    backoff_seconds: int = 300
    longest_backoff_seconds: int = 1800
    spot_success_share: float = 0.6
    spot_window_seconds: int = 180
    spot_return_seconds: int = 1800


@dataclass(frozen=True)
class NodePoolPolicy:
    """One group of equal nodes that serves a pool.

    Attributes:
        name: as the nodes' label has it.
        back_end: which back end asks for its nodes.
        capacity_type: `spot` or `on-demand`.
        most_nodes: most nodes it may have; None for no limit of its own.
        node_hour_price: price of one node for an hour; None where it is not known.
        options: what the back end needs to know, such as the object's name.
    """

    name: str
    back_end: str = "dry_run"
    capacity_type: str = "on-demand"
    most_nodes: int | None = None
    node_hour_price: float | None = None
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ScheduledFloor:
    """Least nodes at a time of the week.

    Attributes:
        cron: when it begins, five fields, in the cluster's time zone.
        duration_seconds: how long it holds.
        least_nodes: least nodes while it holds.
        on_holidays: whether it also holds when it begins on a public holiday.
    """

    cron: str
    duration_seconds: int
    least_nodes: int
    on_holidays: bool = True


@dataclass(frozen=True)
class PoolPolicy:
    """What an operator wants for one pool.

    Attributes:
        pool: its name, such as `a100/whole-node`.
        node_gpus: GPUs of one of its nodes.
        node_pools: who serves it, in order of preference; at least one.
        mode: whether anything may be done.
        strategy: how cautiously it is sized.
        floor_nodes: least nodes.
        ceiling_nodes: most nodes.
        lead_seconds: least time between asking for a node and needing it.
        gang_nodes: whole-node jobs come in multiples of so many nodes.
        schedule: least nodes by the time of the week.
    """

    pool: str
    node_gpus: int
    node_pools: tuple[NodePoolPolicy, ...]
    mode: OperatingMode = OperatingMode.FORECAST_ONLY
    strategy: Strategy = BALANCED
    floor_nodes: int = 0
    ceiling_nodes: int = 10
    lead_seconds: int = 1200
    gang_nodes: int = 1
    schedule: tuple[ScheduledFloor, ...] = ()

    @property
    def shape(self) -> Shape:
        """How its jobs use nodes, read from its name."""
        last = self.pool.rpartition("/")[2]
        if last == "whole-node":
            return "whole-node"
        return "fragment" if last == "fragment" else "mixed"

    @property
    def gpu_type(self) -> str:
        """The GPU type in its name."""
        return self.pool if self.shape == "mixed" else self.pool.rpartition("/")[0]


@dataclass(frozen=True)
class Budget:
    """What all pools together may take; None for no limit.

    Attributes:
        most_gpus: GPUs of all pools.
        most_per_hour: price of all nodes for an hour.
    """

    most_gpus: int | None = None
    most_per_hour: float | None = None


@dataclass(frozen=True)
class Policy:
    """The whole of it, under the version that every decision names.

    Attributes:
        version: number that the store gave it.
        pools: in the order in which a budget serves them.
        budget: what all pools together may take.
        reactive: when the queue alone asks for nodes.
        guards: what no plan may pass.
        launches: when a node pool is passed over.
        cycle_seconds: time from one cycle to the next.
    """

    version: int
    pools: tuple[PoolPolicy, ...]
    budget: Budget = Budget()
    reactive: ReactivePolicy = ReactivePolicy()
    guards: GuardPolicy = GuardPolicy()
    launches: LaunchPolicy = LaunchPolicy()
    cycle_seconds: int = 60
