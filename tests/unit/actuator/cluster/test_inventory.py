"""What objects cannot tell alone: how large their jobs are, and whether any node pool fits."""

from hypothesis import given, settings
from hypothesis import strategies as st

from actuator.cluster.inventory import HeldNodes, HeldPods
from actuator.cluster.objects import ObjectReader
from actuator.cluster.read_settings import ReadSettings
from actuator.state import Pod, Waiting
from tests.fakes.kubernetes_bodies import TYPE_LABEL, Json, node_body, pod_body

READER = ObjectReader(ReadSettings())
A100 = {TYPE_LABEL: frozenset({"A100"})}


def nodes(*bodies: Json) -> HeldNodes:
    """These nodes."""
    held = HeldNodes(READER, {})
    for body in bodies:
        held.put(body)
    return held


def pods(*bodies: Json) -> HeldPods:
    """These pods."""
    held = HeldPods(READER)
    for body in bodies:
        held.put(body)
    return held


def wanting(name: str, gpu_type: str) -> Json:
    """A pod that wants one GPU type."""
    return pod_body(name, spec={"nodeSelector": {TYPE_LABEL: gpu_type}})


def test_pods_of_a_job_count_each_other() -> None:
    """As they come and go, all of them know."""
    held = pods(*(pod_body(f"w-{n}", owner=("Job", "train")) for n in range(3)))
    assert [3, 3, 3] == [one.job_pods for one in held.all(())]
    held.drop(pod_body("w-0"))
    assert [2, 2] == [one.job_pods for one in held.all(())]
    held.put(pod_body("w-1", node="n", phase="Succeeded", owner=("Job", "train")))
    assert [1] == [one.job_pods for one in held.all(())]


def test_a_pod_that_fits_no_node_pool_waits_for_no_room() -> None:
    """It is judged anew when node pools become known or change."""
    held = pods(wanting("fits", "A100"), wanting("fits-not", "H100"), pod_body("any"))
    for_room = [Waiting.FOR_ROOM] * 3
    assert for_room == [one.waiting for one in held.all(())]
    expected = [Waiting.FOR_ROOM, Waiting.NO_SUCH_NODE, Waiting.FOR_ROOM]
    assert expected == [one.waiting for one in held.all((A100,))]
    assert for_room == [one.waiting for one in held.all((A100, {}))]


def test_a_pod_once_bound_is_judged_no_more() -> None:
    """Where it runs is proof enough."""
    bound = pod_body("p", node="n", spec={"nodeSelector": {TYPE_LABEL: "H100"}, "nodeName": "n"})
    assert [None] == [one.waiting for one in pods(bound).all((A100,))]


def test_pods_without_gpus_are_counted_while_they_wait() -> None:
    """No state holds them, and nobody need wonder where they are."""
    held = pods(pod_body("cpu", gpus=0), pod_body("runs", gpus=0, node="n"), pod_body("gpu"))
    assert 1 == held.waiting_without_gpus
    held.put(pod_body("cpu", gpus=0, node="n"))
    assert 0 == held.waiting_without_gpus


def test_node_pools_are_known_by_all_labels_that_their_nodes_have_had() -> None:
    """But not by the names of single nodes, nor by nodes that are not labelled in full yet."""
    named = {"kubernetes.io/hostname": "a", "zone": "1"}
    held = nodes(
        node_body("a", labels=named), node_body("b", labels={"zone": "2"}), node_body("c", gpus=0)
    )
    held.drop(node_body("a"))
    known = held.pool_labels()["a100-spot"]
    assert frozenset({"1", "2"}) == known["zone"]
    assert not known.get("kubernetes.io/hostname")
    assert {} == nodes(node_body("c", gpus=0)).pool_labels()


def test_a_node_pool_without_nodes_is_remembered() -> None:
    """A list that begins anew knows what the one before knew."""
    before = nodes(node_body("a", labels={"zone": "1"}))
    after = HeldNodes(READER, before.pool_labels())
    assert frozenset({"1"}) == after.pool_labels()["a100-spot"]["zone"]


def test_what_cannot_be_read_is_a_problem_until_it_can() -> None:
    """The rest is still there."""
    broken = node_body("b")
    broken["metadata"]["creationTimestamp"] = "yesterday"
    held = nodes(node_body("a"), broken)
    assert ["a"] == [one.name for one in held.all()]
    assert "node 'b' cannot be read" in held.problems()[0]
    held.put(node_body("b"))
    assert (2, ()) == (len(held.all()), held.problems())


def test_many_problems_are_named_in_part() -> None:
    """A page of them helps nobody."""
    bodies = [node_body(f"n-{number}") for number in range(9)]
    for body in bodies:
        del body["metadata"]["creationTimestamp"]
    problems = nodes(*bodies).problems()
    assert (4, "and 6 more like it") == (len(problems), problems[-1])


CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "c", "d"]),
        st.sampled_from(["gone", "ended", "waits", "other type", "runs", "no gpus"]),
        st.sampled_from(["x", "y"]),
        st.booleans(),
    ),
    max_size=30,
)


@given(CHANGES)
@settings(max_examples=50, deadline=None)
def test_changes_one_by_one_give_what_reading_anew_gives(
    changes: list[tuple[str, str, str, bool]],
) -> None:
    """Whatever is remembered between events changes no answer."""
    held, last = HeldPods(READER), dict[str, Json]()
    for name, kind, job, is_looked_at in changes:
        body = pod_body(
            name,
            owner=("Job", job),
            gpus=0 if kind == "no gpus" else 1,
            node="n" if kind == "runs" else None,
            phase="Failed" if kind == "ended" else "",
            spec={"nodeSelector": {TYPE_LABEL: "H100"}} if kind == "other type" else {},
        )
        if kind == "gone":
            held.drop(body)
            last.pop(name, None)
        else:
            held.put(body)
            last[name] = body
        if is_looked_at:
            held.all((A100,))

    def by_name(pod: Pod) -> str:
        return pod.name

    anew = pods(*last.values())
    assert sorted(anew.all((A100,)), key=by_name) == sorted(held.all((A100,)), key=by_name)
    assert anew.waiting_without_gpus == held.waiting_without_gpus
