"""What kube-state-metrics would have exported, written from a list of pods as OpenMetrics text.

It knows kube-state-metrics' metrics and labels, and nothing of our queries.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

KEPT_AFTER_END_SECONDS = 900  # a finished job stays for its TTL
PHASES = ("Pending", "Running", "Succeeded", "Failed", "Unknown")


@dataclass(frozen=True)
class KsmNode:
    """A node: its name, the value of its product label, and what it can give."""

    name: str
    product: str
    allocatable: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class KsmPod:
    """A pod with one container: submitted, started on a node, ended."""

    name: str
    requests: tuple[tuple[str, int], ...]
    submit: int
    start: int
    end: int
    node: str
    selected_product: str = ""
    gated_until: int = 0


def openmetrics(
    nodes: Sequence[KsmNode],
    pods: Sequence[KsmPod],
    scrapes: Sequence[int],
    replica: str = "",
    seen: Callable[[int], bool] = lambda _: True,
) -> str:
    """The exposition text of every scrape at which the target was seen."""
    kept = [at for at in scrapes if seen(at)]
    extra = f',prometheus_replica="{replica}"' if replica else ""
    lines: dict[str, list[str]] = {}
    for node in nodes:
        for name, labels in _node_series(node):
            value = labels.pop("value")
            _write(lines, name, labels, extra, [(at, value) for at in kept])
    for pod in pods:
        until = pod.end + KEPT_AFTER_END_SECONDS
        alive = [at for at in kept if pod.submit <= at < until]
        for name, labels, value_at in _pod_series(pod):
            samples = [(at, value_at(at)) for at in alive]
            _write(lines, name, labels, extra, [one for one in samples if one[1] is not None])
    blocks = [f"# TYPE {name} gauge\n{''.join(body)}" for name, body in lines.items()]
    return "".join(blocks) + "# EOF\n"


def _write(
    lines: dict[str, list[str]],
    name: str,
    labels: dict[str, str],
    extra: str,
    samples: Sequence[tuple[int, object]],
) -> None:
    text = ",".join(f'{key}="{value}"' for key, value in labels.items()) + extra
    lines.setdefault(name, []).extend(f"{name}{{{text}}} {value} {at}\n" for at, value in samples)


def _node_series(node: KsmNode) -> Iterator[tuple[str, dict[str, str]]]:
    for resource, amount in (*node.allocatable, ("pods", 110)):
        yield (
            "kube_node_status_allocatable",
            {"node": node.name, "resource": resource, "unit": "integer", "value": str(amount)},
        )
    product = {"node": node.name, "label_nvidia_com_gpu_product": node.product, "value": "1"}
    yield "kube_node_labels", product


def _pod_series(
    pod: KsmPod,
) -> Iterator[tuple[str, dict[str, str], Callable[[int], object]]]:
    own = {"namespace": "ml", "pod": pod.name, "uid": f"uid-{pod.name}"}
    container = {**own, "container": "main", "unit": "integer"}
    for resource, amount in pod.requests:
        asked = {**container, "resource": resource}
        yield (
            "kube_pod_container_resource_requests",
            asked,
            lambda at, amount=amount: amount if at < pod.start else None,
        )
        yield (
            "kube_pod_container_resource_requests",
            {**asked, "node": pod.node},
            lambda at, amount=amount: amount if pod.start <= at else None,
        )
    for phase in PHASES:
        yield "kube_pod_status_phase", {**own, "phase": phase}, _phase_is(pod, phase)
    yield (
        "kube_pod_status_reason",
        {**own, "reason": "SchedulingGated"},
        lambda at: int(at < pod.gated_until),
    )
    if pod.selected_product:
        wanted = {**own, "nodeselector_nvidia_com_gpu_product": pod.selected_product}
        yield "kube_pod_nodeselectors", wanted, lambda _: 1


def _phase_is(pod: KsmPod, phase: str) -> Callable[[int], object]:
    def value(at: int) -> int:
        now = "Pending" if at < pod.start else "Running" if at < pod.end else "Succeeded"
        return int(now == phase)

    return value
