"""What comes and what is done about it: forecast, plan and queue."""

from dashboard import TIDECAST, Dashboard, Panel, Query, of_pool, override

BANDS = ("p10", "p50", "p90")

BAND_OVERRIDES = (
    override("p90", custom__fillBelowTo="p10", custom__fillOpacity=15, custom__lineWidth=0),
    override("p10", custom__lineWidth=0),
    override("p50", custom__lineStyle={"fill": "dash", "dash": [8, 6]}),
    override("demand", color={"mode": "fixed", "fixedColor": "text"}, custom__lineWidth=2),
    override("capacity", color={"mode": "fixed", "fixedColor": "orange"}),
)
"""A band between two quantiles; Grafana fills between series of just these names, so that one panel
shows one pool."""


def predicted(lead: str) -> list[Query]:
    """Three quantiles of what was forecast, as long before as that."""
    series = f'gpu_demand:predicted{{pool="$pool",lead="{lead}",band="%s"}}'
    return [Query(series % band, band, TIDECAST) for band in BANDS]


ACTUAL = Query('gpu_demand:actual{pool="$pool"}', "demand", TIDECAST)
CAPACITY = Query('gpu_capacity:actual{pool="$pool"}', "capacity", TIDECAST)


FORECAST = Dashboard(
    "tidecast-forecast",
    "Tidecast / Forecast against demand",
    [
        Panel(
            "Demand of $pool, past and to come",
            [*predicted("latest"), ACTUAL, CAPACITY],
            text="The past is as it was forecast at the time; right of now, the newest forecast.",
            width=24,
            height=11,
            overrides=BAND_OVERRIDES,
        ),
        Panel(
            "As it was forecast half an hour before",
            [*predicted("30m"), ACTUAL],
            text="Demand should leave the band one time in five, as often below as above.",
            overrides=BAND_OVERRIDES,
        ),
        Panel(
            "Announced for $pool",
            [Query('gpu_announcement:gpus{pool="$pool"}', "{{kind}}", TIDECAST)],
            text="At least so many GPUs (absolute), or so many more (extra).",
            defaults={"custom": {"drawStyle": "line", "fillOpacity": 20}},
        ),
        Panel(
            "Peak of the next half hour",
            [
                of_pool("tidecast_forecast_peak_gpus", band, f',band="{band}"')
                for band in ("p50", "p90", "p99")
            ],
            kind="stat",
            width=8,
            height=6,
        ),
        Panel(
            "P90 of half an hour ago, against now",
            [
                Query(
                    'tidecast_forecast_gpus{pool="$pool",horizon="30m",band="p90"} offset 30m',
                    "p90",
                ),
                of_pool("tidecast_demand_gpus", "demand"),
            ],
            text="The same from what Prometheus scraped.",
            width=16,
            height=6,
        ),
        Panel(
            "Demand of every pool",
            [Query("gpu_demand:actual", "{{pool}}", TIDECAST)],
            width=24,
            height=7,
        ),
    ],
    until="now+6h",
)

PLAN = Dashboard(
    "tidecast-plan",
    "Tidecast / Plan",
    [
        Panel(
            "Nodes of $pool",
            [
                of_pool("tidecast_current_nodes", "current"),
                of_pool("tidecast_desired_nodes", "desired"),
                of_pool("tidecast_scheduled_nodes", "scheduled"),
            ],
            text="Scheduled is what will be asked for later if nothing changes.",
            width=16,
            height=9,
            defaults={"custom": {"lineInterpolation": "stepAfter"}},
        ),
        Panel(
            "Next scheduled action",
            [
                Query(
                    'tidecast_scheduled_timestamp_seconds{pool="$pool"} * 1000', "at", instant=True
                )
            ],
            unit="dateTimeAsIso",
            kind="stat",
            width=8,
            height=5,
        ),
        Panel(
            "What may be done",
            [Query('tidecast_pool_mode{pool="$pool"} == 1', "{{mode}}", instant=True)],
            kind="stat",
            width=8,
            height=4,
            defaults={"displayName": "${__field.labels.mode}", "noValue": "not known"},
        ),
        Panel(
            "What led to the plan",
            [Query('tidecast_plan_mode{pool="$pool"} == 1', "{{mode}}")],
            kind="state-timeline",
            height=7,
        ),
        Panel(
            "Decisions by what set the number",
            [
                Query(
                    'sum by (reason) (increase(tidecast_decisions_total{pool="$pool"}[1h]))',
                    "{{reason}}",
                )
            ],
            text="In the last hour.",
            height=7,
            defaults={"custom": {"drawStyle": "bars", "fillOpacity": 60}},
        ),
        Panel(
            "Demand and capacity",
            [
                of_pool("tidecast_demand_gpus", "demand"),
                of_pool("tidecast_capacity_gpus", "capacity"),
            ],
        ),
        Panel(
            "Nodes asked for that do not exist yet",
            [Query("tidecast_ordered_nodes", "{{node_pool}}")],
        ),
        Panel(
            "Launches that failed in a row",
            [Query("tidecast_launch_failures_in_a_row", "{{node_pool}}")],
            width=8,
        ),
        Panel("Left alone for", [Query("tidecast_backoff_seconds", "{{node_pool}}")], "s", width=8),
        Panel(
            "From asking until usable, P95",
            [Query("tidecast_provisioning_p95_seconds", "{{node_pool}}")],
            "s",
            width=8,
        ),
    ],
)

QUEUE = Dashboard(
    "tidecast-queue",
    "Tidecast / Waits and queue",
    [
        Panel(
            "How long waiting jobs have waited",
            [Query("tidecast_wait_seconds", "{{pool}} {{percentile}}")],
            "s",
            text="Empty while nobody waits.",
            width=24,
        ),
        Panel(
            "Jobs that wait, by GPU type",
            [Query("sum by (gpu_type) (tidecast_queued_jobs)", "{{gpu_type}}")],
        ),
        Panel(
            "GPUs that they ask for, by GPU type",
            [Query("sum by (gpu_type) (tidecast_queued_gpus)", "{{gpu_type}}")],
        ),
        Panel(
            "Jobs that wait, by pool",
            [Query("tidecast_queued_jobs", "{{pool}}")],
            defaults={"custom": {"stacking": {"mode": "normal"}, "fillOpacity": 30}},
        ),
        Panel(
            "Share of capacity that is asked for",
            [Query("tidecast_demand_gpus / tidecast_capacity_gpus", "{{pool}}")],
            "percentunit",
        ),
    ],
)
