"""Our recording rules: the expressions of the raw profile, evaluated once a minute as time goes by.

`deploy/prometheus/rules.yaml` is what this gives for the default settings; a test holds them
together. Each rule builds on those above it, so that no pod is looked at twice.
"""

from typing import Any

from features.pool import Shape
from features.sources.pod_expressions import POD, PodExpressions
from features.sources.pod_settings import PodSettings
from features.sources.promql import first_of, labelled, without
from features.sources.query_plan import STALE_AFTER_SECONDS

INTERVAL = "1m"
LAST_SCRAPE = "tidecast:last_scrape_timestamp_seconds"
NODE_TYPES = "tidecast:node_types"
RUNNING, PENDING, HELD = (f"tidecast:{state}_pod" for state in ("running", "pending", "held"))
EITHER = '{{__name__=~"tidecast:(running|pending)_{}"}}'


def recording_rules(pods: PodSettings) -> dict[str, Any]:
    """The content of a rule file for a cluster that calls its GPUs and pods so."""
    rules = [
        {"record": f"tidecast:{name}", "expr": expr}
        for name, expr in {**_nodes(pods), **_pods(pods), **_pools()}.items()
        if expr
    ]
    return {"groups": [{"name": "tidecast", "interval": INTERVAL, "rules": rules}]}


def _nodes(pods: PodSettings) -> dict[str, str]:
    ask = PodExpressions(pods, recorded_node_types=NODE_TYPES)
    return {
        "last_scrape_timestamp_seconds": f"max(timestamp({ask.always_scraped()}))",
        "node_types": PodExpressions(pods).node_types(),
        "node_gpus": ask.node_gpus(),
        "capacity_gpus": ask.capacity(),
    }


def _pods(pods: PodSettings) -> dict[str, str]:
    ask = PodExpressions(pods, recorded_node_types=NODE_TYPES)
    out = ask.left_out()
    running, running_slices = ask.running_pods()
    pending, pending_slices = ask.pending_pods()
    held, held_slices = ask.held_pods()
    all_pods = '{__name__=~"tidecast:(running|pending|held)_pod_gpus"}'
    sizes = [
        *(labelled(f"vector({n})", "gpu_type", name) for name, n in pods.gpus_per_node.items()),
        "max by (gpu_type) (tidecast:node_gpus)",
        f"group by (gpu_type) ({all_pods}) * {pods.default_gpus_per_node}",
    ]
    return {
        "running_pod_gpus": without(running, out, POD),
        "running_pod_slices": running_slices and without(running_slices, out, POD),
        "pending_pod_gpus": without(pending, out, POD),
        "pending_pod_slices": pending_slices and without(pending_slices, out, POD),
        "held_pod_gpus": without(held, ask.never_demand(), POD),
        "held_pod_slices": held_slices and without(held_slices, ask.never_demand(), POD),
        "gpus_per_node": first_of(sizes, "gpu_type"),
        "guessed_gpus": f"sum ({without(f'{PENDING}_gpus', ask.told_types(), POD)})",
    }


def _pools() -> dict[str, str]:
    gpus, slices = EITHER.format("pod_gpus"), EITHER.format("pod_slices")
    # What was not looked at a minute ago cannot be told to be new.
    new = (
        f" unless on ({POD}) {EITHER.format('pod_(gpus|slices)')} offset 1m"
        f" and on () time() - 60 - {LAST_SCRAPE} offset 1m <= {STALE_AFTER_SECONDS}"
    )
    return {
        "running_gpus": _by_pool("sum", f"{RUNNING}_gpus", f"{RUNNING}_slices"),
        "pending_gpus": _by_pool("sum", f"{PENDING}_gpus", f"{PENDING}_slices"),
        "queued_jobs": _by_pool("count", f"{PENDING}_gpus", f"{PENDING}_slices"),
        "held_jobs": _by_pool("count", f"{HELD}_gpus", f"{HELD}_slices"),
        "demand_gpus": f"sum by (gpu_type, shape) ({EITHER.format('gpus')})",
        "submitted_jobs": _by_pool("count", gpus, slices, new),
        "submitted_gpus": _by_pool("sum", gpus, slices, new),
    }


def _by_pool(how: str, gpus: str, slices: str, kept: str = "") -> str:
    size = "on (gpu_type) group_left () tidecast:gpus_per_node"
    whole, rest = f"({gpus} >= {size})", first_of([f"{gpus} < {size}", slices])
    return first_of(
        [
            labelled(f"{how} by (gpu_type) ({pods}{kept})", "shape", shape)
            for pods, shape in ((whole, Shape.WHOLE_NODE), (rest, Shape.FRAGMENT))
        ]
    )
