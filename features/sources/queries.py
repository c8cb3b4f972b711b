"""Every question we ask Prometheus, in one place, in three profiles.

Whether a Prometheus has kube-state-metrics as it is scraped, our recording rules
(`deploy/prometheus/rules.yaml`) or something of the user's own, the same few questions are asked
of it, and the answers carry the same labels. How GPUs per pod are worded for the first two stands
in `pod_expressions.py`.
"""

from dataclasses import dataclass, field

from features.errors import BadInput
from features.pool import Pool
from features.series import COLUMNS
from features.sources.pod_expressions import ALLOCATABLE, PHASE, REQUESTS, PodExpressions
from features.sources.pod_settings import PodSettings
from features.sources.promql import highest_in_step, sampled_within
from features.sources.query_plan import (
    Exported,
    NodeSizes,
    PoolQuery,
    Profile,
    QueryPlan,
)

RAW_CHUNK_SECONDS = 86_400
RULE_INTERVAL_SECONDS = 60


@dataclass(frozen=True)
class KubeStateMetricsQueries:
    """Raw kube-state-metrics, with DCGM for the types of nodes that carry no label.

    Attributes:
        pods: what the cluster calls its GPUs, and which pods are no demand.
    """

    pods: PodSettings = field(default_factory=PodSettings)

    @property
    def profile(self) -> Profile:
        """Raw kube-state-metrics."""
        return Profile.KUBE_STATE_METRICS

    @property
    def needed(self) -> tuple[str, ...]:
        """Series without which there is no demand."""
        return (REQUESTS, PHASE, ALLOCATABLE)

    @property
    def series(self) -> tuple[str, ...]:
        """The series of kube-state-metrics and DCGM that demand is made of."""
        return (
            *self.needed,
            "kube_node_labels",
            "kube_node_spec_unschedulable",
            "kube_node_status_condition",
            "kube_pod_info",
            "kube_pod_labels",
            "kube_pod_nodeselectors",
            "kube_pod_status_reason",
            *((self.pods.dcgm_metric,) if self.pods.dcgm_metric else ()),
        )

    def node_gpus(self, exported: Exported) -> str:
        """See `QueryProfile.node_gpus`."""
        return PodExpressions(self.pods, exported).node_gpus()

    def plan(self, step_seconds: int, exported: Exported, stale_after_seconds: int) -> QueryPlan:
        """See `QueryProfile.plan`; what is not exported is not asked for."""
        ask = PodExpressions(self.pods, exported)
        return QueryPlan(
            pools=(PoolQuery("capacity_gpus", ask.capacity()),),
            pods=ask.counts(step_seconds),
            node_sizes=NodeSizes(
                {**exported.gpus_per_node, **self.pods.gpus_per_node},
                self.pods.default_gpus_per_node,
            ),
            scraped=sampled_within(ask.always_scraped(), stale_after_seconds),
            guessed_gpus=ask.guessed_gpus(),
            pending_gpus=ask.pending_gpus(),
            chunk_seconds=RAW_CHUNK_SECONDS,
        )


@dataclass(frozen=True)
class RecordingRuleQueries:
    """What `deploy/prometheus/rules.yaml` records: cheap to ask for however large the cluster.

    Attributes:
        selector: label matchers that every series must fit, such as `cluster="prod"`.
    """

    selector: str = ""

    @property
    def profile(self) -> Profile:
        """Our own recording rules."""
        return Profile.RECORDING_RULES

    @property
    def needed(self) -> tuple[str, ...]:
        """Series without which there is no demand."""
        return ("tidecast:last_scrape_timestamp_seconds",)

    @property
    def series(self) -> tuple[str, ...]:
        """The recorded series that must be there."""
        return self.needed

    def node_gpus(self, exported: Exported) -> str:
        """The rules know the nodes; nothing need be asked."""
        return ""

    def plan(self, step_seconds: int, exported: Exported, stale_after_seconds: int) -> QueryPlan:
        """See `QueryProfile.plan`.

        Raises:
            BadInput: the step is shorter than the rules' interval.
        """
        if step_seconds < RULE_INTERVAL_SECONDS:
            raise BadInput(
                f"a step of {step_seconds} s is shorter than the {RULE_INTERVAL_SECONDS} s at "
                "which the recording rules are evaluated; choose a longer step"
            )
        last_scrape = self._recorded("last_scrape_timestamp_seconds")
        # A millisecond short, so that a sample on an edge is not in two steps. The state at the
        # opening was recorded up to an interval before it.
        inside = f"[{step_seconds * 1000 - 1}ms]"
        opened = f"[{(step_seconds + RULE_INTERVAL_SECONDS) * 1000 - 1}ms]"
        return QueryPlan(
            # Copies of a series are folded here, not by a `max` of the server's: at ten thousand
            # steps that costs it more than all the rest.
            pools=(
                PoolQuery(
                    "demand_gpus",
                    f"max_over_time({self._recorded('demand_gpus')}{opened})",
                ),
                PoolQuery("running_gpus", self._recorded("running_gpus")),
                PoolQuery("pending_gpus", self._recorded("pending_gpus")),
                PoolQuery("queued_jobs", self._recorded("queued_jobs")),
                PoolQuery(
                    "submitted_jobs",
                    f"sum_over_time({self._recorded('submitted_jobs')}{inside})",
                ),
                PoolQuery(
                    "submitted_gpus",
                    f"sum_over_time({self._recorded('submitted_gpus')}{inside})",
                ),
                PoolQuery("capacity_gpus", self._recorded("capacity_gpus")),
                PoolQuery("capped", f"max_over_time({self._recorded('held_jobs')}{opened})"),
            ),
            scraped=f"time() - max({last_scrape}) <= {stale_after_seconds}",
            guessed_gpus=f"max({self._recorded('guessed_gpus')})",
            pending_gpus=f"sum(max by (gpu_type, shape) ({self._recorded('pending_gpus')}))",
        )

    def _recorded(self, name: str) -> str:
        return f"tidecast:{name}{{{self.selector}}}" if self.selector else f"tidecast:{name}"


@dataclass(frozen=True)
class CustomPool:
    """PromQL of the user's own for one pool; each expression gives one series.

    Attributes:
        pool: whose demand it is.
        demand_gpus: GPUs that running and pending jobs ask for; the step's highest is taken.
        others: expressions by column of `DemandSeries`, evaluated at the close of a step;
            that of `capped` is above 0 while a quota keeps jobs out of sight, and its highest in
            the step counts.
    """

    pool: Pool
    demand_gpus: str
    others: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        others = [*(name for name in COLUMNS if name != "demand_gpus"), "capped"]
        for column, _ in self.others:
            if column not in others:
                raise BadInput(
                    f"{self.pool}: a query for '{column}'; there are {', '.join(others)}"
                )
        for column, promql in (("demand_gpus", self.demand_gpus), *self.others):
            if not promql.strip():
                raise BadInput(f"{self.pool}: the query for '{column}' is empty")


@dataclass(frozen=True)
class CustomQueries:
    """Any PromQL.

    Attributes:
        pools: the pools and their expressions.
        presence: a plain series that is there whenever the others were scraped, such as
            `kube_node_created`. Where it is there, a pool without samples has no demand; without
            it, an absent sample is not known.
    """

    pools: tuple[CustomPool, ...]
    presence: str = ""

    def __post_init__(self) -> None:
        if not self.pools:
            raise BadInput("the custom profile has no queries; give at least one pool its PromQL")

    @property
    def profile(self) -> Profile:
        """The user's own."""
        return Profile.CUSTOM

    @property
    def needed(self) -> tuple[str, ...]:
        """Nothing is known of the user's series."""
        return ()

    @property
    def series(self) -> tuple[str, ...]:
        """Nothing need be known beforehand."""
        return ()

    def node_gpus(self, exported: Exported) -> str:
        """Nothing is known of the user's nodes."""
        return ""

    def plan(self, step_seconds: int, exported: Exported, stale_after_seconds: int) -> QueryPlan:
        """See `QueryProfile.plan`."""
        questions = []
        for one in self.pools:
            for column, promql in (("demand_gpus", one.demand_gpus), *one.others):
                inside = column in {"demand_gpus", "capped"}
                asked = highest_in_step(promql, step_seconds) if inside else promql
                questions.append(PoolQuery(column, asked, one.pool))
        scraped = sampled_within(self.presence, stale_after_seconds) if self.presence else ""
        return QueryPlan(pools=tuple(questions), scraped=scraped)


def queries_for(
    profile: Profile, pods: PodSettings
) -> KubeStateMetricsQueries | RecordingRuleQueries:
    """One of the two profiles that need no PromQL of the user's."""
    if profile is Profile.RECORDING_RULES:
        return RecordingRuleQueries(pods.selector)
    return KubeStateMetricsQueries(pods)
