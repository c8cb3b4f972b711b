"""What people and sites say of a cluster makes a plan more careful, never bolder."""

from actuator.deciding import Surroundings, decide, observed
from actuator.memory import Memory
from actuator.plan import PoolPlan
from actuator.state import ClusterState, Protection, Waiting
from forecaster.overlaid_cluster import OverlaidCluster, Overlay
from tests.fakes.clusters import LONG_AGO, NOW, WHOLE, busy_cluster, flat, policy
from tests.fakes.cycles import ToldCluster

MARK = Protection("tidecast", "ada", "debugging")


def laid_over(overlay: Overlay) -> ClusterState:
    """Ten busy nodes and two idle ones, with what is said of them."""
    told = ToldCluster(lambda now: busy_cluster(10, 2, now))
    return OverlaidCluster(told, lambda _: overlay).state(NOW)


def plan_of(state: ClusterState) -> PoolPlan:
    """What is then planned for the pool."""
    rules = policy()
    seen = observed(state, rules, Memory(), {}, NOW)
    return decide(seen, Surroundings({WHOLE: flat(76)}), rules).pools[0]


def test_marks_are_added_to_those_there_are() -> None:
    """On nodes and on pods."""
    state = laid_over(Overlay({"node-11": MARK}, {"ml/job-3": MARK}, {}))
    assert ["node-11"] == [node.name for node in state.nodes if node.protections]
    assert ["ml/job-3"] == [pod.name for pod in state.pods if pod.protections]


def test_a_lost_node_is_no_capacity_and_its_job_waits() -> None:
    """At once, whatever the API still shows; and the plan answers it in the same cycle."""
    state = laid_over(Overlay({}, {}, {"node-0": NOW}))
    (waiting,) = [pod for pod in state.pods if pod.node is None]
    assert (11, Waiting.FOR_ROOM) == (len(state.nodes), waiting.waiting)
    assert plan_of(laid_over(Overlay({}, {}, {}))).desired_nodes == 12
    assert (11, 12) == (plan_of(state).current_nodes, plan_of(state).desired_nodes)


def test_a_node_that_came_after_the_loss_is_there() -> None:
    """Names come again."""
    state = laid_over(Overlay({}, {}, {"node-0": LONG_AGO - 1}))
    assert 12 == len(state.nodes)
