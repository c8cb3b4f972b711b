"""Every metric there is: its name with its unit, its labels, what it means.

`docs/reference/metrics.md` is written from this table, and nothing that is not in it is served.
"""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What a metric's value is."""

    GAUGE = "gauge"
    COUNTER = "counter"


@dataclass(frozen=True)
class Metric:
    """One row of the table.

    Attributes:
        name: with its unit; a counter's ends in `_total`.
        help: what it means, one sentence.
        labels: their names, in the order of their values.
        kind: what its value is.
    """

    name: str
    help: str
    labels: tuple[str, ...] = ()
    kind: Kind = Kind.GAUGE


SERVICE = (
    Metric("tidecast_build_info", "1, with the version that runs.", ("version",)),
    Metric(
        "tidecast_job_last_success_timestamp_seconds",
        "Unix time at which a scheduled job last ended well.",
        ("job",),
    ),
    Metric(
        "tidecast_job_last_duration_seconds",
        "How long the last run of a job that ended took; the job `cycle` makes the plans.",
        ("job",),
    ),
    Metric(
        "tidecast_job_failures_in_a_row",
        "Runs of a job that failed, took too long or were cut off since it last ended well.",
        ("job",),
    ),
    Metric("tidecast_job_running", "1 while a job runs, 0 while it does not.", ("job",)),
    Metric(
        "tidecast_data_age_seconds",
        "How long ago the newest step closed whose demand is known.",
        ("pool",),
    ),
    Metric(
        "tidecast_forecast_age_seconds", "How long ago the newest forecast's origin was.", ("pool",)
    ),
    Metric("tidecast_plan_age_seconds", "How long ago the newest plan was made."),
    Metric("tidecast_score_age_seconds", "How long ago a pool was last scored.", ("pool",)),
    Metric("tidecast_history_cached_files", "Files of the history that are held in memory."),
    Metric(
        "tidecast_history_file_reads_total",
        "Files of the history that had to be read, because they were new or had changed.",
        kind=Kind.COUNTER,
    ),
    Metric("tidecast_history_damaged_files", "Files of the history that cannot be read."),
    Metric(
        "tidecast_http_responses_total",
        "Responses by part of the API and status; 5xx are errors of the service.",
        ("area", "code"),
        Kind.COUNTER,
    ),
    Metric(
        "tidecast_reading_failed",
        "1 where a part of these metrics could not be read for this scrape, 0 where it could.",
        ("part",),
    ),
)
"""How the service itself is."""

POOLS = (
    Metric("tidecast_demand_gpus", "Demand of the newest known step.", ("pool",)),
    Metric("tidecast_capacity_gpus", "Allocatable GPUs of ready, schedulable nodes.", ("pool",)),
    Metric(
        "tidecast_forecast_gpus",
        "Demand that is forecast for so long after the newest origin; `offset` by the horizon "
        "lays it over what came.",
        ("pool", "horizon", "band"),
    ),
    Metric(
        "tidecast_forecast_peak_gpus",
        "Highest demand that is forecast for the window after the newest origin.",
        ("pool", "window", "band"),
    ),
    Metric(
        "tidecast_pool_mode",
        "1 for what may be done for a pool (forecast-only, act or paused), 0 for the others.",
        ("pool", "mode"),
    ),
    Metric(
        "tidecast_plan_mode",
        "1 for what led to the newest plan (predictive, reactive, announced or held), 0 for the "
        "others.",
        ("pool", "mode"),
    ),
    Metric("tidecast_current_nodes", "Nodes there are or that are on their way.", ("pool",)),
    Metric("tidecast_desired_nodes", "Nodes there should be, by the newest plan.", ("pool",)),
    Metric(
        "tidecast_scheduled_nodes",
        "Nodes that will be asked for later if nothing changes.",
        ("pool",),
    ),
    Metric(
        "tidecast_scheduled_timestamp_seconds",
        "Unix time at which they will be asked for.",
        ("pool",),
    ),
    Metric(
        "tidecast_decisions_total",
        "Decisions on record by what led to them and what set the number; from a day before the "
        "service started.",
        ("pool", "mode", "reason"),
        Kind.COUNTER,
    ),
    Metric(
        "tidecast_wait_seconds",
        "How long the jobs have waited that wait now; not there while none does.",
        ("pool", "percentile"),
    ),
    Metric("tidecast_queued_jobs", "Jobs that wait.", ("pool", "gpu_type")),
    Metric("tidecast_queued_gpus", "GPUs that waiting jobs ask for.", ("pool", "gpu_type")),
)
"""What is known of each pool now."""

SCORES = (
    Metric(
        "tidecast_score_coverage",
        "Share of peaks that came to no more than the band, over windows that closed within the "
        "span; the band's own share is best.",
        ("pool", "span", "band"),
    ),
    Metric(
        "tidecast_score_coverage_error",
        "Standard error that the coverage of true quantiles would have.",
        ("pool", "span", "band"),
    ),
    Metric(
        "tidecast_score_pinball_gpus", "Mean pinball loss of the peak.", ("pool", "span", "band")
    ),
    Metric(
        "tidecast_score_persistence_pinball_gpus",
        "The same of 'the same as now'.",
        ("pool", "span", "band"),
    ),
    Metric(
        "tidecast_score_pinball_ratio",
        "The first over the second; below 1 is better than 'the same as now'.",
        ("pool", "span", "band"),
    ),
    Metric("tidecast_score_bias_gpus", "Mean of the median minus what came.", ("pool", "span")),
    Metric(
        "tidecast_verdict",
        "1 for what to make of a pool's forecasts (trust, caution or demote), 0 for the others.",
        ("pool", "standing"),
    ),
)
"""How forecasts have done."""

NODE_POOLS = (
    Metric(
        "tidecast_launch_failures_in_a_row",
        "How often a node pool failed to bring nodes since it last did.",
        ("node_pool",),
    ),
    Metric(
        "tidecast_backoff_seconds",
        "How much longer a node pool is left alone because it failed; 0 where it is not.",
        ("node_pool",),
    ),
    Metric("tidecast_ordered_nodes", "Nodes asked for that do not exist yet.", ("node_pool",)),
    Metric(
        "tidecast_provisioning_p95_seconds",
        "From asking for a node until a pod can run on it, at P95; not there until enough came.",
        ("node_pool",),
    ),
)
"""What became of nodes that were asked for."""

SECTIONS = {
    "The service": SERVICE,
    "Pools": POOLS,
    "Scores": SCORES,
    "Node pools": NODE_POOLS,
}
METRICS = {metric.name: metric for section in SECTIONS.values() for metric in section}
