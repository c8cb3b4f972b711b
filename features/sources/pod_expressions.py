"""The PromQL that makes GPUs per pod out of kube-state-metrics, written once.

The raw profile asks it over a span; `deploy/prometheus/rules.yaml` records it as time goes by, and
a test holds that both are the same. No expression may drop a pod because something else about it
is not known.

What counts as demand, and why the expressions are as they are:

- A pod is told apart by namespace and name, and each of its series is reduced to those by `max`.
  That folds the copies of an HA pair of Prometheus, of a second kube-state-metrics and of a pod
  made anew under its old name, however gappy a copy is and whatever its replica label is called.
- A pod that has a node is running: it holds its GPUs, even while it pulls its image. One without
  is pending. Finished pods, pods behind a scheduling gate (Kueue and other quotas) and
  placeholders are taken out with `unless`, so that a series which is not exported makes demand too
  high and never too low. A job that Kueue suspends has no pods at all.
- A pod that asks for at least as many GPUs as its type's largest node has is whole-node. Pods that
  ask for MIG slices or shares are fragments.
- Over a span, pods are counted by type and size, and `pool_columns.py` makes demand, queue and
  shapes of the counts. PromQL has no name for a part of an expression, so that each further sum
  would have the server join all pods anew.
- The type of a running pod is its node's. A pending pod's comes from its node selector, its label,
  the default type, or else the type that the cluster has most nodes of; the last two are guesses.
- A pod behind a gate is counted apart, by the pool it would join: while it is there, that pool's
  demand is more than what is seen. Without `kube_pod_status_reason` nobody can tell such pods, so
  that they are demand, and none is hidden.
- A submission is a pod that was not there when the step opened. `kube_pod_created` is not used: it
  follows the API server's clock, and it loses pods made between the last scrape and the close.
"""

import re
from dataclasses import dataclass, field

from features.sources.pod_settings import PodSettings
from features.sources.promql import (
    copied,
    counted_by_value,
    first_of,
    labelled,
    quoted,
    without,
)
from features.sources.query_plan import Exported, PodCount, PodState, PodUnit

POD = "namespace, pod"
REQUESTS = "kube_pod_container_resource_requests"
PHASE = "kube_pod_status_phase"
ALLOCATABLE = "kube_node_status_allocatable"
UNKNOWN_TYPE = "unknown"
LONGEST_MODEL_NAME_BLANKS = 4


@dataclass(frozen=True)
class PodExpressions:
    """GPUs per node and per pod in PromQL, for one cluster's settings and series.

    Attributes:
        settings: what the cluster calls things.
        exported: what Prometheus holds, so that nothing else is asked for; None asks for all.
        recorded_node_types: name under which `node_types` is recorded; empty if it is not.
    """

    settings: PodSettings = field(default_factory=PodSettings)
    exported: Exported | None = None
    recorded_node_types: str = ""

    def always_scraped(self) -> str:
        """A series that is there whenever the cluster was scraped: every one has such a node."""
        return self._series(ALLOCATABLE, 'resource="pods"')

    def node_types(self) -> str:
        """1 for each GPU node, with `node` and `gpu_type`."""
        if self.recorded_node_types:
            return self.recorded_node_types
        ways = [
            copied(self._series("kube_node_labels", f'{label}!=""'), "gpu_type", label)
            for label in (f"label_{name}" for name in self.settings.type_labels)
            if self._has("kube_node_labels", label)
        ]
        if self.settings.dcgm_metric and self._has(self.settings.dcgm_metric, "modelName"):
            ways.append(self._dcgm_types())
        one_each = [f"topk by (node) (1, group by (node, gpu_type) ({way}))" for way in ways]
        nodes = self._series(ALLOCATABLE, f"resource=~{quoted(self._any_resource())}")
        unnamed = labelled(f"group by (node) ({nodes})", "gpu_type", UNKNOWN_TYPE)
        return first_of([*one_each, unnamed], "node")

    def node_gpus(self) -> str:
        """Allocatable GPUs of each node, with `node` and `gpu_type`; a slice is a part."""
        counted = [
            f"max by (node, resource) ({self._series(ALLOCATABLE, matcher)}){parts}"
            for matcher, parts in (self._whole_units(), *self._shared_units())
        ]
        gpus = f"sum by (node) ({first_of(counted)})"
        return f"{gpus} * on (node) group_left (gpu_type) {self.node_types()}"

    def capacity(self) -> str:
        """Allocatable GPUs of ready, schedulable nodes by type (and by shape, if nodes say it)."""
        unfit = {
            "kube_node_spec_unschedulable": "{} == 1",
            "kube_node_status_condition": "{} == 0",
        }
        matchers = {"kube_node_status_condition": ('condition="Ready"', 'status="true"')}
        tests = [
            test.format(self._series(series, *matchers.get(series, ())))
            for series, test in unfit.items()
            if self._has(series)
        ]
        nodes = without(self.node_gpus(), tests, "node")
        label = f"label_{self.settings.node_shape_label}"
        if not self.settings.node_shape_label:
            return f"sum by (gpu_type) ({nodes})"
        shapes = copied(self._series("kube_node_labels", f'{label}!=""'), "shape", label)
        return (
            f"sum by (gpu_type, shape) (({nodes})\n"
            f"* on (node) group_left (shape) group by (node, shape) ({shapes}))"
        )

    def counts(self, step_seconds: int) -> tuple[PodCount, ...]:
        """How many pods run, wait, are new in a step or held by a quota, by what they ask for.

        A pod that comes counts when its gate opens, and even if it has finished before the step
        closes.
        """
        before = f" offset {step_seconds}s"
        requests = self._series(REQUESTS, *self._pods_with(self._any_resource())) + before
        known = without(requests, self._set_aside(before), POD)
        asked = (
            (PodState.RUNNING, self.running_pods(), self.left_out()),
            (PodState.PENDING, self.pending_pods(), self.left_out()),
            (PodState.ARRIVED, self._all_pods(), [*self._set_aside(), known]),
            (PodState.HELD, self.held_pods(), self.never_demand()),
        )
        return tuple(
            PodCount(state, unit, counted_by_value(without(pods, left_out, POD), "gpus"))
            for state, by_unit, left_out in asked
            for unit, pods in zip(PodUnit, by_unit, strict=True)
            if pods
        )

    def _all_pods(self) -> tuple[str, str]:
        both = zip(self.running_pods(), self.pending_pods(), strict=True)
        gpus, slices = ([one for one in pair if one] for pair in both)
        return first_of(gpus), first_of(slices) if slices else ""

    def pending_gpus(self) -> str:
        """GPUs of all pending pods."""
        return f"sum ({without(self._pending_either(), self.left_out(), POD)})"

    def guessed_gpus(self) -> str:
        """GPUs of pending pods whose type is a guess."""
        left_out = [*self.left_out(), *self.told_types()]
        return f"sum ({without(self._pending_either(), left_out, POD)})"

    def _pending_either(self) -> str:
        return first_of([one for one in self.pending_pods() if one])

    def running_pods(self) -> tuple[str, str]:
        """Whole GPUs and slices of pods on nodes, with `namespace`, `pod` and `gpu_type`."""
        gpus, slices = self._gpus_of_pods(f"{POD}, node", 'node!=""')
        match = f"* on (node) group_left (gpu_type) {self.node_types()}"
        return f"{gpus} {match}", f"{slices} {match}" if slices else ""

    def pending_pods(self) -> tuple[str, str]:
        """The same of pods that have no node yet."""
        placed = self._series(REQUESTS, *self._pods_with(self._any_resource(), 'node!=""'))
        match = f"* on ({POD}) group_left (gpu_type) {self._pending_types()}"
        gpus, slices = (
            f"({without(one, [placed], POD)}) {match}" if one else ""
            for one in self._gpus_of_pods(POD, 'node=""')
        )
        return gpus, slices

    def held_pods(self) -> tuple[str, str]:
        """The same of pods behind a scheduling gate; empty where no series tells of gates."""
        if not self._has("kube_pod_status_reason"):
            return "", ""
        match = f"* on ({POD}) group_left (gpu_type) {self._pending_types()}"
        gpus, slices = (
            f"({one} and on ({POD}) ({self._gated()})) {match}" if one else ""
            for one in self._gpus_of_pods(POD, 'node=""')
        )
        return gpus, slices

    def _pending_types(self) -> str:
        """1 for each pod without a node, with `namespace`, `pod` and `gpu_type`."""
        pods = f"group by ({POD}) ({self._waiting()})"
        default = self.settings.default_gpu_type
        if self.exported is not None:
            default = default or self.exported.commonest_type or UNKNOWN_TYPE
        if default:
            guesses = [labelled(pods, "gpu_type", default)]
        else:
            most = f"group by (gpu_type) (topk (1, count by (gpu_type) ({self.node_types()})))"
            guesses = [
                f"{pods} * on () group_left (gpu_type) {most}",
                labelled(pods, "gpu_type", UNKNOWN_TYPE),
            ]
        return first_of([*self.told_types(), *guesses], POD)

    def told_types(self) -> list[str]:
        """The ways in which pending pods say the type they want: node selectors, then labels."""
        said = [
            (series, f"{prefix}_{name}")
            for series, prefix in (
                ("kube_pod_nodeselectors", "nodeselector"),
                ("kube_pod_labels", "label"),
            )
            for name in self.settings.type_labels
        ]
        # To write a label anew costs far more than to match one, so it is done for few pods.
        waiting = f" and on ({POD}) {self._waiting()}"
        typed = [
            copied(self._series(series, f'{label}!=""') + waiting, "gpu_type", label)
            for series, label in said
            if self._has(series, label)
        ]
        return [f"topk by ({POD}) (1, group by ({POD}, gpu_type) ({one}))" for one in typed]

    def _waiting(self) -> str:
        """What pods without a node ask for."""
        return self._series(REQUESTS, *self._pods_with(self._any_resource(), 'node=""'))

    def left_out(self) -> list[str]:
        """Pods that are no demand: finished, behind a scheduling gate, or placeholders."""
        return [self._finished(), *self._set_aside()]

    def never_demand(self) -> list[str]:
        """Pods that are none even when their gate opens: finished, or placeholders."""
        return [self._finished(), *self._placeholders()]

    def _set_aside(self, before: str = "") -> list[str]:
        gated = [self._gated(before)] if self._has("kube_pod_status_reason") else []
        return [*gated, *self._placeholders(before)]

    def _finished(self) -> str:
        return self._series(PHASE, 'phase=~"Succeeded|Failed|Unknown"') + " == 1"

    def _gated(self, before: str = "") -> str:
        gated = self._series("kube_pod_status_reason", 'reason="SchedulingGated"')
        return f"{gated}{before} == 1"

    def _placeholders(self, before: str = "") -> list[str]:
        classes = self.settings.placeholder_priority_classes
        if not (classes and self._has("kube_pod_info", "priority_class")):
            return []
        return [self._series("kube_pod_info", f"priority_class=~{quoted(classes)}") + before]

    def _gpus_of_pods(self, labels: str, matcher: str) -> tuple[str, str]:
        """GPUs that pods ask for whole, and in parts; the second is empty if nobody does."""
        (whole, _), *shared = self._whole_units(), *self._shared_units()
        per_container = f"max by ({labels}, container, resource)"
        requests = [
            f"{per_container} ({self._series(REQUESTS, unit, *self._pods(matcher))}){parts}"
            for unit, parts in ((whole, ""), *shared)
        ]
        in_parts = f"sum by ({labels}) ({first_of(requests[1:])})" if shared else ""
        return f"sum by ({labels}) ({requests[0]})", in_parts

    def _pods(self, *matchers: str) -> tuple[str, ...]:
        names = self.settings.placeholder_pods
        return (*matchers, f"pod!~{quoted(names)}") if names else matchers

    def _pods_with(self, resources: str, *matchers: str) -> tuple[str, ...]:
        return self._pods(f"resource=~{quoted(resources)}", *matchers)

    def _any_resource(self) -> str:
        return "|".join((*self.settings.gpu_resources, *(one for one, _ in self._shared_kinds())))

    def _whole_units(self) -> tuple[str, str]:
        return f"resource=~{quoted('|'.join(self.settings.gpu_resources))}", ""

    def _shared_units(self) -> list[tuple[str, str]]:
        """Matcher and factor of each kind of part."""
        return [(f"resource=~{quoted(one)}", f" * {gpus}") for one, gpus in self._shared_kinds()]

    def _shared_kinds(self) -> list[tuple[str, float]]:
        """Pattern and size of each kind of part that anybody asks for or has."""
        kinds = [(one.name_pattern, one.gpus) for one in self.settings.shared_resources]
        if self.exported is None:
            return kinds
        names: dict[float, list[str]] = {}
        for resource in sorted(self.exported.resources):
            fits = [gpus for pattern, gpus in kinds if re.fullmatch(pattern, resource)]
            if fits:
                names.setdefault(fits[0], []).append(re.escape(resource))
        return [("|".join(group), gpus) for gpus, group in names.items()]

    def _dcgm_types(self) -> str:
        """Types by DCGM, which writes blanks where the node label has dashes."""
        series = self._series(self.settings.dcgm_metric, 'modelName!=""')
        named = copied(copied(series, "node", "Hostname"), "node", "hostname")
        typed = copied(named, "gpu_type", "modelName")
        for _ in range(LONGEST_MODEL_NAME_BLANKS):
            typed = f'label_replace({typed}, "gpu_type", "$1-$2", "gpu_type", "([^ ]+) (.+)")'
        return typed

    def _has(self, series: str, label: str = "") -> bool:
        return self.exported is None or self.exported.has(series, label)

    def _series(self, name: str, *matchers: str) -> str:
        kept = [one for one in (*matchers, self.settings.selector) if one]
        return f"{name}{{{', '.join(kept)}}}" if kept else name
