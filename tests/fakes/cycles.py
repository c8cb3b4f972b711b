"""What a cycle talks to, in memory: a cluster that is told, and parts that remember."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from actuator.audit import AuditEvent, EventStanding, abandoned, closed
from actuator.backends.back_end import Outcome, Request, Standing
from actuator.deciding import Surroundings
from actuator.outlook import Foreseen
from actuator.policy import Policy
from actuator.state import ClusterState
from forecaster.cycle import Parts
from forecaster.kept import KeptInMemory
from tests.fakes.clusters import WHOLE, busy_cluster, flat, policy


@dataclass
class ToldCluster:
    """Says what it was told, as of whenever it is asked."""

    told: Callable[[int], ClusterState]

    def state(self, now_seconds: int) -> ClusterState:
        """What it was told."""
        return self.told(now_seconds)


@dataclass
class RecordingBackEnd:
    """Keeps one absolute number per node pool, as the world does, and counts its changes."""

    name: str = "recording"
    nodes: dict[str, int] = field(default_factory=dict)
    asked: list[Request] = field(default_factory=list)
    changes: int = 0
    standing: Standing = Standing.DONE

    def apply(self, request: Request) -> Outcome:
        """Set the number, or fail as it was told to."""
        self.asked.append(request)
        if self.standing not in (Standing.DONE, Standing.UNVERIFIED):
            return Outcome(self.standing, "as it was told")
        if self.nodes.get(request.node_pool.name) == request.desired_nodes:
            return Outcome(Standing.UNCHANGED, "already so", request.desired_nodes)
        self.nodes[request.node_pool.name] = request.desired_nodes
        self.changes += 1
        return Outcome(self.standing, "asked", request.desired_nodes)


@dataclass
class RecordInMemory:
    """Keeps events as the database does."""

    events: dict[str, AuditEvent] = field(default_factory=dict)

    def append_all(self, events: Sequence[AuditEvent]) -> tuple[AuditEvent, ...]:
        """Keep those that are new; give each as it is on record."""
        return tuple(self.events.setdefault(one.identifier, one) for one in events)

    def close_all(
        self, outcomes: Mapping[str, tuple[Outcome, ...]], now_seconds: int
    ) -> tuple[str, ...]:
        """Close those that are open."""
        names = [name for name in outcomes if self._is_open(name)]
        for name in names:
            self.events[name] = closed(self.events[name], outcomes[name], now_seconds)
        return tuple(names)

    def abandon(self, identifier: str, now_seconds: int) -> bool:
        """Give it up if it is open."""
        was_open = self._is_open(identifier)
        if was_open:
            self.events[identifier] = abandoned(self.events[identifier], now_seconds)
        return was_open

    def open_events(self) -> tuple[AuditEvent, ...]:
        """Those that are open, oldest first."""
        return tuple(self.events[name] for name in sorted(self.events) if self._is_open(name))

    def _is_open(self, identifier: str) -> bool:
        return self.events[identifier].standing is EventStanding.OPEN


@dataclass
class Stage:
    """The parts of a cycle, each of which a test may change."""

    cluster: ToldCluster = field(
        default_factory=lambda: ToldCluster(lambda now: busy_cluster(10, 0, now))
    )
    policies: list[Policy] = field(default_factory=lambda: [policy()])
    foreseen: Callable[[int], Foreseen] = lambda now: flat(80, origin_seconds=now)
    kept: KeptInMemory = field(default_factory=KeptInMemory)
    record: RecordInMemory = field(default_factory=RecordInMemory)
    back_end: RecordingBackEnd = field(default_factory=RecordingBackEnd)

    def parts(self) -> Parts:
        """As a cycle takes them."""
        return Parts(
            cluster=self.cluster,
            policies=lambda: self.policies,
            surroundings=lambda _, now: Surroundings({WHOLE: self.foreseen(now)}),
            kept=self.kept,
            record=self.record,
            back_ends={self.back_end.name: self.back_end},
        )
