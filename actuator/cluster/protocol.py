"""The protocol behind which every view of a cluster stands."""

from typing import Protocol

from actuator.state import ClusterState


class Cluster(Protocol):
    """Anything that knows what a cluster looks like now."""

    def state(self, now_seconds: int) -> ClusterState:
        """The cluster as far as it is known; what is not known stands in its problems.

        Raises:
            BadInput: it cannot be used at all as it is configured.
        """
        ...
