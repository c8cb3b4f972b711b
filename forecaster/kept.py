"""What one cycle keeps for the next, as one value, and a twin of its store in memory.

Everything in it can be lost without harm: timers then start anew, and what is asked for again is
the same absolute number. It must hold nothing that only it knows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from actuator.memory import Memory
from actuator.provisioning import ProvisioningRecord


@dataclass(frozen=True)
class Asserted:
    """What a node pool was last asked to have.

    Attributes:
        at_seconds: Unix time at which it was asked.
        desired_nodes: nodes it was to have.
        headroom_nodes: of these, nodes that no job took.
        headroom_gpus: GPUs that no job took.
    """

    at_seconds: int
    desired_nodes: int
    headroom_nodes: int
    headroom_gpus: float


@dataclass(frozen=True)
class Kept:
    """What one cycle keeps for the next.

    Attributes:
        memory: timers, orders and failures.
        provisioning: how long nodes took to come, by node pool.
        asserted: what each node pool was last asked to have, by its name.
        recorded: by pool, the last decision that went on record, so that a hold that lasts is
            recorded once.
        failed_launches: nodes that could not even be asked for, by node pool.
    """

    memory: Memory = field(default_factory=Memory)
    provisioning: ProvisioningRecord = field(default_factory=ProvisioningRecord)
    asserted: Mapping[str, Asserted] = field(default_factory=dict)
    recorded: Mapping[str, str] = field(default_factory=dict)
    failed_launches: Mapping[str, int] = field(default_factory=dict)


@dataclass
class KeptInMemory:
    """Keeps it as long as the process lives; for plans, dry runs and tests.

    Attributes:
        kept: what the last cycle left.
    """

    kept: Kept = field(default_factory=Kept)

    def load(self) -> Kept:
        """What the last cycle left."""
        return self.kept

    def save(self, kept: Kept) -> None:
        """Keep it until the process ends."""
        self.kept = kept
