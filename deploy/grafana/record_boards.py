"""How it went: accuracy, what errors cost, and how the service itself is."""

from dashboard import Dashboard, Panel, Query, of_pool

ACCURACY = Dashboard(
    "tidecast-accuracy",
    "Tidecast / Accuracy and coverage",
    [
        Panel(
            "What to make of the forecasts",
            [Query("tidecast_verdict == 1", "{{pool}}: {{standing}}", instant=True)],
            kind="stat",
            width=24,
            height=4,
            defaults={"displayName": "${__field.labels.pool}: ${__field.labels.standing}"},
        ),
        Panel(
            "Pinball loss over that of 'the same as now', 7 days",
            [of_pool("tidecast_score_pinball_ratio", "{{band}}", ',span="7d"')],
            text="Below 1 is better than 'the same as now'.",
        ),
        Panel(
            "Coverage, 7 days",
            [of_pool("tidecast_score_coverage", "{{band}}", ',span="7d"')],
            "percentunit",
            text="p90 should lie at 90 %.",
        ),
        Panel(
            "Coverage less what it should be, 1 day",
            [
                Query(
                    'tidecast_score_coverage{pool="$pool",span="1d",band="p90"} - 0.9', "p90 - 0.9"
                ),
                Query(
                    '2 * tidecast_score_coverage_error{pool="$pool",span="1d",band="p90"}',
                    "two standard errors",
                ),
            ],
            "percentunit",
        ),
        Panel(
            "Median less what came, in GPUs",
            [of_pool("tidecast_score_bias_gpus", "{{span}}")],
        ),
        Panel(
            "Coverage by pool and band, 7 days",
            [Query('tidecast_score_coverage{span="7d"}', "{{pool}} {{band}}", instant=True)],
            "percentunit",
            kind="bargauge",
            width=24,
            height=9,
        ),
    ],
    since="now-7d",
)

COST = Dashboard(
    "tidecast-cost",
    "Tidecast / Cost of error",
    [
        Panel(
            "Idle GPUs, and GPUs short",
            [
                Query(
                    'clamp_min(tidecast_capacity_gpus{pool="$pool"} - '
                    'tidecast_demand_gpus{pool="$pool"}, 0)',
                    "idle",
                ),
                Query(
                    'clamp_min(tidecast_demand_gpus{pool="$pool"} - '
                    'tidecast_capacity_gpus{pool="$pool"}, 0)',
                    "short",
                ),
            ],
            width=16,
        ),
        Panel(
            "An hour of that costs",
            [
                Query(
                    "$idle_gpu_hour * sum(clamp_min(tidecast_capacity_gpus - "
                    "tidecast_demand_gpus, 0))",
                    "idle, all pools",
                    instant=True,
                ),
                Query(
                    "$waiting_hour * sum(clamp_min(tidecast_demand_gpus - "
                    "tidecast_capacity_gpus, 0))",
                    "waiting, all pools",
                    instant=True,
                ),
            ],
            kind="stat",
            width=8,
        ),
        Panel(
            "The last day cost, by pool",
            [
                Query(
                    "24 * $idle_gpu_hour * avg_over_time(clamp_min(tidecast_capacity_gpus - "
                    "tidecast_demand_gpus, 0)[1d:5m])",
                    "{{pool}} idle",
                ),
                Query(
                    "24 * $waiting_hour * avg_over_time(clamp_min(tidecast_demand_gpus - "
                    "tidecast_capacity_gpus, 0)[1d:5m])",
                    "{{pool}} waiting",
                ),
            ],
            width=24,
        ),
        Panel(
            "Pinball loss of the 90 % quantile, 7 days",
            [
                of_pool("tidecast_score_pinball_gpus", "Tidecast", ',span="7d",band="p90"'),
                of_pool(
                    "tidecast_score_persistence_pinball_gpus",
                    "the same as now",
                    ',span="7d",band="p90"',
                ),
            ],
            text="GPUs, with each GPU short counted nine times a GPU too many.",
        ),
        Panel(
            "What it spared, by pool",
            [
                Query(
                    '$idle_gpu_hour * 10 * (tidecast_score_persistence_pinball_gpus{span="7d",'
                    'band="p90"} - tidecast_score_pinball_gpus{span="7d",band="p90"})',
                    "{{pool}}",
                )
            ],
            text="For an hour, against 'the same as now', at 9 times the price for a GPU short.",
        ),
    ],
    since="now-7d",
    variables=(
        {
            "name": "idle_gpu_hour",
            "label": "An idle GPU costs in an hour",
            "type": "textbox",
            "query": "2",
            "current": {"text": "2", "value": "2"},
        },
        {
            "name": "waiting_hour",
            "label": "A GPU that is waited for costs in an hour",
            "type": "textbox",
            "query": "10",
            "current": {"text": "10", "value": "10"},
        },
    ),
)

SERVICE = Dashboard(
    "tidecast-service",
    "Tidecast / The service itself",
    [
        Panel(
            "Since each job last ended well",
            [Query("time() - tidecast_job_last_success_timestamp_seconds", "{{job}}")],
            "s",
        ),
        Panel("How long jobs take", [Query("tidecast_job_last_duration_seconds", "{{job}}")], "s"),
        Panel("Failures in a row", [Query("tidecast_job_failures_in_a_row", "{{job}}")], width=8),
        Panel("Age of the history", [Query("tidecast_data_age_seconds", "{{pool}}")], "s", width=8),
        Panel(
            "Age of forecasts and plan",
            [
                Query("tidecast_forecast_age_seconds", "{{pool}}"),
                Query("tidecast_plan_age_seconds", "plan"),
            ],
            "s",
            width=8,
        ),
        Panel(
            "Responses a second",
            [
                Query(
                    "sum by (area, code) (rate(tidecast_http_responses_total[5m]))",
                    "{{area}} {{code}}",
                )
            ],
            "reqps",
        ),
        Panel(
            "Memory",
            [Query("process_resident_memory_bytes and on (instance) tidecast_build_info", "")],
            "bytes",
            width=6,
        ),
        Panel(
            "Files of the history held, read in an hour, damaged",
            [
                Query("tidecast_history_cached_files", "held"),
                Query("increase(tidecast_history_file_reads_total[1h])", "read"),
                Query("tidecast_history_damaged_files", "damaged"),
            ],
            width=6,
        ),
        Panel(
            "Metrics that could not be read",
            [Query("tidecast_reading_failed", "{{part}}")],
            width=24,
            height=5,
        ),
    ],
)
