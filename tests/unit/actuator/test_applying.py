"""Requests carry the headroom that no job takes, and one failure keeps nobody else waiting."""

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from actuator.applying import applied, requests_of
from actuator.backends.back_end import Outcome, Request, Standing
from actuator.plan import Mode, NodePoolTarget, PoolPlan
from actuator.policy import NodePoolPolicy, PoolPolicy
from actuator.view import NodePoolView, PoolView, WaitingJob

POOL = PoolPolicy("a100/whole-node", 8, (NodePoolPolicy("spot", "first"), NodePoolPolicy("safe")))


@dataclass
class Recording:
    """A back end that writes down what it is asked."""

    name: str
    asked: list[Request] = field(default_factory=list)

    def apply(self, request: Request) -> Outcome:
        """Done, always."""
        self.asked.append(request)
        return Outcome(Standing.DONE, "as asked", request.desired_nodes)


def view_of(*node_pools: NodePoolView, waiting_gpus: float = 0.0) -> PoolView:
    """A pool of these node pools."""
    waiting = (WaitingJob("ml/job", (waiting_gpus,), 0),) if waiting_gpus else ()
    nodes = sum(one.nodes for one in node_pools)
    return PoolView("a100/whole-node", 8, node_pools, nodes, 0, 0, 8.0 * nodes, 0, waiting=waiting)


def plan_of(*targets: NodePoolTarget) -> PoolPlan:
    """A plan with these targets."""
    desired = sum(one.desired_nodes for one in targets)
    return PoolPlan("a100/whole-node", Mode.PREDICTIVE, 0, desired, "forecast", (), targets=targets)


def test_headroom_is_what_no_job_takes() -> None:
    """Busy nodes are taken where they stand, waiting jobs on the first room there is."""
    view = view_of(
        NodePoolView("spot", 5, busy_nodes=4, used_gpus=32),
        NodePoolView("safe", 2, busy_nodes=1, used_gpus=8),
        waiting_gpus=16,
    )
    plan = plan_of(NodePoolTarget("spot", 5, 7), NodePoolTarget("safe", 2, 2))
    spot, safe = requests_of(plan, POOL, view, "d1")
    assert (1, 8.0) == (spot.headroom_nodes, spot.headroom_gpus)
    assert (1, 8.0) == (safe.headroom_nodes, safe.headroom_gpus)


def test_an_overdue_node_is_asked_for_and_is_no_headroom() -> None:
    """An absolute number without it would have the node pool take it for one that is wanted."""
    view = view_of(NodePoolView("spot", 2, busy_nodes=2, used_gpus=16, overdue_nodes=1))
    (spot,) = requests_of(plan_of(NodePoolTarget("spot", 2, 3)), POOL, view, "d1")
    assert (3, 4) == (spot.current_nodes, spot.desired_nodes)
    assert (1, 8.0) == (spot.headroom_nodes, spot.headroom_gpus)


def test_a_removable_node_is_named_as_its_cloud_knows_it() -> None:
    """Where that is known; nodes that stay are not named."""
    machines = {"gpu-1": "aws:///a/i-1", "gpu-2": "aws:///a/i-2"}
    view = view_of(NodePoolView("spot", 3, provider_ids=machines))
    plan = plan_of(NodePoolTarget("spot", 3, 1, removable_nodes=("gpu-2", "gpu-3")))
    (spot,) = requests_of(plan, POOL, view, "d1")
    assert {"gpu-2": "aws:///a/i-2"} == spot.provider_ids


def test_waiting_jobs_that_find_no_room_here_land_further_on() -> None:
    """Each waiting GPU is counted once."""
    view = view_of(NodePoolView("spot", 1), NodePoolView("safe", 3), waiting_gpus=16)
    plan = plan_of(NodePoolTarget("spot", 1, 1), NodePoolTarget("safe", 3, 3))
    spot, safe = requests_of(plan, POOL, view, "d1")
    assert (0, 2) == (spot.headroom_nodes, safe.headroom_nodes)


@given(
    desired=st.integers(0, 50), busy=st.integers(0, 60), waiting=st.floats(0, 500, allow_nan=False)
)
def test_headroom_is_never_negative_and_never_more_than_desired(
    desired: int, busy: int, waiting: float
) -> None:
    """Whatever jobs there are."""
    view = view_of(NodePoolView("spot", busy, busy_nodes=busy, used_gpus=8.0 * busy))
    view = view_of(*view.node_pools, waiting_gpus=waiting)
    (spot,) = requests_of(plan_of(NodePoolTarget("spot", busy, desired)), POOL, view, "d1")
    assert 0 <= spot.headroom_nodes <= desired
    assert 0 <= spot.headroom_gpus <= 8 * desired


def test_each_request_goes_to_its_back_end() -> None:
    """An unknown one is refused, and the others are still served."""
    view = view_of(NodePoolView("spot", 1), NodePoolView("safe", 1))
    plan = plan_of(NodePoolTarget("spot", 1, 2), NodePoolTarget("safe", 1, 2))
    back_end = Recording("dry_run")
    refused, done = applied(requests_of(plan, POOL, view, "d1"), {"dry_run": back_end})
    assert Standing.REFUSED is refused.outcome.standing
    assert "there is no back end 'first'; there are dry_run" == refused.outcome.detail
    assert Standing.DONE is done.outcome.standing
    assert ["safe"] == [one.node_pool.name for one in back_end.asked]
