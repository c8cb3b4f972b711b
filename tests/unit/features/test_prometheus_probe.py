"""What `doctor` is told of a Prometheus, and that it is told how to get what is missing."""

from collections.abc import Callable, Mapping

import pytest
import stamina

from features.sources.prometheus_connection import PrometheusConnection
from features.sources.prometheus_probe import PrometheusProbe, probe_prometheus
from features.sources.query_plan import Profile
from tests.fakes.prometheus_server import Asked, FakePrometheus, Reply, html, names, success

NOW = 1_767_571_200
RAW = {
    "kube_pod_container_resource_requests": ("namespace", "pod", "resource"),
    "kube_pod_status_phase": ("namespace", "pod", "phase"),
    "kube_node_status_allocatable": ("node", "resource"),
}
RULES = {"tidecast:last_scrape_timestamp_seconds": ("__name__",)}


def holding(
    series: Mapping[str, tuple[str, ...]],
    days: Mapping[str, int],
    resources: tuple[str, ...] = ("cpu", "nvidia_com_gpu"),
) -> Callable[[Asked], Reply]:
    """A Prometheus with these series, and scrapes since so many days by series."""

    def answers(asked: Asked) -> Reply:
        match = asked.parameters.get("match[]", "")
        if asked.path.endswith("/labels"):
            return names(series.get(match, ()))
        if asked.path.endswith("/values"):
            return names(resources)
        for name, count in days.items():
            query = asked.parameters["query"]
            if query.startswith((f"count({name}", f"time() - max({name}")):
                hours = range(NOW - count * 86_400, NOW + 1, 3_600)
                return success([{"metric": {}, "values": [[at, "5"] for at in hours]}])
        return success([])

    return answers


def probe(answers: Callable[[Asked], Reply]) -> PrometheusProbe:
    with FakePrometheus(answers) as fake, stamina.set_testing(True):
        return probe_prometheus(PrometheusConnection(fake.url), NOW)


def test_raw_metrics_are_usable_with_their_history() -> None:
    """kube-state-metrics alone is enough; what would make it better is listed with its remedy."""
    found = probe(holding(RAW, {"kube_node_status_allocatable": 20}))
    raw, rules = found.profiles
    assert (True, "", Profile.KUBE_STATE_METRICS) == (
        found.reachable,
        found.problem,
        found.recommended_profile,
    )
    assert (20 * 86_400, 1.0, None) == (
        found.history_seconds,
        found.observed_share,
        found.guessed_share,
    )
    assert (True, False) == (raw.usable, rules.usable)
    assert {
        "kube_node_labels{label_nvidia_com_gpu_product}": False,
        "kube_pod_nodeselectors{nodeselector_nvidia_com_gpu_product}": False,
        "kube_pod_status_reason": False,
    } == {one.name: one.needed for one in raw.missing}
    assert "--metric-labels-allowlist" in raw.missing[0].remedy
    assert "rules.yaml" in rules.missing[0].remedy


@pytest.mark.parametrize(
    ("days_of_rules", "expected"),
    [(19, Profile.RECORDING_RULES), (3, Profile.KUBE_STATE_METRICS)],
)
def test_rules_are_recommended_once_they_know_as_much(
    days_of_rules: int, expected: Profile
) -> None:
    """Cheap rules win, but not over a history that is much longer."""
    days = {
        "kube_node_status_allocatable": 20,
        "tidecast:last_scrape_timestamp_seconds": days_of_rules,
    }
    assert expected is probe(holding({**RAW, **RULES}, days)).recommended_profile


def test_a_needed_series_that_is_missing_makes_the_profile_unusable() -> None:
    """Without phases no demand can be told, and it is said what keeps them away."""
    found = probe(holding({k: v for k, v in RAW.items() if "phase" not in k}, {}))
    raw = found.profiles[0]
    assert not raw.usable
    assert ["kube_pod_status_phase"] == [one.name for one in raw.missing if one.needed]
    assert (None, Profile.CUSTOM) == (found.history_seconds, found.recommended_profile)


def test_gpus_that_are_not_counted_and_names_that_are_not_kept_are_noted() -> None:
    """Resources of other vendors and a scrape without honor_labels do not pass in silence."""
    series = {**RAW, "kube_pod_container_resource_requests": ("pod", "exported_pod", "resource")}
    found = probe(holding(series, {}, ("cpu", "amd_com_gpu", "nvidia_com_mig_1g_10gb")))
    assert any("honor_labels: true" in one for one in found.notes)
    assert any("not counted: amd_com_gpu;" in one for one in found.notes)


def test_no_prometheus_is_a_finding() -> None:
    """Another server, or none, is no exception but a problem in one line."""
    found = probe(lambda _: html(404))
    assert (False, ()) == (found.reachable, found.profiles)
    assert "has no Prometheus API" in found.problem
