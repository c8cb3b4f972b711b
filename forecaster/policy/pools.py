"""The part of a policy that is about one pool: who serves it, how much, how cautiously and when."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Literal

from cronsim import CronSim, CronSimError
from pydantic import ConfigDict, Field, ValidationInfo, field_validator, model_validator

from actuator.policy import (
    BALANCED,
    STRATEGIES,
    NodePoolPolicy,
    OperatingMode,
    PoolPolicy,
    ScheduledFloor,
    Strategy,
    priced_strategy,
)
from features.errors import BadInput
from features.pool import Pool
from forecaster.settings.groups import Group

MOST_NODES = 100_000
MOST_PRICE = 1_000_000
DAY_SECONDS = 86_400
CRON_FIELDS = 5

PRICES_OR_NAME = frozenset({"name", "idle_gpu_hour", "waiting_hour"})

CheckNodePool = Callable[[NodePoolPolicy], None]
"""Raises BadInput for a back end that does not exist or options that it cannot use."""

CHECK_NODE_POOL = "check_node_pool"
"""Where such a check stands in the context of a validation."""


class PolicyGroup(Group):
    """Base of a policy's groups: a value of another type is refused, never read as one of this."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False, validate_default=True)


class StrategyDocument(PolicyGroup):
    """How cautiously a pool is sized; the name alone may stand for the group.

    Either a name or both prices; a wait may be tolerated with each.
    """

    name: Literal["cost", "balanced", "performance"] | None = None
    """`cost`, `balanced` (where neither name nor prices are given) or `performance`."""

    idle_gpu_hour: float | None = Field(default=None, gt=0, le=MOST_PRICE)
    """Price of an idle GPU for an hour."""

    waiting_hour: float | None = Field(default=None, gt=0, le=MOST_PRICE)
    """Price of a job's waiting for one GPU for an hour, in the same currency; both prices give the
    quantile of demand that is planned for."""

    tolerated_wait_seconds: int = Field(default=0, ge=0, le=DAY_SECONDS)
    """How long a job may wait."""

    @model_validator(mode="before")
    @classmethod
    def _name_stands_for_the_group(cls, given: Any) -> Any:
        if isinstance(given, str):
            return {"name": given}
        if isinstance(given, dict) and not PRICES_OR_NAME.intersection(given):
            return {"name": BALANCED.name, **given}
        return given

    @model_validator(mode="after")
    def _one_way(self) -> "StrategyDocument":
        prices = (self.idle_gpu_hour, self.waiting_hour)
        if (prices[0] is None) != (prices[1] is None):
            raise ValueError("idle_gpu_hour and waiting_hour go together; give both or neither")
        if self.name is None and prices[0] is None:
            raise ValueError("it has neither a name nor prices; give one of them")
        if self.name is not None and prices[0] is not None:
            raise ValueError("both a name and prices are given; keep one of them")
        return self

    def strategy(self) -> Strategy:
        """The strategy that it says."""
        if self.idle_gpu_hour is not None and self.waiting_hour is not None:
            base = priced_strategy(self.idle_gpu_hour, self.waiting_hour)
        else:
            base = STRATEGIES[str(self.name)]
        return replace(base, tolerated_wait_seconds=self.tolerated_wait_seconds)


class NodePoolDocument(PolicyGroup):
    """One group of equal nodes that serves a pool."""

    name: str = Field(min_length=1, max_length=253)
    """As the nodes' label has it."""

    back_end: str = NodePoolPolicy.back_end
    """Which back end asks for its nodes."""

    capacity_type: Literal["on-demand", "spot"] = "on-demand"
    """How its nodes are paid for."""

    most_nodes: int | None = Field(default=None, ge=0, le=MOST_NODES)
    """Most nodes it may have; no limit of its own if left out."""

    node_hour_price: float | None = Field(default=None, ge=0, le=MOST_PRICE)
    """Price of one node for an hour, where it is known."""

    options: dict[str, str] = Field(default_factory=dict)
    """What the back end needs to know, such as the object's name."""

    @model_validator(mode="after")
    def _back_end_takes_it(self, info: ValidationInfo) -> "NodePoolDocument":
        check: CheckNodePool | None = (info.context or {}).get(CHECK_NODE_POOL)
        if check is not None:
            try:
                check(self.policy())
            except BadInput as error:
                raise ValueError(str(error)) from None
        return self

    def policy(self) -> NodePoolPolicy:
        """What it says, as the deciding part reads it."""
        return NodePoolPolicy(**self.model_dump())


class ScheduledFloorDocument(PolicyGroup):
    """Least nodes at a time of the week."""

    cron: str
    """When it begins: minute, hour, day of month, month, day of week; in the cluster's zone."""

    duration_seconds: int = Field(ge=60, le=7 * DAY_SECONDS)
    """How long it holds."""

    least_nodes: int = Field(ge=1, le=MOST_NODES)
    """Least nodes while it holds."""

    on_holidays: bool = ScheduledFloor.on_holidays
    """Whether it also holds when it begins on a public holiday."""

    @field_validator("cron")
    @classmethod
    def _cron_is_one(cls, cron: str) -> str:
        problem = None
        if len(cron.split()) != CRON_FIELDS:
            problem = "it must have five fields"
        else:
            try:
                next(CronSim(cron, datetime(2000, 1, 1, tzinfo=UTC)))
            except CronSimError as error:
                problem = str(error).lower()
            except StopIteration:
                problem = "it never comes"
        if problem is not None:
            raise ValueError(
                f"{cron!r:.80} is no cron expression ({problem}); write it as '0 9 * * 1-5'"
            )
        return cron


class PoolDocument(PolicyGroup):
    """What is wanted for one pool."""

    pool: str = Field(min_length=1, max_length=253)
    """The pool, such as `a100/whole-node`."""

    mode: OperatingMode = PoolPolicy.mode
    """What may be done for it."""

    strategy: StrategyDocument = StrategyDocument()
    """How cautiously it is sized: `cost`, `balanced` or `performance` alone, or a group of keys."""

    node_gpus: int = Field(ge=1, le=1024)
    """GPUs of one of its nodes."""

    floor_nodes: int = Field(default=PoolPolicy.floor_nodes, ge=0, le=MOST_NODES)
    """Least nodes."""

    ceiling_nodes: int = Field(default=PoolPolicy.ceiling_nodes, ge=0, le=MOST_NODES)
    """Most nodes."""

    lead_seconds: int = Field(default=PoolPolicy.lead_seconds, ge=0, le=DAY_SECONDS)
    """Least time between asking for a node and needing it."""

    gang_nodes: int = Field(default=PoolPolicy.gang_nodes, ge=1, le=MOST_NODES)
    """Whole-node jobs come in multiples of so many nodes."""

    node_pools: tuple[NodePoolDocument, ...]
    """Who serves it, in order of preference."""

    schedule: tuple[ScheduledFloorDocument, ...] = ()
    """Least nodes by the time of the week."""

    @field_validator("pool")
    @classmethod
    def _pool_is_one(cls, name: str) -> str:
        if not name.isprintable() or not name.strip() or name != str(Pool.parse(name)):
            raise ValueError(f"{name!r:.80} is no pool; write it as 'a100/whole-node' or 'a100'")
        return name

    @field_validator("ceiling_nodes")
    @classmethod
    def _floor_fits(cls, ceiling_nodes: int, info: ValidationInfo) -> int:
        floor_nodes = info.data.get("floor_nodes", 0)
        if floor_nodes > ceiling_nodes:
            raise ValueError(
                f"floor_nodes ({floor_nodes}) is above ceiling_nodes ({ceiling_nodes}); lower the "
                "one or raise the other"
            )
        return ceiling_nodes

    @field_validator("gang_nodes")
    @classmethod
    def _gang_fits(cls, gang_nodes: int, info: ValidationInfo) -> int:
        ceiling_nodes = info.data.get("ceiling_nodes", gang_nodes)
        if gang_nodes > max(1, ceiling_nodes):
            raise ValueError(
                f"a gang of {gang_nodes} nodes never fits under ceiling_nodes ({ceiling_nodes})"
            )
        return gang_nodes

    @field_validator("node_pools")
    @classmethod
    def _floor_can_be_served(
        cls, node_pools: tuple[NodePoolDocument, ...], info: ValidationInfo
    ) -> tuple[NodePoolDocument, ...]:
        if not node_pools:
            raise ValueError("no node pool serves it; name at least one")
        most = [one.most_nodes for one in node_pools]
        floor_nodes = info.data.get("floor_nodes", 0)
        served = sum(nodes for nodes in most if nodes is not None)
        if None not in most and served < floor_nodes:
            raise ValueError(
                f"they may have {served} nodes together, which is less than floor_nodes "
                f"({floor_nodes})"
            )
        return node_pools

    @field_validator("schedule")
    @classmethod
    def _schedule_fits(
        cls, schedule: tuple[ScheduledFloorDocument, ...], info: ValidationInfo
    ) -> tuple[ScheduledFloorDocument, ...]:
        least_nodes = max((one.least_nodes for one in schedule), default=0)
        ceiling_nodes = info.data.get("ceiling_nodes", least_nodes)
        if least_nodes > ceiling_nodes:
            raise ValueError(
                f"least_nodes ({least_nodes}) is above ceiling_nodes ({ceiling_nodes})"
            )
        return schedule

    def policy(self) -> PoolPolicy:
        """What it says, as the deciding part reads it."""
        return PoolPolicy(
            pool=self.pool,
            node_gpus=self.node_gpus,
            node_pools=tuple(one.policy() for one in self.node_pools),
            mode=self.mode,
            strategy=self.strategy.strategy(),
            floor_nodes=self.floor_nodes,
            ceiling_nodes=self.ceiling_nodes,
            lead_seconds=self.lead_seconds,
            gang_nodes=self.gang_nodes,
            schedule=tuple(ScheduledFloor(**one.model_dump()) for one in self.schedule),
        )


def named_twice(names: Iterable[str]) -> list[str]:
    """The names that occur more than once."""
    return [name for name, count in Counter(names).items() if count > 1]
