"""Small made-up clusters: nodes, pods, what is foreseen of them, and a policy that sizes them."""

from collections.abc import Sequence

from actuator.outlook import Foreseen, Outlook, Trust
from actuator.policy import NodePoolPolicy, OperatingMode, Policy, PoolPolicy
from actuator.state import CapacityType, ClusterState, Node, Pod, Waiting

NOW = 1_767_614_400  # 2026-01-05T12:00:00Z, a Monday
MINUTE = 60
HOUR = 3_600
WHOLE = "a100/whole-node"
FRAGMENT = "a100/fragment"
LONG_AGO = NOW - 24 * HOUR


def node(name: str, node_pool: str = "np-whole", **changes: object) -> Node:
    """A node of 8 GPUs that has long been capacity and is not used."""
    known: dict[str, object] = {
        "zone": "zone-a",
        "capacity_type": CapacityType.ON_DEMAND,
        "created_seconds": LONG_AGO,
        "gpus": 8.0,
        "ready": True,
        "gpu_utilisation": 0.0,
    }
    return Node(name, node_pool, **{**known, **changes})  # type: ignore[arg-type]


def pod(name: str, on: str | None, gpus: float = 8.0, **changes: object) -> Pod:
    """A pod that stands alone and runs on a node, or waits for room where that is None."""
    known: dict[str, object] = {
        "job": f"ml/{name}",
        "job_pods": 1,
        "gpus": gpus,
        "gpu_type": "a100",
        "node": on,
        "created_seconds": LONG_AGO,
        "waiting": None if on else Waiting.FOR_ROOM,
    }
    return Pod(f"ml/{name}", **{**known, **changes})  # type: ignore[arg-type]


def cluster(
    nodes: Sequence[Node],
    pods: Sequence[Pod] = (),
    now_seconds: int = NOW,
    problems: tuple[str, ...] = (),
) -> ClusterState:
    """A state that is synced unless something is wrong with it."""
    return ClusterState(now_seconds, tuple(nodes), tuple(pods), not problems, problems)


def busy_cluster(busy: int, idle: int, now_seconds: int = NOW) -> ClusterState:
    """So many nodes with a job of 8 GPUs each, and so many with none."""
    nodes = [node(f"node-{number}") for number in range(busy + idle)]
    return cluster(nodes, [pod(f"job-{n}", f"node-{n}") for n in range(busy)], now_seconds)


def policy(**changes: object) -> Policy:
    """One whole-node pool that one node pool serves, and that may be acted on."""
    known: dict[str, object] = {
        "pool": WHOLE,
        "node_gpus": 8,
        "node_pools": (NodePoolPolicy("np-whole", back_end="recording"),),
        "mode": OperatingMode.ACT,
        "ceiling_nodes": 40,
    }
    return Policy(1, (PoolPolicy(**{**known, **changes}),))  # type: ignore[arg-type]


def flat(
    demand_gpus: float,
    peak_gpus: float | None = None,
    origin_seconds: int = NOW,
    trust: Trust = Trust.TRUST,
) -> Foreseen:
    """A forecast that stays where it is for an hour, with a peak of its own."""
    outlook = Outlook(
        origin_seconds=origin_seconds,
        step_seconds=300,
        quantile=0.9,
        path_gpus=(demand_gpus,) * 12,
        peak_gpus=demand_gpus if peak_gpus is None else peak_gpus,
        peak_seconds=1_800,
        reference=f"{WHOLE} from {origin_seconds} by combined 1",
    )
    return Foreseen(outlook, "", trust, "" if trust is Trust.TRUST else "poor coverage")
