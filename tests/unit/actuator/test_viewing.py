"""Views: which nodes and jobs are whose, what is idle, and what is in doubt."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actuator.memory import Launch, Memory, NodePoolMemory
from actuator.policy import NodePoolPolicy, Policy, PoolPolicy
from actuator.state import CapacityType, ClusterState, Node, Pod, Protection, Waiting
from actuator.view import PoolView, WaitingJob
from actuator.viewing import pool_views
from tests.fakes.pool_views import FRAGMENT, NOW, WHOLE

H100 = PoolPolicy("h100", node_gpus=4, node_pools=(NodePoolPolicy("h100-nodes"),))
POLICY = Policy(1, (WHOLE, FRAGMENT, H100))
FOR_ROOM = Waiting.FOR_ROOM
NOTHING_YET = Memory()
NUMBERS = count()


def node(name: str = "n1", node_pool: str = "a100-whole", **changes: object) -> Node:
    """A ready node of 8 GPUs, two hours old, that does nothing."""
    plain = Node(
        name,
        node_pool,
        zone="z1",
        capacity_type=CapacityType.ON_DEMAND,
        created_seconds=NOW - 7200,
        gpus=8.0,
        ready=True,
        gpu_utilisation=0.0,
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


def pod(gpus: float, on: str | None = None, **changes: object) -> Pod:
    """A pod that stands alone; it waits for room where it is on no node."""
    name = f"team/pod-{next(NUMBERS)}"
    waiting = FOR_ROOM if on is None else None
    plain = Pod(name, name, 1, gpus, "a100", on, NOW - 60, waiting)
    return replace(plain, **changes)  # type: ignore[arg-type]


def gang(*sizes: float, job: str = "team/gang", **changes: object) -> list[Pod]:
    """Pods of one job that wait and must run together."""
    return [pod(size, job=job, job_pods=len(sizes), **changes) for size in sizes]


def views(
    nodes: Sequence[Node] = (),
    pods: Sequence[Pod] = (),
    memory: Memory = NOTHING_YET,
    policy: Policy = POLICY,
) -> dict[str, PoolView]:
    """The views of a cluster that was wholly seen just now."""
    return pool_views(ClusterState(NOW, tuple(nodes), tuple(pods), True), policy, memory, NOW)


def whole(nodes: Sequence[Node] = (), pods: Sequence[Pod] = ()) -> PoolView:
    """The view of the whole-node pool."""
    return views(nodes, pods)[WHOLE.pool]


def holders(found: dict[str, PoolView]) -> set[str]:
    """Pools that some job waits for."""
    return {name for name, view in found.items() if view.waiting}


def test_a_pool_without_anything_is_seen_as_empty() -> None:
    """Every pool of the policy has a view, and nothing is made up."""
    found = views()
    assert [WHOLE.pool, FRAGMENT.pool, "h100"] == list(found)
    view = found[WHOLE.pool]
    assert (0, 0.0, (), 1.0) == (view.current_nodes, view.demand_gpus, view.doubtful, 1.0)
    assert view.newest_submission_seconds is None


def test_nodes_and_their_pods_belong_to_the_pool_of_their_node_pool() -> None:
    """Whatever GPU type a pod names; nodes of other node pools are nobody's."""
    nodes = [node("n1"), node("n2", "a100-shared"), node("n3", "somebody-else")]
    pods = [pod(8.0, "n1"), pod(1.0, "n2", gpu_type="h100"), pod(0.5, "n2"), pod(8.0, "n3")]
    found = views(nodes, pods)
    assert (8.0, (0.0,), 1) == (
        found[WHOLE.pool].used_gpus,
        found[WHOLE.pool].free_gpus,
        found[WHOLE.pool].busy_nodes,
    )
    assert (1.5, (6.5,)) == (found[FRAGMENT.pool].used_gpus, found[FRAGMENT.pool].free_gpus)
    assert [1, 1, 0] == [view.current_nodes for view in found.values()]


def test_each_node_pool_of_a_pool_is_seen_on_its_own() -> None:
    """In the policy's order, with what is on it and on its way to it."""
    pool = replace(WHOLE, node_pools=(NodePoolPolicy("spot"), NodePoolPolicy("steady")))
    nodes = [node("n1", "steady"), node("n2", "steady"), node("n3", "spot")]
    memory = Memory(node_pools={"spot": NodePoolMemory(launches=(Launch(NOW, 2),))})
    view = views(nodes, [pod(4.0, "n1")], memory, Policy(1, (pool,)))[WHOLE.pool]
    spot, steady = view.node_pools
    assert ("spot", 1, 2, 0, 0.0) == (
        spot.name,
        spot.nodes,
        spot.ordered_nodes,
        spot.busy_nodes,
        spot.used_gpus,
    )
    assert ("steady", 2, 0, 1, 4.0) == (
        steady.name,
        steady.nodes,
        steady.ordered_nodes,
        steady.busy_nodes,
        steady.used_gpus,
    )
    assert (5, 2) == (view.current_nodes, view.arriving_nodes)


@pytest.mark.parametrize(
    ("sizes", "pool"),
    [
        ((8.0,), WHOLE.pool),
        ((7.999_999_9,), WHOLE.pool),
        ((7.0,), FRAGMENT.pool),
        ((1 / 7,), FRAGMENT.pool),
        ((8.0, 8.0), WHOLE.pool),
        ((1.0, 8.0), WHOLE.pool),
        ((4.0, 4.0), FRAGMENT.pool),
    ],
)
def test_waiting_jobs_belong_by_their_shape(sizes: tuple[float, ...], pool: str) -> None:
    """A gang of whole nodes takes its launcher with it; a gang of fragments is fragments."""
    found = views(pods=gang(*sizes))
    assert {pool} == holders(found)
    assert sizes == found[pool].waiting[0].pod_gpus


@pytest.mark.parametrize("gpus", [4.0, 0.5])
def test_a_mixed_pool_takes_both_shapes_of_its_type(gpus: float) -> None:
    """And no other type's."""
    assert {"h100"} == holders(views(pods=[pod(gpus, gpu_type="h100")]))


def test_a_job_that_nobody_serves_is_nobodys() -> None:
    """Another GPU type, or a shape that the policy has no pool for."""
    assert set() == holders(views(pods=[pod(8.0, gpu_type="v100")]))
    only_fragments = Policy(1, (FRAGMENT,))
    assert set() == holders(views(pods=[pod(8.0)], policy=only_fragments))


@pytest.mark.parametrize(("h100_nodes", "pool"), [(1, WHOLE.pool), (2, WHOLE.pool), (3, "h100")])
def test_a_job_that_names_no_type_goes_where_most_nodes_are(h100_nodes: int, pool: str) -> None:
    """Over both shapes of a type; of equal ones the first of the policy."""
    nodes = [node("n1"), node("n2", "a100-shared")]
    nodes += [node(f"h{number}", "h100-nodes") for number in range(h100_nodes)]
    assert {pool} == holders(views(nodes, [pod(8.0 if h100_nodes < 3 else 4.0, gpu_type="")]))


def test_jobs_wait_oldest_first_with_all_their_pods() -> None:
    """A job counts from its first pod."""
    pods = [
        pod(8.0, job="team/late", created_seconds=NOW - 10),
        *gang(8.0, 8.0, job="team/early", created_seconds=NOW - 30),
    ]
    pods[1] = replace(pods[1], created_seconds=NOW - 99)
    expected = (
        WaitingJob("team/early", (8.0, 8.0), NOW - 99),
        WaitingJob("team/late", (8.0,), NOW - 10),
    )
    view = whole(pods=pods)
    assert expected == view.waiting
    assert (24.0, NOW - 10) == (view.demand_gpus, view.newest_submission_seconds)


@pytest.mark.parametrize(
    ("one", "kind"),
    [
        (pod(8.0, waiting=Waiting.HELD_BY_QUOTA), Waiting.HELD_BY_QUOTA),
        (pod(8.0, waiting=Waiting.IMAGE_MISSING), Waiting.IMAGE_MISSING),
        (pod(8.0, waiting=Waiting.NO_SUCH_NODE), Waiting.NO_SUCH_NODE),
        (pod(9.0), Waiting.NO_SUCH_NODE),
    ],
)
def test_what_a_new_node_would_not_serve_is_counted_by_kind(one: Pod, kind: Waiting) -> None:
    """It is no demand, but it was submitted."""
    view = whole(pods=[one, pod(8.0)])
    assert {kind: 1} == view.not_servable
    assert 8.0 == view.demand_gpus
    assert 1 == len(view.waiting)


def test_a_pod_without_gpus_is_not_servable() -> None:
    """It needs no GPU node, whatever it is said to wait for."""
    assert {Waiting.NO_GPU: 1} == views(pods=[pod(0.0)])[FRAGMENT.pool].not_servable


def test_a_gang_is_held_by_what_holds_one_of_its_pods() -> None:
    """Nodes for the other three would stand empty."""
    pods = gang(8.0, 8.0, 8.0, 8.0)
    pods[2] = replace(pods[2], waiting=Waiting.HELD_BY_QUOTA)
    view = whole(pods=pods)
    assert ((), {Waiting.HELD_BY_QUOTA: 4}) == (view.waiting, view.not_servable)


def test_pods_that_need_not_run_together_wait_each_for_itself() -> None:
    """One of the two has room to wait for."""
    pods = [
        pod(8.0, job="team/set"),
        pod(8.0, job="team/set", waiting=Waiting.HELD_BY_QUOTA),
    ]
    view = whole(pods=pods)
    assert [(8.0,)] == [job.pod_gpus for job in view.waiting]
    assert {Waiting.HELD_BY_QUOTA: 1} == view.not_servable


def test_a_pod_of_which_it_is_not_known_why_it_waits_counts_as_demand() -> None:
    """Unknown is never nothing."""
    assert 8.0 == whole(pods=[pod(8.0, waiting=None)]).demand_gpus


def test_a_pod_on_a_node_that_cannot_start_holds_its_gpus_and_is_named() -> None:
    """Its image is missing, but its GPUs are taken."""
    view = whole([node("n1")], [pod(8.0, "n1", waiting=Waiting.IMAGE_MISSING)])
    assert (8.0, {Waiting.IMAGE_MISSING: 1}) == (view.used_gpus, view.not_servable)


def test_placeholders_are_no_demand_and_no_job() -> None:
    """Their node is free and idle, and they are no submission."""
    view = whole([node("n1")], [pod(8.0, "n1", placeholder=True), pod(8.0, placeholder=True)])
    assert (0.0, (8.0,), 0) == (view.demand_gpus, view.free_gpus, view.busy_nodes)
    assert ("n1",) == view.node_pools[0].idle_nodes
    assert view.newest_submission_seconds is None


@pytest.mark.parametrize(
    ("changes", "counted"),
    [
        ({}, (1, 0, 0)),
        ({"schedulable": False}, (1, 0, 0)),
        ({"gpus": 0.0, "created_seconds": NOW - 899}, (0, 1, 0)),
        ({"gpus": 0.0, "created_seconds": NOW - 900}, (0, 0, 0)),
        ({"warmed": False, "created_seconds": NOW - 60}, (0, 1, 0)),
        ({"ready": False}, (0, 0, 1)),
        ({"leaving": True}, (0, 0, 0)),
    ],
)
def test_a_node_counts_as_what_it_is_good_for(
    changes: dict[str, object], counted: tuple[int, int, int]
) -> None:
    """Capacity, arriving until it is overdue, unready; not at all once it leaves."""
    view = whole([node(**changes)])  # type: ignore[arg-type]
    assert counted == (view.capacity_nodes, view.arriving_nodes, view.unready_nodes)
    assert sum(counted) == view.node_pools[0].nodes
    overdue = changes.get("created_seconds") == NOW - 900
    assert int(overdue) == view.node_pools[0].overdue_nodes
    usable = counted[0] == 1 and changes.get("schedulable", True)
    assert (8.0 if usable else 0.0, (8.0,) if usable else ()) == (
        view.capacity_gpus,
        view.free_gpus,
    )


def test_a_node_that_lost_its_gpus_under_a_job_is_unready_not_overdue() -> None:
    """It is there, and nobody may think that a node less will do."""
    view = whole([node("n1", gpus=0.0)], [pod(8.0, "n1")])
    assert (0, 0, 1) == (view.capacity_nodes, view.arriving_nodes, view.unready_nodes)


def test_jobs_on_a_leaving_node_are_demand() -> None:
    """They run, or will want to run elsewhere."""
    view = whole([node("n1", leaving=True)], [pod(8.0, "n1")])
    assert (8.0, 0) == (view.demand_gpus, view.current_nodes)


def test_an_arriving_node_is_counted_once() -> None:
    """Three were asked for; one exists, two do not yet."""
    launch = Launch(NOW - 120, nodes=3, arriving=("n1",))
    memory = Memory(node_pools={"a100-whole": NodePoolMemory(launches=(launch,))})
    view = views([node("n1", gpus=0.0, created_seconds=NOW - 60)], memory=memory)[WHOLE.pool]
    assert (3, 3, 24.0) == (view.arriving_nodes, view.current_nodes, view.coming_gpus)
    assert 2 == view.node_pools[0].ordered_nodes


@pytest.mark.parametrize(
    "changes",
    [
        {"gpu_utilisation": None},
        {"gpu_utilisation": 0.2},
        {"gpu_utilisation": float("nan")},
        {"protections": (Protection("tidecast/protect", expires_seconds=NOW + 1),)},
        {"protections": (Protection("karpenter.sh/do-not-disrupt"),)},
        {"ready": False},
        {"leaving": True},
        {"gpus": 0.0, "created_seconds": NOW - 60},
    ],
)
def test_only_a_node_that_is_seen_to_do_nothing_is_idle(changes: dict[str, object]) -> None:
    """Unknown use, use, protection and anything but capacity keep it out."""
    assert () == whole([node(**changes)]).node_pools[0].idle_nodes  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "changes",
    [
        {"gpu_utilisation": 0.19},
        {"schedulable": False},
        {"protections": (Protection("tidecast/protect", expires_seconds=NOW),)},
    ],
)
def test_a_node_without_job_use_or_protection_is_idle(changes: dict[str, object]) -> None:
    """Cordoned or not, and a protection that has expired is none."""
    assert ("n1",) == whole([node(**changes)]).node_pools[0].idle_nodes  # type: ignore[arg-type]


@pytest.mark.parametrize("gpus", [8.0, 1.0, 0.0])
def test_a_node_with_a_job_is_never_idle(gpus: float) -> None:
    """However little it asks for and uses: it may be a part of a job on many nodes."""
    view = whole([node("n1"), node("n2")], [pod(gpus, "n1", job_pods=4)])
    assert ("n2",) == view.node_pools[0].idle_nodes
    assert 1 == view.busy_nodes


def test_idle_nodes_are_named_as_their_cloud_knows_them() -> None:
    """Where that is known."""
    nodes = [node("n1", provider_id="aws:///a/i-1"), node("n2"), node("n3", provider_id="i-3")]
    view = whole(nodes, [pod(8, "n3")])
    assert {"n1": "aws:///a/i-1"} == view.node_pools[0].provider_ids


def test_the_newest_idle_nodes_stand_first() -> None:
    """They have warmed least."""
    nodes = [node(f"n{age}", created_seconds=NOW - age) for age in (3000, 1000, 2000)]
    assert ("n1000", "n2000", "n3000") == whole(nodes).node_pools[0].idle_nodes


def test_fragments_know_how_well_they_pack() -> None:
    """Running and waiting ones together; whole nodes are always full."""
    nodes = [node("n1"), node("n2", "a100-shared")]
    pods = [pod(5.0, "n1"), pod(3.0, "n2"), pod(3.0), pod(3.0)]
    found = views(nodes, pods)
    assert pytest.approx(0.75, abs=0.001) == found[FRAGMENT.pool].fill_share
    assert 1.0 == found[WHOLE.pool].fill_share


@pytest.mark.parametrize(
    ("changes", "doubts"),
    [
        ({"taken_seconds": NOW - 300}, ()),
        ({"taken_seconds": NOW - 301}, ("the cluster was last seen 301 s ago",)),
        ({"synced": False}, ("the cluster is not wholly in view",)),
        ({"problems": ("no metrics of n1", "no pods")}, ("no metrics of n1", "no pods")),
    ],
)
def test_a_state_that_cannot_be_trusted_makes_every_view_doubtful(
    changes: dict[str, object], doubts: tuple[str, ...]
) -> None:
    """A line for each reason."""
    state = replace(ClusterState(NOW, (node(),), (), True), **changes)  # type: ignore[arg-type]
    found = pool_views(state, POLICY, Memory(), NOW)
    assert [doubts] * 3 == [view.doubtful for view in found.values()]


@given(
    st.lists(
        st.tuples(
            st.sampled_from([0.0, 0.5, 1.0, 3.0, 4.0, 8.0, 9.0]),
            st.sampled_from(["", "a100", "h100"]),
            st.sampled_from([None, "n1", "n2", "n3"]),
            st.sampled_from([None, *Waiting]),
        ),
        max_size=20,
    )
)
def test_every_pod_counts_in_exactly_one_place(
    drawn: list[tuple[float, str, str | None, Waiting | None]],
) -> None:
    """On its node, in a queue, or among those that no node would serve."""
    nodes = [node("n1"), node("n2", "a100-shared"), node("n3", "h100-nodes", gpus=4.0)]
    pods = [pod(gpus, on, gpu_type=kind, waiting=why) for gpus, kind, on, why in drawn]
    found = views(nodes, pods).values()
    queued = [one for one in pods if one.node is None]
    assert sum(one.gpus for one in pods if one.node) == sum(view.used_gpus for view in found)
    hindered = sum(1 for one in pods if one.node and one.waiting)
    waiting = sum(len(job.pod_gpus) for view in found for job in view.waiting)
    assert len(queued) + hindered == waiting + sum(
        pods for view in found for pods in view.not_servable.values()
    )
