"""Requests that are made again: the same key gets the same answer, and nothing is done twice.

A request is written down before its work and answered after it. Whoever makes something on its
behalf names it after the key (`name_after`): if the process dies in between, the next attempt
finds what was made instead of making it again.
"""

import hashlib
from typing import Any

from sqlalchemy import delete, insert, select, update

from features.errors import BadInput
from forecaster.database.database import Database
from forecaster.database.tables import IDEMPOTENCY_KEYS

KEEP_SECONDS = 86_400
ABANDONED_SECONDS = 60
"""A request that has no answer after so long has died, and may be made again."""

LONGEST_KEY = 255
_COLUMNS = IDEMPOTENCY_KEYS.c


class KeyReused(BadInput):
    """The key came before, with another request."""


class StillWorking(BadInput):
    """The same request is being answered right now."""


class IdempotencyKeys:
    """Requests and their answers by who made them and key."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, owner: str, key: str, request_digest: str, now_seconds: int) -> Any | None:
        """Write a request down.

        Args:
            owner: who makes it; keys of two owners are never the same.
            key: as the caller gave it, 1 to 255 characters.
            request_digest: the same for two requests that ask the same.
            now_seconds: Unix time.

        Returns:
            The answer that it got before; None if it is to be answered now.

        Raises:
            KeyReused: the key came with another request.
            StillWorking: another process or thread is answering it.
            BadInput: the key is empty or too long.
        """
        if not 1 <= len(key) <= LONGEST_KEY:
            raise BadInput(f"an Idempotency-Key has 1 to {LONGEST_KEY} characters")
        own = (_COLUMNS.owner == owner) & (_COLUMNS.key == key)
        with self._database.writing() as connection:
            row = connection.execute(select(IDEMPOTENCY_KEYS).where(own)).one_or_none()
            if row is not None and row.made_seconds > now_seconds - KEEP_SECONDS:
                if row.request_digest != request_digest:
                    raise KeyReused(
                        "this Idempotency-Key came before with another request; give a new one"
                    )
                if row.document is not None:
                    return row.document
                if row.made_seconds > now_seconds - ABANDONED_SECONDS:
                    raise StillWorking("the same request is being answered; ask again in a moment")
            connection.execute(delete(IDEMPOTENCY_KEYS).where(own))
            connection.execute(
                insert(IDEMPOTENCY_KEYS).values(
                    owner=owner,
                    key=key,
                    request_digest=request_digest,
                    made_seconds=now_seconds,
                )
            )
        return None

    def answer(self, owner: str, key: str, document: Any) -> None:
        """Keep the answer of a request; any JSON value but null."""
        own = (_COLUMNS.owner == owner) & (_COLUMNS.key == key)
        with self._database.writing() as connection:
            connection.execute(update(IDEMPOTENCY_KEYS).where(own).values(document=document))

    def forget(self, owner: str, key: str) -> None:
        """Let a request that failed be made again with the same key."""
        own = (_COLUMNS.owner == owner) & (_COLUMNS.key == key)
        with self._database.writing() as connection:
            connection.execute(delete(IDEMPOTENCY_KEYS).where(own, _COLUMNS.document.is_(None)))

    def prune(self, now_seconds: int) -> int:
        """Remove requests older than a day; gives how many went."""
        old = delete(IDEMPOTENCY_KEYS).where(_COLUMNS.made_seconds <= now_seconds - KEEP_SECONDS)
        with self._database.writing() as connection:
            return connection.execute(old).rowcount


def name_after(owner: str, key: str) -> str:
    """The name of what a request with this key makes: the same each time, and nobody else's."""
    return hashlib.sha256(f"{len(owner)} {owner} {key}".encode()).hexdigest()[:16]
