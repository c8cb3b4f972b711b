"""What `tidecast plan` and `tidecast act` answer."""

from forecaster.json_shapes.base import Shape


class PlanReason(Shape):
    """Why, once for programs and once for people."""

    code: str
    """Stable name, such as `step-limit`."""

    text: str
    """One sentence with the numbers in it."""


class PlannedLater(Shape):
    """What will be asked for later if nothing changes."""

    at: str
    """When, ISO 8601."""

    at_seconds: int
    """When, Unix time."""

    needed_by_seconds: int
    """Unix time at which the nodes are needed."""

    desired_nodes: int
    """Nodes there should be then."""


class NodePoolPlan(Shape):
    """What one node pool is asked to have."""

    node_pool: str
    """Its name."""

    current_nodes: int
    """Nodes it has or has been asked for."""

    desired_nodes: int
    """Nodes it should have."""

    removable_nodes: list[str]
    """Names of the nodes that may go; only these may be removed."""


class PlanOfPool(Shape):
    """One pool's part of a plan."""

    pool: str
    """Its name."""

    operating_mode: str
    """What may be done for it: `forecast-only`, `act` or `paused`."""

    mode: str
    """What led to it: `predictive`, `reactive`, `announced` or `held`."""

    current_nodes: int
    """Nodes there are or that are on their way."""

    desired_nodes: int
    """Nodes there should be."""

    bound_by: str
    """The size, floor or guard that set the number."""

    held_back: bool
    """Whether a guard kept it from what was asked for."""

    reasons: list[PlanReason]
    """Why, in the order in which it was decided."""

    needed_by_seconds: int | None
    """Unix time by which the nodes are needed; null if nothing is asked for."""

    scheduled: PlannedLater | None
    """What comes later, if anything."""

    node_pools: list[NodePoolPlan]
    """What each node pool is asked to have."""

    advice: list[str]
    """What an operator should know or do."""

    seen: dict[str, float | str | None]
    """The figures it was decided on, by name."""


class RequestOutcome(Shape):
    """A request to a node pool, and what became of it."""

    pool: str
    """The pool it serves."""

    node_pool: str
    """The node pool."""

    back_end: str
    """What asked for it."""

    desired_nodes: int
    """Nodes it was to have."""

    standing: str
    """`done`, `unchanged`, `unverified`, `refused` or `failed`."""

    detail: str
    """What was asked for, seen or refused."""


class PlanAnswer(Shape):
    """What would be done now, and why."""

    made: str
    """When it was decided, ISO 8601."""

    made_seconds: int
    """When, Unix time."""

    policy_version: int
    """The policy it follows."""

    pools: list[PlanOfPool]
    """A plan per pool, in the policy's order."""

    shadow_policy_version: int | None
    """The shadow policy, where one is tried; null where none is."""

    shadow_pools: list[PlanOfPool]
    """What the shadow policy would do."""

    warnings: list[str]
    """What else to know, a line each."""


class ActAnswer(Shape):
    """What a cycle decided and did."""

    plan: PlanAnswer
    """What it decided."""

    requests: list[RequestOutcome]
    """What was asked for, and what became of it; only what is new is asked for."""

    node_care: list[str]
    """What warm-ups and drains did, a line each."""

    finished: list[str]
    """Decisions of a killed cycle that this one finished or abandoned."""
