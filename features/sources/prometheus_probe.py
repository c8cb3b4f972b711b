"""What a Prometheus can tell us, and how to have it tell more: the findings behind `doctor`.

Findings are values; nothing is printed here, and no finding is an error. Whoever cannot be reached
is found not to be reachable.
"""

import re
from dataclasses import dataclass
from datetime import timedelta

from features.errors import BadInput, SourceUnavailable
from features.sources.pod_expressions import REQUESTS
from features.sources.prometheus import exported_series
from features.sources.prometheus_connection import PrometheusConnection
from features.sources.prometheus_http import PrometheusServer
from features.sources.prometheus_ranges import InstantRange
from features.sources.queries import KubeStateMetricsQueries, RecordingRuleQueries
from features.sources.query_plan import (
    STALE_AFTER_SECONDS,
    Exported,
    Profile,
    QueryPlan,
    QueryProfile,
)

LOOKED_AT_SECONDS = int(timedelta(days=1).total_seconds())
LONGEST_HISTORY_SECONDS = int(timedelta(days=90).total_seconds())
GUESSES_OVER_SECONDS = int(timedelta(days=7).total_seconds())
HOUR_SECONDS = 3_600
GPU_LIKE = re.compile(r"gpu|_mig_|gaudi|npu|neuron|_tpu|dcu|mlu", re.IGNORECASE)


@dataclass(frozen=True)
class MissingSeries:
    """Something that Prometheus does not have.

    Attributes:
        name: the series, with its label if the label is what is missing.
        needed: whether there is no demand without it.
        consequence: what is lost.
        remedy: how to get it.
    """

    name: str
    needed: bool
    consequence: str
    remedy: str


@dataclass(frozen=True)
class ProfileFinding:
    """How far one profile would get.

    Attributes:
        profile: its name.
        usable: whether everything that it needs is there.
        found: its series that are there.
        missing: what is not there.
        history_seconds: age of the oldest scrape, at most 90 days; 0 if there is none.
        observed_share: share of the hours since then that were scraped, 0 to 1.
    """

    profile: Profile
    usable: bool
    found: tuple[str, ...]
    missing: tuple[MissingSeries, ...]
    history_seconds: int = 0
    observed_share: float = 0.0


@dataclass(frozen=True)
class PrometheusProbe:
    """What was found.

    Attributes:
        url: where.
        reachable: whether a Prometheus answered.
        problem: why it did not, in one line; empty if it did.
        profiles: the findings per profile.
        recommended_profile: the profile to use; custom where no other is usable.
        history_seconds: history under that profile; None if there is none.
        observed_share: share of that history that was scraped; None if there is none.
        guessed_share: share of the last week's pending GPUs whose type was a guess, 0 to 1; None
            if nothing was pending, or nobody can tell.
        notes: what else to know, a line each.
    """

    url: str
    reachable: bool
    problem: str = ""
    profiles: tuple[ProfileFinding, ...] = ()
    recommended_profile: Profile = Profile.CUSTOM
    history_seconds: int | None = None
    observed_share: float | None = None
    guessed_share: float | None = None
    notes: tuple[str, ...] = ()


def probe_prometheus(
    connection: PrometheusConnection,
    now_seconds: int,
    queries: KubeStateMetricsQueries | None = None,
    stale_after_seconds: int = STALE_AFTER_SECONDS,
) -> PrometheusProbe:
    """Find out what a Prometheus holds, by a few cheap questions.

    Args:
        connection: where it is.
        now_seconds: Unix time up to which history counts.
        queries: the raw profile with the cluster's settings; the default ones if None.
        stale_after_seconds: age of the newest scrape from which on the state is not known.
    """
    server = PrometheusServer(connection)
    raw = queries or KubeStateMetricsQueries()
    rules = RecordingRuleQueries(raw.pods.selector)
    try:
        server.at("vector(1)", now_seconds)
        looked_at = (now_seconds - LOOKED_AT_SECONDS, now_seconds)
        exported = {one.profile: exported_series(server, one, *looked_at) for one in (raw, rules)}
        plans = {
            one.profile: one.plan(HOUR_SECONDS, exported[one.profile], stale_after_seconds)
            for one in (raw, rules)
        }
        findings = tuple(
            _finding(server, one, exported[one.profile], plans[one.profile], now_seconds)
            for one in (raw, rules)
        )
        best = _best(findings)
        notes = _notes(raw, exported[raw.profile])
        if best is None:
            return PrometheusProbe(connection.url, True, profiles=findings, notes=notes)
        plan = plans[best.profile]
        guessed = _guessed_share(server, plan, now_seconds)
    except (SourceUnavailable, BadInput) as error:
        return PrometheusProbe(connection.url, False, problem=str(error))
    return PrometheusProbe(
        url=connection.url,
        reachable=True,
        profiles=findings,
        recommended_profile=best.profile,
        history_seconds=best.history_seconds or None,
        observed_share=best.observed_share if best.history_seconds else None,
        guessed_share=guessed,
        notes=notes,
    )


def _finding(
    server: PrometheusServer,
    queries: QueryProfile,
    exported: Exported,
    plan: QueryPlan,
    now_seconds: int,
) -> ProfileFinding:
    missing = (
        _missing_rules(queries, exported)
        if isinstance(queries, RecordingRuleQueries)
        else _missing_raw(queries, exported)
    )
    usable = not any(one.needed for one in missing)
    history, share = 0, 0.0
    if usable:
        hours = LONGEST_HISTORY_SECONDS // HOUR_SECONDS
        first = now_seconds - hours * HOUR_SECONDS
        answer = server.range(plan.scraped, InstantRange(first, now_seconds, HOUR_SECONDS))
        seen = sorted({int(at) for one in answer for at in one.positions})
        if seen:
            history = (hours - seen[0]) * HOUR_SECONDS
            share = len(seen) / (hours - seen[0] + 1)
    return ProfileFinding(
        profile=queries.profile,
        usable=usable,
        found=tuple(one for one in queries.series if exported.has(one)),
        missing=tuple(missing),
        history_seconds=history,
        observed_share=share,
    )


def _best(findings: tuple[ProfileFinding, ...]) -> ProfileFinding | None:
    """The usable profile with the longest history; the rules, being cheap, if about as long."""
    usable = [one for one in findings if one.usable]
    longest = max((one.history_seconds for one in usable), default=0)
    long_enough = [one for one in usable if one.history_seconds >= 0.9 * longest]
    return long_enough[-1] if long_enough else None


def _guessed_share(server: PrometheusServer, plan: QueryPlan, now_seconds: int) -> float | None:
    span = InstantRange(now_seconds - GUESSES_OVER_SECONDS, now_seconds, HOUR_SECONDS)
    pending, guessed = (
        sum(float(one.values.sum()) for one in server.range(promql, span))
        for promql in (plan.pending_gpus, plan.guessed_gpus)
    )
    return guessed / pending if pending else None


def _missing_rules(queries: QueryProfile, exported: Exported) -> list[MissingSeries]:
    return [
        MissingSeries(
            name=series,
            needed=True,
            consequence="the profile recording-rules cannot be used",
            remedy="load deploy/prometheus/rules.yaml as a rule file; history begins then",
        )
        for series in queries.needed
        if not exported.has(series)
    ]


def _missing_raw(queries: QueryProfile, exported: Exported) -> list[MissingSeries]:
    missing = [
        MissingSeries(
            name=series,
            needed=True,
            consequence="demand cannot be told",
            remedy="scrape kube-state-metrics, and let its allow and deny lists keep this series",
        )
        for series in queries.needed
        if not exported.has(series)
    ]
    if isinstance(queries, KubeStateMetricsQueries):
        missing += [one for one in _wished_for(queries, exported) if one is not None]
    return missing


def _wished_for(
    queries: KubeStateMetricsQueries, exported: Exported
) -> tuple[MissingSeries | None, ...]:
    names = queries.pods.type_labels

    def missing(
        series: str, labels: list[str], consequence: str, remedy: str
    ) -> MissingSeries | None:
        if any(exported.has(series, label) for label in labels):
            return None
        shown = f"{series}{{{labels[0]}}}" if labels[0] else series
        return MissingSeries(shown, False, consequence, remedy)

    return (
        missing(
            "kube_node_labels",
            [f"label_{name}" for name in names],
            "nodes do not say their GPU type; it is DCGM's model name, or 'unknown'",
            "run kube-state-metrics with --metric-labels-allowlist=nodes=[nvidia.com/gpu.product]",
        ),
        missing(
            "kube_pod_nodeselectors",
            [f"nodeselector_{name}" for name in names],
            "pending pods do not say the GPU type they want, and it is guessed",
            "run kube-state-metrics with --metric-opt-in-list=kube_pod_nodeselectors",
        ),
        missing(
            "kube_pod_status_reason",
            [""],
            "pods that a scheduling gate (Kueue, a quota) holds back count as demand",
            "let kube-state-metrics export kube_pod_status_reason; it must know SchedulingGated",
        ),
    )


def _notes(queries: KubeStateMetricsQueries, exported: Exported) -> tuple[str, ...]:
    notes = []
    if exported.has(REQUESTS, "exported_pod"):
        notes.append(
            "pods are named in 'exported_pod': set honor_labels: true where kube-state-metrics is "
            "scraped, or every pod is taken for kube-state-metrics' own"
        )
    counted = re.compile(
        "|".join(
            (
                *queries.pods.gpu_resources,
                *(one.name_pattern for one in queries.pods.shared_resources),
            )
        )
    )
    other = [
        one
        for one in sorted(exported.resources)
        if GPU_LIKE.search(one) and not counted.fullmatch(one)
    ]
    if other:
        notes.append(
            f"these look like GPUs and are not counted: {', '.join(other)}; name them in the "
            "settings if they are"
        )
    return tuple(notes)
