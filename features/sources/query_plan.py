"""What a profile of queries is: the questions that make demand series, whatever their wording.

Plans are values. They hold no settings of a connection, and nothing here asks them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from features.pool import Pool, Shape

QUARTER_SECONDS = 90 * 86_400
STALE_AFTER_SECONDS = 150


class Profile(StrEnum):
    """Which series a Prometheus has for us."""

    KUBE_STATE_METRICS = "kube-state-metrics"
    RECORDING_RULES = "recording-rules"
    CUSTOM = "custom"


@dataclass(frozen=True)
class PoolQuery:
    """One question whose answer is a column of `DemandSeries`.

    Attributes:
        column: the column; `capped` is made of how many pods a quota held back, above 0 for true.
        promql: the expression, evaluated at the close of each step.
        pool: whose column it is; None where the answer's labels `gpu_type` and `shape` say so
            (without `shape` it holds for every shape of the type). Series that say the same are
            copies of one, as a pair of Prometheus gives them.
    """

    column: str
    promql: str
    pool: Pool | None = None


COUNTED = (
    "demand_gpus",
    "running_gpus",
    "pending_gpus",
    "queued_jobs",
    "submitted_jobs",
    "submitted_gpus",
    "capped",
)
"""The columns that counts of pods make."""


class PodState(StrEnum):
    """What pods are counted for."""

    RUNNING = "running"
    PENDING = "pending"
    ARRIVED = "arrived"
    HELD = "held"


class PodUnit(StrEnum):
    """What pods ask for: whole GPUs, or parts of one."""

    GPUS = "gpus"
    PARTS = "parts"


@dataclass(frozen=True)
class PodCount:
    """One question whose answer is how many pods ask for how much.

    Attributes:
        state: which pods.
        unit: what they ask for.
        promql: the expression; its answers carry `gpu_type` and, as `gpus`, what each pod asks
            for in GPUs.
    """

    state: PodState
    unit: PodUnit
    promql: str


@dataclass(frozen=True)
class NodeSizes:
    """By what a pod is told to be whole-node.

    Attributes:
        gpus: GPUs of the largest node by GPU type.
        default_gpus: the same for any other type.
    """

    gpus: Mapping[str, float] = field(default_factory=dict)
    default_gpus: float = 8

    def shape(self, gpu_type: str, asked_gpus: float, unit: PodUnit) -> Shape:
        """The shape of a pod that asks for so much; one that asks for parts is a fragment."""
        if unit is PodUnit.GPUS and asked_gpus >= self.gpus.get(gpu_type, self.default_gpus):
            return Shape.WHOLE_NODE
        return Shape.FRAGMENT


@dataclass(frozen=True)
class QueryPlan:
    """The questions for one step length.

    Attributes:
        pools: columns of the pools.
        pods: counts of pods, which make the other columns.
        node_sizes: what tells the shape of counted pods.
        scraped: a sample where the cluster's state is known, none where nothing was scraped of
            late. Empty where the profile cannot say; then what is absent is not known.
        guessed_gpus: pending GPUs whose type is a guess; empty where the profile cannot say.
        pending_gpus: all pending GPUs, of which that is a part.
        chunk_seconds: longest span of one request. A server weighs every series of the span at
            every step, so that pods of long ago make long spans dear.
    """

    pools: tuple[PoolQuery, ...]
    pods: tuple[PodCount, ...] = ()
    node_sizes: NodeSizes = field(default_factory=NodeSizes)
    scraped: str = ""
    guessed_gpus: str = ""
    pending_gpus: str = ""
    chunk_seconds: int = QUARTER_SECONDS

    def columns_of(self, pool: Pool) -> frozenset[str]:
        """The columns of `DemandSeries` that the answers make for this pool."""
        asked = (one.column for one in self.pools if one.pool in (None, pool))
        return frozenset((*asked, *(COUNTED if self.pods else ())))


@dataclass(frozen=True)
class Exported:
    """What a Prometheus holds of the series that a profile reads.

    Attributes:
        labels: label names by series; a series that is not there has none.
        resources: resources that pods ask for, as kube-state-metrics writes them.
        gpus_per_node: GPUs of the largest node by GPU type.
        commonest_type: GPU type of most nodes; empty where no node was seen.
    """

    labels: Mapping[str, frozenset[str]] = field(default_factory=dict)
    resources: frozenset[str] = frozenset()
    gpus_per_node: Mapping[str, float] = field(default_factory=dict)
    commonest_type: str = ""

    def has(self, series: str, label: str = "") -> bool:
        """Whether the series is there, and carries the label if one is given."""
        there = self.labels.get(series, frozenset())
        return label in there if label else bool(there)


class QueryProfile(Protocol):
    """A profile with its settings."""

    @property
    def profile(self) -> Profile:
        """Which one it is."""
        ...

    @property
    def needed(self) -> tuple[str, ...]:
        """Series without which the answers would be wrong; all must be there."""
        ...

    @property
    def series(self) -> tuple[str, ...]:
        """Series whose labels must be known before there is a plan."""
        ...

    def node_gpus(self, exported: Exported) -> str:
        """GPUs per node, with `node` and `gpu_type`; empty where the plan does not need it."""
        ...

    def plan(self, step_seconds: int, exported: Exported, stale_after_seconds: int) -> QueryPlan:
        """The questions to ask.

        Args:
            step_seconds: length of a step.
            exported: what the Prometheus holds.
            stale_after_seconds: age of the newest scrape from which on the state is not known.
        """
        ...
