"""What `doctor` looks at: is there a way from what is here to a forecast, and what is missing.

Looking changes nothing. What cannot be looked at is a finding of its own, never a failure.
"""

from collections.abc import Iterator
from typing import Literal

from features.baselines import BASELINE_DAYS, DAY_SECONDS
from features.errors import TidecastError
from features.sources.prometheus_probe import ProfileFinding, PrometheusProbe, probe_prometheus
from features.sources.queries import KubeStateMetricsQueries
from features.sources.query_plan import Profile
from forecaster.history import PoolHoldings
from forecaster.json_shapes import Check, DoctorAnswer
from forecaster.wiring import Workspace

_TRIED_SECONDS = 3600
_MANY_GUESSED = 0.05  # share of demand whose GPU type is guessed, above which forecasts suffer
_MANY_UNOBSERVED = 0.05

Status = Literal["ok", "warning", "problem"]


def examine(workspace: Workspace, now_seconds: int) -> DoctorAnswer:
    """Look at settings, Prometheus, history, calendar and models, in the order of their use."""
    checks = [
        *_prometheus_checks(workspace, now_seconds),
        *_history_checks(workspace),
        *_calendar_checks(workspace, now_seconds),
    ]
    return DoctorAnswer(ready=all(check.status != "problem" for check in checks), checks=checks)


def _check(name: str, status: Status, finding: str, remedy: str | None = None) -> Check:
    return Check(name=name, status=status, finding=finding, remedy=remedy)


def _prometheus_checks(workspace: Workspace, now_seconds: int) -> Iterator[Check]:
    settings = workspace.settings.prometheus
    if settings.url is None:
        yield _check(
            "prometheus",
            "warning",
            "no Prometheus is set",
            "set prometheus.url in tidecast.yaml or TIDECAST_PROMETHEUS__URL, or bring history "
            "from files with 'tidecast history import'",
        )
        return
    raw = KubeStateMetricsQueries(workspace.pod_settings)
    probe = probe_prometheus(
        workspace.prometheus_connection, now_seconds, raw, settings.stale_after_seconds
    )
    if not probe.reachable:
        yield _check(
            "prometheus",
            "problem",
            probe.problem,
            "check prometheus.url, and whether it can be reached from here",
        )
        return
    yield _check("prometheus", "ok", f"{probe.url} answers")
    if settings.profile is Profile.CUSTOM:
        yield from _custom_checks(workspace, now_seconds)
    else:
        yield from _profile_checks(probe, settings.profile)
        yield from _guess_checks(probe)
    for note in probe.notes:
        yield _check("prometheus", "warning", note)


def _custom_checks(workspace: Workspace, now_seconds: int) -> Iterator[Check]:
    """Only an answer shows whether PromQL of the user's own gives one."""
    step_seconds = workspace.settings.history.step_seconds
    try:
        answer = workspace.prometheus.demand(
            now_seconds - _TRIED_SECONDS, now_seconds, step_seconds
        )
    except TidecastError as error:
        yield _check("profile custom", "problem", str(error), "correct prometheus.custom")
        return
    for series in answer.series:
        steps = f"{int(series.observed.sum())} of {len(series)} steps of the last hour"
        known = bool(series.observed.any())
        yield _check(
            f"pool {series.pool}",
            "ok" if known else "problem",
            f"its demand is known in {steps}",
            None if known else "try its expression in Prometheus",
        )
    for warning in answer.warnings:
        yield _check("profile custom", "warning", warning)


def _profile_checks(probe: PrometheusProbe, chosen: Profile) -> Iterator[Check]:
    finding = next(one for one in probe.profiles if one.profile is chosen)
    name = f"profile {chosen}"
    if finding.usable:
        yield _check(name, "ok", "all that demand needs is there")
        yield _history_length_check(finding)
    for series in finding.missing:
        status: Status = "problem" if series.needed else "warning"
        yield _check(name, status, f"{series.name} is missing: {series.consequence}", series.remedy)
    better = probe.recommended_profile
    if better not in {chosen, Profile.CUSTOM}:
        yield _check(
            f"profile {better}",
            "warning",
            "it fits what this Prometheus holds better than the profile that is set",
            f"set prometheus.profile to {better}",
        )


def _history_length_check(finding: ProfileFinding) -> Check:
    days = finding.history_seconds / DAY_SECONDS
    said = f"{days:.1f} days, {finding.observed_share:.1%} of the hours scraped"
    if days < BASELINE_DAYS:
        return _check(
            "prometheus history",
            "warning",
            said,
            f"keep at least {BASELINE_DAYS} days there (--storage.tsdb.retention.time), or pull "
            "daily so that the store keeps them",
        )
    if finding.observed_share < 1 - _MANY_UNOBSERVED:
        return _check(
            "prometheus history",
            "warning",
            said,
            "look for outages of the scrape; gaps stay gaps and are not learned from",
        )
    return _check("prometheus history", "ok", said)


def _guess_checks(probe: PrometheusProbe) -> Iterator[Check]:
    if probe.guessed_share is None:
        return
    said = f"the type of {probe.guessed_share:.1%} of pending GPUs is guessed"
    if probe.guessed_share <= _MANY_GUESSED:
        yield _check("GPU types", "ok", said)
        return
    yield _check(
        "GPU types",
        "warning",
        said,
        "let kube-state-metrics export the node selectors or labels of pods that name the type, "
        "or set prometheus.pods.default_gpu_type",
    )


def _history_checks(workspace: Workspace) -> Iterator[Check]:
    try:
        holdings = workspace.store.describe()
    except TidecastError as error:
        yield _check("history", "problem", str(error))
        return
    for problem in holdings.problems:
        yield _check("history", "problem", problem)
    if not holdings.pools:
        yield _check(
            "history",
            "problem",
            f"{workspace.settings.data_directory} holds no history yet",
            "run 'tidecast history pull' or 'tidecast history import FILE'",
        )
    for pool in holdings.pools:
        yield _pool_check(pool)


def _pool_check(pool: PoolHoldings) -> Check:
    days = (pool.end_seconds - pool.start_seconds) / DAY_SECONDS
    finding = f"{days:.1f} days, {pool.observed_share:.1%} observed, {_gaps_text(pool)}"
    name = f"history {pool.pool}"
    if days < BASELINE_DAYS:
        return _check(
            name,
            "warning",
            finding,
            f"seasonal models want {BASELINE_DAYS} days; until then simpler ones answer",
        )
    if pool.observed_share < 1 - _MANY_UNOBSERVED:
        return _check(name, "warning", finding, "see the gaps with 'tidecast history show'")
    return _check(name, "ok", finding)


def _gaps_text(pool: PoolHoldings) -> str:
    return "1 gap" if len(pool.gaps) == 1 else f"{len(pool.gaps)} gaps"


def _calendar_checks(workspace: Workspace, now_seconds: int) -> Iterator[Check]:
    group = workspace.settings.calendar
    if not group.countries:
        yield _check(
            "calendar",
            "warning",
            f"time zone {group.time_zone}, no public holidays",
            "set calendar.time_zone and calendar.countries to where the cluster's people work",
        )
        return
    warnings = workspace.calendar.warnings(now_seconds)
    for warning in warnings:
        yield _check("calendar", "warning", warning)
    if not warnings:
        where = ", ".join(group.countries)
        yield _check("calendar", "ok", f"time zone {group.time_zone}, holidays of {where}")
