"""Holds requests back so that an API server is never asked too often, however many threads ask.

It must never let a burst through after a pause: every second is counted on its own, and what a
server asks us to wait holds for all.
"""

import threading
from collections import deque
from collections.abc import Callable


class Pace:
    """Lets at most so many requests begin within any second."""

    def __init__(
        self,
        per_second: int,
        clock: Callable[[], float],
        wait: Callable[[float], object],
    ) -> None:
        """Start with nothing counted.

        Args:
            per_second: most requests in any second; at least 1.
            clock: seconds that only ever grow.
            wait: returns after so many seconds, or earlier when all is over.
        """
        self._clock = clock
        self._wait = wait
        self._begun: deque[float] = deque(maxlen=per_second)
        self._held_until = 0.0
        self._lock = threading.Lock()

    def take_turn(self) -> None:
        """Return when a request may begin."""
        with self._lock:
            now = self._clock()
            turn = max(now, self._held_until)
            if len(self._begun) == self._begun.maxlen:
                turn = max(turn, self._begun[0] + 1)
            self._begun.append(turn)
        if turn > now:
            self._wait(turn - now)

    def hold(self, seconds: float) -> None:
        """Let no further request begin for so long."""
        with self._lock:
            self._held_until = max(self._held_until, self._clock() + seconds)
