"""Requests as a plan makes them, for tests of back ends."""

from dataclasses import replace
from typing import Any

from actuator.backends.back_end import Request
from actuator.policy import NodePoolPolicy


def request(back_end: str, options: dict[str, str], **changes: Any) -> Request:
    """A request for 3 nodes of 8 GPUs instead of 2, of which 1 is headroom."""
    made = Request(
        decision="2026-11-29T12:00Z/1",
        pool="a100/whole-node",
        shape="whole-node",
        node_pool=NodePoolPolicy("gpu-a", back_end, options=options),
        node_gpus=8,
        current_nodes=2,
        desired_nodes=3,
        headroom_nodes=1,
        headroom_gpus=8.0,
    )
    return replace(made, **changes)
