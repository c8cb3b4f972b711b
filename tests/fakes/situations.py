"""Proposals and the situations in which guards judge them: a calm one, and Hypothesis's ideas."""

from dataclasses import replace

from hypothesis import strategies as st

from actuator.guards.guard import Situation
from actuator.memory import PoolMemory
from actuator.plan import Mode, Proposal
from actuator.policy import GuardPolicy, NodePoolPolicy, PoolPolicy
from actuator.view import NodePoolView, PoolView

NOW = 1_700_000_000
NODE_POOLS = (NodePoolPolicy("spot-a", capacity_type="spot"), NodePoolPolicy("demand-b"))
MOST_NODES = 40


def proposed(current_nodes: int, desired_nodes: int) -> Proposal:
    """A proposal by forecast."""
    return Proposal(current_nodes, desired_nodes, Mode.PREDICTIVE, "need")


def calm(nodes: int, idle: int = 0) -> Situation:
    """A pool of 8-GPU nodes of which some have long been idle: nothing speaks against less."""
    names = tuple(f"node-{number}" for number in range(idle))
    long_ago = NOW - 86_400
    pool = PoolPolicy("a100/whole-node", 8, NODE_POOLS, ceiling_nodes=MOST_NODES)
    view = PoolView(
        pool=pool.pool,
        node_gpus=8,
        node_pools=(NodePoolView("spot-a", nodes, idle_nodes=names), NodePoolView("demand-b", 0)),
        capacity_nodes=nodes,
        arriving_nodes=0,
        unready_nodes=0,
        capacity_gpus=8.0 * nodes,
        used_gpus=0.0,
    )
    memory = PoolMemory(
        quiet_since_seconds=long_ago, idle_since_seconds=dict.fromkeys(names, long_ago)
    )
    return Situation(NOW, GuardPolicy(), pool, view, memory, floor_nodes=0, need_gpus=0.0)


def seen(situation: Situation, **changes: object) -> Situation:
    """The same with other figures in the view."""
    return replace(situation, view=replace(situation.view, **changes))


def remembered(situation: Situation, **changes: object) -> Situation:
    """The same with other timers."""
    return replace(situation, memory=replace(situation.memory, **changes))


_WHEN = st.none() | st.integers(NOW - 7200, NOW + 60)
_GPUS = st.floats(0, 8 * MOST_NODES) | st.just(float("nan"))


@st.composite
def node_pool_views(draw: st.DrawFn, name: str) -> NodePoolView:
    """A node pool with some of its nodes idle."""
    nodes = draw(st.integers(0, 12))
    idle = draw(st.integers(0, nodes))
    return NodePoolView(
        name,
        nodes,
        ordered_nodes=draw(st.integers(0, 3)),
        idle_nodes=tuple(f"{name}-{number}" for number in range(idle)),
    )


@st.composite
def views(draw: st.DrawFn, pool: PoolPolicy) -> PoolView:
    """A pool whose nodes add up; its GPUs may be anything, known or not."""
    node_pools = tuple(draw(node_pool_views(one.name)) for one in pool.node_pools)
    nodes = sum(one.nodes for one in node_pools)
    unready = draw(st.integers(0, nodes))
    arriving = draw(st.integers(0, nodes - unready))
    return PoolView(
        pool=pool.pool,
        node_gpus=pool.node_gpus,
        node_pools=node_pools,
        capacity_nodes=nodes - unready - arriving,
        arriving_nodes=arriving + sum(one.ordered_nodes for one in node_pools),
        unready_nodes=unready,
        capacity_gpus=draw(_GPUS),
        used_gpus=draw(_GPUS),
        doubtful=draw(st.sampled_from([(), (), ("not synced",)])),
    )


@st.composite
def memories(draw: st.DrawFn, view: PoolView) -> PoolMemory:
    """Timers that may or may not run."""
    names = [name for one in view.node_pools for name in one.idle_nodes]
    since = {name: draw(_WHEN) for name in names}
    return PoolMemory(
        quiet_since_seconds=draw(_WHEN),
        idle_since_seconds={name: at for name, at in since.items() if at is not None},
        scaled_up_seconds=draw(_WHEN),
        scaled_down_seconds=draw(_WHEN),
    )


@st.composite
def situations(draw: st.DrawFn) -> Situation:
    """Any situation, half of them so calm that a scale-down may come through."""
    if draw(st.booleans()):
        nodes = draw(st.integers(0, 20))
        return replace(
            calm(nodes, draw(st.integers(0, nodes))),
            floor_nodes=draw(st.integers(0, 20)),
            need_gpus=draw(st.floats(0, 160)),
        )
    own_floor, floor, ceiling = sorted(draw(st.tuples(*[st.integers(0, MOST_NODES)] * 3)))
    pool = PoolPolicy(
        "a100/whole-node",
        draw(st.sampled_from([1, 4, 8])),
        NODE_POOLS,
        floor_nodes=own_floor,
        ceiling_nodes=ceiling,
    )
    view = draw(views(pool))
    return Situation(
        now_seconds=NOW,
        policy=GuardPolicy(step_limit_share=draw(st.floats(0, 1))),
        pool=pool,
        view=view,
        memory=draw(memories(view)),
        floor_nodes=floor,
        need_gpus=draw(st.none() | _GPUS | st.just(float("inf"))),
    )


@st.composite
def judged(draw: st.DrawFn) -> tuple[Proposal, Situation]:
    """A proposal and the situation it is made in."""
    situation = draw(situations())
    return proposed(situation.view.current_nodes, draw(st.integers(0, 60))), situation
