"""Who may call the API: tokens, of which only the SHA-256 is kept, and what each one allows.

A token is shown once, when it is made. It is 256 bits of chance, so a plain digest keeps it; a
stolen database opens nothing.
"""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, insert, select, update

from features.errors import BadInput
from forecaster.database.database import Database
from forecaster.database.refusals import NotThere
from forecaster.database.tables import TOKENS
from forecaster.scopes import Scope

PREFIX = "tidecast"
LONGEST_NAME = 100
LONGEST_TOKEN = 200
_COLUMNS = TOKENS.c
_NO_DIGEST = "0" * 64


@dataclass(frozen=True)
class Token:
    """A token as it is kept: everything but the token.

    Attributes:
        identifier: the part of it that may be shown.
        name: whose it is, or what for.
        scopes: what it allows.
        made_seconds: Unix time at which it was made.
        expires_seconds: Unix time from which it no longer counts; None for never.
        revoked_seconds: Unix time at which it was revoked; None if it was not.
    """

    identifier: str
    name: str
    scopes: frozenset[Scope]
    made_seconds: int
    expires_seconds: int | None = None
    revoked_seconds: int | None = None

    def counts(self, now_seconds: int) -> bool:
        """Whether it is neither revoked nor expired."""
        expired = self.expires_seconds is not None and self.expires_seconds <= now_seconds
        return self.revoked_seconds is None and not expired


@dataclass(frozen=True)
class NewToken:
    """A token that was just made.

    Attributes:
        token: what is kept of it.
        secret: the token itself, which nobody can be shown again.
    """

    token: Token
    secret: str


class Tokens:
    """Tokens by identifier."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(
        self,
        name: str,
        scopes: frozenset[Scope],
        now_seconds: int,
        expires_seconds: int | None = None,
    ) -> NewToken:
        """Make a token.

        Raises:
            BadInput: no name or no scope, or it would have expired already.
        """
        _check(name, scopes, now_seconds, expires_seconds)
        identifier = secrets.token_hex(8)
        secret = f"{PREFIX}_{identifier}_{secrets.token_urlsafe(32)}"
        with self._database.writing() as connection:
            connection.execute(
                insert(TOKENS).values(
                    identifier=identifier,
                    name=name,
                    digest=_digest(secret),
                    made_seconds=now_seconds,
                    expires_seconds=expires_seconds,
                    document={"scopes": sorted(scopes)},
                )
            )
        return NewToken(Token(identifier, name, scopes, now_seconds, expires_seconds), secret)

    def tokens(self) -> tuple[Token, ...]:
        """All of them, newest first."""
        wanted = select(TOKENS).order_by(_COLUMNS.made_seconds.desc(), _COLUMNS.identifier)
        with self._database.reading() as connection:
            return tuple(_token(row) for row in connection.execute(wanted))

    def revoke(self, identifier: str, now_seconds: int) -> Token:
        """Let a token count no more; one that was revoked before stays as it was.

        Raises:
            NotThere: there is no such token.
        """
        own = _COLUMNS.identifier == identifier
        with self._database.writing() as connection:
            connection.execute(
                update(TOKENS)
                .where(own, _COLUMNS.revoked_seconds.is_(None))
                .values(revoked_seconds=now_seconds)
            )
            row = connection.execute(select(TOKENS).where(own)).one_or_none()
        if row is None:
            raise NotThere(f"there is no token {identifier[:40]!r}; 'tidecast token list' has all")
        return _token(row)

    def verify(self, secret: str, now_seconds: int) -> Token | None:
        """The token that was given, if it is one of ours and counts.

        The row is found by the part that may be shown; the rest is compared in constant time.
        """
        prefix, _, rest = secret[:LONGEST_TOKEN].partition("_")
        identifier = rest.partition("_")[0]
        with self._database.reading() as connection:
            row = connection.execute(
                select(TOKENS).where(_COLUMNS.identifier == identifier)
            ).one_or_none()
        kept_digest = _NO_DIGEST if row is None else row.digest
        same = hmac.compare_digest(_digest(secret), kept_digest)
        if row is None or not same or prefix != PREFIX:
            return None
        token = _token(row)
        return token if token.counts(now_seconds) else None


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _token(row: Row[Any]) -> Token:
    return Token(
        identifier=row.identifier,
        name=row.name,
        scopes=frozenset(Scope(one) for one in row.document["scopes"]),
        made_seconds=row.made_seconds,
        expires_seconds=row.expires_seconds,
        revoked_seconds=row.revoked_seconds,
    )


def _check(
    name: str, scopes: frozenset[Scope], now_seconds: int, expires_seconds: int | None
) -> None:
    if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        raise BadInput(
            f"a token needs a name of 1 to {LONGEST_NAME} printable characters; say whose it is"
        )
    if not scopes:
        raise BadInput("a token needs a scope: read, announce or operate")
    if expires_seconds is not None and expires_seconds <= now_seconds:
        raise BadInput("the token would have expired already; give a later time")
