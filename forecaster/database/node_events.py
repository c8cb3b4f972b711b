"""Nodes that sites said they have lost, until they say that these are back or a day is over.

One JSON value by name holds them all: there are few, and they are soon forgotten.
"""

from collections.abc import Mapping

from forecaster.database.cycle_memory import NEVER_WRITTEN, CycleMemory, Overtaken
from forecaster.database.database import Database

NAME = "lost-nodes"
KEPT_SECONDS = 86_400
ATTEMPTS = 5


class NodeEvents:
    """Lost nodes by name."""

    def __init__(self, database: Database) -> None:
        self._memory = CycleMemory(database)

    def lost(self, now_seconds: int) -> Mapping[str, int]:
        """Unix times at which nodes were lost, by name."""
        found = self._memory.read(NAME)
        return {} if found is None else _fresh(found.document, now_seconds)

    def node_lost(self, node: str, now_seconds: int) -> None:
        """Note that a node is lost.

        Raises:
            Overtaken: others kept writing meanwhile.
        """
        self._change(node, now_seconds, now_seconds)

    def node_joined(self, node: str, now_seconds: int) -> None:
        """Note that a node is there, or there again.

        Raises:
            Overtaken: others kept writing meanwhile.
        """
        self._change(node, None, now_seconds)

    def _change(self, node: str, lost_seconds: int | None, now_seconds: int) -> None:
        for attempt in range(1, ATTEMPTS + 1):
            found = self._memory.read(NAME)
            version = NEVER_WRITTEN if found is None else found.version
            lost = {} if found is None else _fresh(found.document, now_seconds)
            lost.pop(node, None)
            if lost_seconds is not None:
                lost[node] = lost_seconds
            try:
                self._memory.write(NAME, lost, version)
            except Overtaken:
                if attempt == ATTEMPTS:
                    raise
            else:
                return


def _fresh(document: Mapping[str, int], now_seconds: int) -> dict[str, int]:
    return {name: at for name, at in document.items() if now_seconds - at < KEPT_SECONDS}
