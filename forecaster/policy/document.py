"""The whole policy, with the rules that hold between its parts.

Defaults are those of `actuator.policy`, which is the one place where they are written. A document
that breaks a rule is refused as a whole.
"""

from pydantic import Field, ValidationInfo, field_validator

from actuator.policy import Budget, GuardPolicy, LaunchPolicy, Policy, ReactivePolicy
from forecaster.policy.pools import (
    DAY_SECONDS,
    MOST_NODES,
    MOST_PRICE,
    PolicyGroup,
    PoolDocument,
    named_twice,
)


class BudgetDocument(PolicyGroup):
    """What all pools together may take."""

    most_gpus: int | None = Field(default=Budget.most_gpus, ge=0, le=MOST_NODES * 1024)
    """GPUs of all pools; no limit if left out."""

    most_per_hour: float | None = Field(default=Budget.most_per_hour, ge=0, le=MOST_PRICE * 1024)
    """Price of all nodes for an hour; no limit if left out."""


class ReactiveDocument(PolicyGroup):
    """When the queue alone asks for nodes."""

    queue_threshold_jobs: int = Field(
        default=ReactivePolicy.queue_threshold_jobs, ge=0, le=MOST_NODES
    )
    """More waiting jobs than this arm."""

    arm_after_seconds: int = Field(default=ReactivePolicy.arm_after_seconds, ge=0, le=DAY_SECONDS)
    """How long the queue must be above the threshold to arm."""

    confirm_after_seconds: int = Field(
        default=ReactivePolicy.confirm_after_seconds, ge=0, le=DAY_SECONDS
    )
    """How long it must stay armed before nodes are asked for."""

    long_wait_seconds: int = Field(default=ReactivePolicy.long_wait_seconds, ge=1, le=DAY_SECONDS)
    """A P95 of the waits above this arms at once."""


class GuardDocument(PolicyGroup):
    """What no plan may pass."""

    step_limit_share: float = Field(default=GuardPolicy.step_limit_share, gt=0, le=10)
    """Most nodes added in one cycle, as a share of the current ones; at least one node."""

    scale_down_below_share: float = Field(default=GuardPolicy.scale_down_below_share, gt=0, lt=1)
    """Nodes are given back only while need stays below this share of what would be left; it must
    lie below the share at which nodes are asked for."""

    quiet_seconds: int = Field(default=GuardPolicy.quiet_seconds, ge=0, le=DAY_SECONDS)
    """No submissions for so long before a scale-down."""

    idle_seconds: int = Field(default=GuardPolicy.idle_seconds, ge=0, le=DAY_SECONDS)
    """A node counts as idle after so long without a job."""

    idle_utilisation: float | None = Field(default=GuardPolicy.idle_utilisation, gt=0, le=1)
    """And while its GPUs are known to be used less than this; null where nothing measures it."""

    cooldown_seconds: int = Field(default=GuardPolicy.cooldown_seconds, ge=0, le=DAY_SECONDS)
    """Least time between two scale-downs, and after a scale-up."""

    most_unready_share: float = Field(default=GuardPolicy.most_unready_share, ge=0, le=1)
    """With more of the nodes unready than this, nothing is scaled."""

    stale_after_seconds: int = Field(default=GuardPolicy.stale_after_seconds, ge=60, le=DAY_SECONDS)
    """A forecast older than this is not used."""

    gap_seconds: int = Field(default=GuardPolicy.gap_seconds, ge=1, le=DAY_SECONDS)
    """A pause between cycles longer than this starts all timers anew."""


class LaunchDocument(PolicyGroup):
    """When a node pool that does not deliver is passed over."""

    timeout_seconds: int = Field(default=LaunchPolicy.timeout_seconds, ge=1, le=DAY_SECONDS)
    """An ordered node that is not capacity after this has failed."""

    backoff_seconds: int = Field(default=LaunchPolicy.backoff_seconds, ge=1, le=DAY_SECONDS)
    """How long a node pool is left alone after a first failure; it doubles with each."""

    longest_backoff_seconds: int = Field(
        default=LaunchPolicy.longest_backoff_seconds, ge=1, le=DAY_SECONDS
    )
    """At most so long."""

    spot_success_share: float = Field(default=LaunchPolicy.spot_success_share, ge=0, le=1)
    """Spot that delivers less than this share is left for on-demand."""

    spot_window_seconds: int = Field(default=LaunchPolicy.spot_window_seconds, ge=1, le=DAY_SECONDS)
    """Over so long."""

    spot_return_seconds: int = Field(default=LaunchPolicy.spot_return_seconds, ge=1, le=DAY_SECONDS)
    """After so long spot is tried again."""

    @field_validator("longest_backoff_seconds")
    @classmethod
    def _backoff_fits(cls, longest_seconds: int, info: ValidationInfo) -> int:
        first_seconds = info.data.get("backoff_seconds", 0)
        if first_seconds > longest_seconds:
            raise ValueError(
                f"backoff_seconds ({first_seconds}) is above longest_backoff_seconds "
                f"({longest_seconds})"
            )
        return longest_seconds


class PolicyDocument(PolicyGroup):
    """The whole policy; only `pools` must be given."""

    pools: tuple[PoolDocument, ...]
    """The pools, in the order in which a budget serves them."""

    budget: BudgetDocument = BudgetDocument()
    reactive: ReactiveDocument = ReactiveDocument()
    guards: GuardDocument = GuardDocument()
    launches: LaunchDocument = LaunchDocument()

    cycle_seconds: int = Field(default=Policy.cycle_seconds, ge=10, le=3600)
    """Time from one cycle to the next."""

    @field_validator("pools")
    @classmethod
    def _names_are_told_apart(cls, pools: tuple[PoolDocument, ...]) -> tuple[PoolDocument, ...]:
        if not pools:
            raise ValueError("it names no pool; name at least one")
        problems = [f"pool '{name}' is named twice" for name in named_twice(p.pool for p in pools)]
        serving = named_twice(node_pool.name for pool in pools for node_pool in pool.node_pools)
        problems += [f"node pool '{name}' is named twice; it serves one pool" for name in serving]
        if problems:
            raise ValueError("; ".join(problems))
        return pools

    @field_validator("budget")
    @classmethod
    def _floors_fit(cls, budget: BudgetDocument, info: ValidationInfo) -> BudgetDocument:
        pools: tuple[PoolDocument, ...] = info.data.get("pools", ())
        gpus = sum(pool.floor_nodes * pool.node_gpus for pool in pools)
        if budget.most_gpus is not None and gpus > budget.most_gpus:
            raise ValueError(f"the floors take {gpus} GPUs, most_gpus is {budget.most_gpus}")
        price = sum(pool.floor_nodes * _least_price(pool) for pool in pools)
        if budget.most_per_hour is not None and price > budget.most_per_hour:
            raise ValueError(
                f"the floors cost at least {price:g} an hour, most_per_hour is "
                f"{budget.most_per_hour:g}"
            )
        return budget

    @field_validator("guards")
    @classmethod
    def _scaling_has_a_gap(cls, guards: GuardDocument, info: ValidationInfo) -> GuardDocument:
        pools: tuple[PoolDocument, ...] = info.data.get("pools", ())
        for pool in pools:
            trigger_share = pool.strategy.strategy().trigger_share
            if guards.scale_down_below_share >= trigger_share:
                raise ValueError(
                    f"scale_down_below_share ({guards.scale_down_below_share:g}) is not below the "
                    f"share at which '{pool.pool}' asks for nodes ({trigger_share:g})"
                )
        return guards

    @field_validator("cycle_seconds")
    @classmethod
    def _cycle_is_no_gap(cls, cycle_seconds: int, info: ValidationInfo) -> int:
        guards: GuardDocument | None = info.data.get("guards")
        if guards is not None and guards.gap_seconds <= cycle_seconds:
            raise ValueError(
                f"a cycle of {cycle_seconds} s is not below guards.gap_seconds "
                f"({guards.gap_seconds}), so every timer would start anew in each"
            )
        return cycle_seconds

    def policy(self, version: int) -> Policy:
        """What it says, as the deciding part reads it, under its version."""
        return Policy(
            version=version,
            pools=tuple(pool.policy() for pool in self.pools),
            budget=Budget(**self.budget.model_dump()),
            reactive=ReactivePolicy(**self.reactive.model_dump()),
            guards=GuardPolicy(**self.guards.model_dump()),
            launches=LaunchPolicy(**self.launches.model_dump()),
            cycle_seconds=self.cycle_seconds,
        )


def _least_price(pool: PoolDocument) -> float:
    """What a node of the pool costs at least; an unknown price may be nothing."""
    return min(one.node_hour_price or 0.0 for one in pool.node_pools)
