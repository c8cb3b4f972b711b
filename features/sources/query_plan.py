"""What a profile of queries is: the questions that make demand series, whatever their wording.

Plans are values. They hold no settings of a connection, and nothing here asks them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from features.pool import Pool

QUARTER_SECONDS = 90 * 86_400


class Profile(StrEnum):
    """Which series a Prometheus has for us."""

    KUBE_STATE_METRICS = "kube-state-metrics"
    RECORDING_RULES = "recording-rules"
    CUSTOM = "custom"


@dataclass(frozen=True)
class PoolQuery:
    """One question whose answer is a column of `DemandSeries`.

    Attributes:
        column: the column.
        promql: the expression, evaluated at the close of each step.
        pool: whose column it is; None where the answer's labels `gpu_type` and `shape` say so
            (without `shape` it holds for every shape of the type).
    """

    column: str
    promql: str
    pool: Pool | None = None


@dataclass(frozen=True)
class QueryPlan:
    """The questions for one step length.

    Attributes:
        pools: the columns of the pools.
        scrape_age: seconds since the newest scrape; no answer where nothing was scraped. Empty
            where the profile cannot say; then what is absent is not known.
        guessed_gpus: pending GPUs whose type is a guess; empty where the profile cannot say.
        chunk_seconds: longest span of one request. A server weighs every series of the span at
            every step, so that pods of long ago make long spans dear.
    """

    pools: tuple[PoolQuery, ...]
    scrape_age: str = ""
    guessed_gpus: str = ""
    chunk_seconds: int = QUARTER_SECONDS

    def promql_of(self, column: str) -> str:
        """The first expression for a column; empty if nothing asks for it."""
        return next((one.promql for one in self.pools if one.column == column), "")


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

    def plan(self, step_seconds: int, exported: Exported) -> QueryPlan:
        """The questions to ask, for steps of this length, of a Prometheus that holds this."""
        ...
