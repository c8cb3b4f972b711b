"""Tokens that were found to count, remembered for some seconds, so that a busy caller costs little.

A token that is revoked may thus still count for `FRESH_SECONDS`. Only its digest is remembered.
"""

from collections.abc import Callable
from hashlib import sha256

from fastapi.concurrency import run_in_threadpool

from forecaster.api.token_review import Verifies
from forecaster.database.tokens import Token

FRESH_SECONDS = 10
MOST_TOKENS = 1_000


class KnownTokens:
    """Tokens by their digest."""

    def __init__(self, tokens: Verifies, clock: Callable[[], int]) -> None:
        """Nothing is known yet.

        Args:
            tokens: says which count.
            clock: Unix time.
        """
        self._tokens, self._clock = tokens, clock
        self._known: dict[str, tuple[int, Token]] = {}

    async def verified(self, secret: str) -> Token | None:
        """The token that was given, if it counts."""
        now_seconds = self._clock()
        held = self._held(secret, now_seconds)
        if held is not None:
            return held
        found = await run_in_threadpool(self._tokens.verify, secret, now_seconds)
        if found is not None:
            if len(self._known) >= MOST_TOKENS:
                self._known.clear()
            self._known[_digest(secret)] = (now_seconds, found)
        return found

    def is_known(self, secret: str) -> bool:
        """Whether a token was lately found to count."""
        return self._held(secret, self._clock()) is not None

    def _held(self, secret: str, now_seconds: int) -> Token | None:
        at_seconds, token = self._known.get(_digest(secret), (0, None))
        is_fresh = 0 <= now_seconds - at_seconds < FRESH_SECONDS
        return token if token is not None and is_fresh and token.counts(now_seconds) else None


def _digest(secret: str) -> str:
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
