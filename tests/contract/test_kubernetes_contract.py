"""What we rely on of the Kubernetes API, held by a real one and by our fake alike."""

from collections.abc import Iterator

import pytest

from actuator.cluster.api_errors import Conflict, NotThere, Throttled
from features.errors import BadInput, SourceUnavailable
from tests.contract.kubernetes_api import DEPLOYMENTS, KINDS, PODS, Api, Json, kubernetes_api
from tests.fakes.kubernetes_bodies import pod_body

BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"


@pytest.fixture(params=KINDS)
def api(request: pytest.FixtureRequest) -> Iterator[Api]:
    with kubernetes_api(request.param) as made:
        yield made


def deployment(api: Api, **spec: object) -> Json:
    """A deployment that starts no pod."""
    labels = {"app": api.prefix}
    container = {"name": "pause", "image": "pause"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": api.prefix, "namespace": "default", "labels": labels},
        "spec": {
            "replicas": 0,
            "paused": True,
            "selector": {"matchLabels": labels},
            "template": template,
            **spec,
        },
    }


def pods(api: Api, count: int) -> list[str]:
    """Waiting pods of this test, by name."""
    names = [f"{api.prefix}-{number}" for number in range(count)]
    for number, name in enumerate(names):
        labels = {"test": api.prefix, "odd": str(number % 2)}
        spec = {"schedulerName": "nobody", "automountServiceAccountToken": False}
        api.create(PODS, pod_body(name, labels=labels, spec=spec))
    return names


def test_a_list_in_parts_is_one_list(api: Api) -> None:
    """All parts show the version at which it was begun."""
    names = pods(api, 5)
    pages = api.connection.pages(PODS, {"labelSelector": f"test={api.prefix}"}, limit=2)
    first = next(pages)
    api.delete(f"{PODS}/{names[4]}")
    rest = list(pages)
    shown = [one["metadata"]["name"] for page in (first, *rest) for one in page["items"]]
    assert names == shown
    assert [2, 2, 1] == [len(page["items"]) for page in (first, *rest)]


def test_selectors_leave_out_what_does_not_fit(api: Api) -> None:
    """Labels and fields, equal and unequal."""
    names = pods(api, 3)
    api.set_status(f"{PODS}/{names[0]}", {"phase": "Succeeded"})

    def listed(labels: str, fields: str = "") -> list[str]:
        selectors = {"labelSelector": f"test={api.prefix},{labels}", "fieldSelector": fields}
        return [one["metadata"]["name"] for one in api.connection.get(PODS, selectors)["items"]]

    unfinished = "status.phase!=Succeeded,status.phase!=Failed"
    assert [names[2]] == listed("odd=0", unfinished)
    assert [names[0]] == listed("odd in (0,1)", "status.phase=Succeeded")
    assert [names[1]] == listed("odd notin (0),!missing")


def test_a_watch_tells_what_changed_for_its_selector(api: Api) -> None:
    """What leaves the selection is deleted for the watcher."""
    version = api.connection.get(PODS)["metadata"]["resourceVersion"]
    names = pods(api, 2)
    api.set_status(f"{PODS}/{names[0]}", {"phase": "Failed"})
    api.delete(f"{PODS}/{names[1]}")
    parameters = {
        "resourceVersion": version,
        "labelSelector": f"test={api.prefix}",
        "fieldSelector": "status.phase!=Failed",
        "allowWatchBookmarks": "true",
    }
    seen: dict[str, list[str]] = {name: [] for name in names}
    for event in api.connection.watch(PODS, parameters, 2):
        if event["type"] == "BOOKMARK":
            assert event["object"]["metadata"]["resourceVersion"]
            continue
        kinds = seen[event["object"]["metadata"]["name"]]
        if event["type"] not in kinds:
            kinds.append(event["type"])
    assert {"ADDED", "DELETED"} == set(seen[names[0]]) - {"MODIFIED"}
    assert ("ADDED", "DELETED") == (seen[names[1]][0], seen[names[1]][-1])


def test_applying_creates_then_changes_then_does_nothing(api: Api) -> None:
    """Doing it twice is doing it once, to the version."""
    path = api.remember(f"{DEPLOYMENTS}/{api.prefix}")
    first = api.connection.apply(path, deployment(api), "one")
    again = api.connection.apply(path, deployment(api), "one")
    more = api.connection.apply(path, deployment(api, minReadySeconds=3), "one")
    versions = [one["metadata"]["resourceVersion"] for one in (first, again, more)]
    assert versions[0] == versions[1] != versions[2]
    assert (3, 1, 2) == (
        more["spec"]["minReadySeconds"],
        again["metadata"]["generation"],
        more["metadata"]["generation"],
    )


def test_another_managers_field_is_a_conflict_unless_forced(api: Api) -> None:
    """And what a manager no longer names goes, unless somebody else owns it."""
    path = api.remember(f"{DEPLOYMENTS}/{api.prefix}")
    api.connection.apply(path, deployment(api, minReadySeconds=3), "one")
    part = {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 2}}
    with pytest.raises(Conflict, match="conflict"):
        api.connection.apply(path, part, "two")
    assert 2 == api.connection.apply(path, part, "two", force=True)["spec"]["replicas"]
    without = deployment(api)
    del without["spec"]["replicas"]
    left = api.connection.apply(path, without, "one")
    assert 2 == left["spec"]["replicas"]
    assert not left["spec"].get("minReadySeconds")


def test_an_object_read_too_long_ago_cannot_be_written(api: Api) -> None:
    """Neither replaced nor patched; without a version it can."""
    (name,) = pods(api, 1)
    path = f"{PODS}/{name}"
    old = api.connection.get(path)
    api.connection.merge(path, {"metadata": {"labels": {"a": "1"}}}, "one")
    with pytest.raises(Conflict, match="modified"):
        api.connection.request("PUT", path, {}, old)
    stale = {"resourceVersion": old["metadata"]["resourceVersion"], "labels": {"a": "2"}}
    with pytest.raises(Conflict, match="modified"):
        api.connection.merge(path, {"metadata": stale}, "one")
    assert "1" == api.connection.get(path)["metadata"]["labels"]["a"]


def test_a_merge_patch_adds_changes_and_removes(api: Api) -> None:
    """Null takes away; what is not named stays."""
    (name,) = pods(api, 1)
    patch = {"metadata": {"labels": {"odd": None, "new": "1"}}}
    labels = api.connection.merge(f"{PODS}/{name}", patch, "one")["metadata"]["labels"]
    assert {"test": api.prefix, "new": "1"} == labels


def test_the_scale_of_an_object_is_its_replicas(api: Api) -> None:
    """Absolute, readable and writable."""
    api.create(DEPLOYMENTS, deployment(api))
    path = f"{DEPLOYMENTS}/{api.prefix}"
    assert 0 == api.connection.get(f"{path}/scale")["spec"].get("replicas", 0)
    scaled = api.connection.merge(f"{path}/scale", {"spec": {"replicas": 4}}, "one")
    assert ("Scale", 4) == (scaled["kind"], scaled["spec"]["replicas"])
    assert 4 == api.connection.get(path)["spec"]["replicas"]


def test_the_status_is_written_by_itself(api: Api) -> None:
    """A write to the object leaves its status, and one to its status leaves the rest."""
    (name,) = pods(api, 1)
    path = f"{PODS}/{name}"
    api.set_status(path, {"phase": "Running"})
    api.connection.merge(path, {"status": {"phase": "Failed"}}, "one")
    assert "Running" == api.connection.get(path)["status"]["phase"]


def test_a_dry_run_changes_nothing(api: Api) -> None:
    """It is answered as if it had."""
    parameters = {"dryRun": "All"}
    made = api.connection.request("POST", DEPLOYMENTS, parameters, deployment(api))
    assert api.prefix == made["metadata"]["name"]
    with pytest.raises(NotThere):
        api.connection.get(f"{DEPLOYMENTS}/{api.prefix}")


def test_a_name_is_given_once(api: Api) -> None:
    """The second creation is a conflict, which tells that the first one happened."""
    api.create(DEPLOYMENTS, deployment(api))
    with pytest.raises(Conflict, match="already exists"):
        api.create(DEPLOYMENTS, deployment(api))


def test_what_is_not_served_is_not_there(api: Api) -> None:
    """As of an extension that nobody has installed."""
    for path in ("/apis/nowhere.example.com/v1/things", f"{PODS}/{api.prefix}-nobody"):
        with pytest.raises(NotThere):
            api.connection.get(path)


def test_an_eviction_asks_the_disruption_budget(api: Api) -> None:
    """While it allows none the pod stays; without it the pod goes."""
    (name,) = pods(api, 1)
    labels = {"test": api.prefix}
    budget: Json = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": api.prefix, "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": labels}},
    }
    api.set_status(f"{PODS}/{name}", {"phase": "Running"})
    api.create(BUDGETS, budget)
    eviction = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": name, "namespace": "default"},
    }
    with pytest.raises(Throttled):
        api.connection.request("POST", f"{PODS}/{name}/eviction", {}, eviction)
    assert name == api.connection.get(f"{PODS}/{name}")["metadata"]["name"]
    api.delete(f"{BUDGETS}/{api.prefix}")
    api.connection.request("POST", f"{PODS}/{name}/eviction", {}, eviction)
    with pytest.raises(NotThere):
        api.connection.get(f"{PODS}/{name}")


def test_deleting_the_wrong_one_is_refused(api: Api) -> None:
    """A precondition names the object that is meant."""
    (name,) = pods(api, 1)
    meant = {"preconditions": {"uid": "00000000-0000-0000-0000-000000000000"}}
    with pytest.raises(Conflict):
        api.connection.request("DELETE", f"{PODS}/{name}", {}, meant)
    assert name == api.connection.get(f"{PODS}/{name}")["metadata"]["name"]


def test_applying_for_nobody_is_refused(api: Api) -> None:
    """Every field has an owner with a name."""
    with pytest.raises((BadInput, SourceUnavailable)):
        api.connection.apply(f"{DEPLOYMENTS}/{api.prefix}", deployment(api), "")
