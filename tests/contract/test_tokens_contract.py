"""What the store of tokens keeps to, on every database."""

import re
from dataclasses import replace

import pytest
from sqlalchemy import select

from features.errors import BadInput
from forecaster.database import Database
from forecaster.database.refusals import NotThere
from forecaster.database.tables import TOKENS
from forecaster.database.tokens import Token, Tokens
from forecaster.scopes import Scope

READ = frozenset({Scope.READ})


def test_a_token_is_known_again(database: Database) -> None:
    """With what it allows; it looks like what it is."""
    tokens = Tokens(database)
    made = tokens.create("grafana", frozenset({Scope.READ, Scope.OPERATE}), 100, 200)
    assert re.fullmatch(r"tidecast_[0-9a-f]{16}_[\w-]{43}", made.secret)
    expected = Token(made.token.identifier, "grafana", {Scope.READ, Scope.OPERATE}, 100, 200)  # type: ignore[arg-type]
    assert expected == made.token == tokens.verify(made.secret, 199)
    assert tokens.verify(made.secret, 200) is None


def test_the_token_itself_is_not_kept(database: Database) -> None:
    """Whoever steals the database holds digests."""
    made = Tokens(database).create("grafana", READ, 100)
    with database.reading() as connection:
        (row,) = connection.execute(select(TOKENS)).all()
    assert made.secret.rpartition("_")[2] not in repr(row)
    assert made.secret not in repr(made.token)


def test_what_is_not_the_token_opens_nothing(database: Database) -> None:
    """Neither a part of it, nor another's rest, nor anything that is too long or not text."""
    tokens = Tokens(database)
    one, other = tokens.create("a", READ, 1).secret, tokens.create("b", READ, 1).secret
    mixed = one[:26] + other[26:]
    wrong = ["", "_", one[:-1], one + "x", mixed, one.upper(), f" {one}", one[9:], "☂\0\ud800"]
    assert [None] * len(wrong) == [tokens.verify(text, 2) for text in wrong]
    assert tokens.verify("tidecast_" + "x" * 100_000, 2) is None


def test_a_revoked_token_counts_no_more(database: Database) -> None:
    """At once and for good; the list still has it."""
    tokens = Tokens(database)
    first, second = tokens.create("a", READ, 1), tokens.create("b", READ, 2)
    revoked = tokens.revoke(first.token.identifier, 5)
    assert replace(first.token, revoked_seconds=5) == revoked
    assert revoked == tokens.revoke(first.token.identifier, 6)
    assert tokens.verify(first.secret, 5) is None
    assert second.token == tokens.verify(second.secret, 5)
    assert (second.token, revoked) == tokens.tokens()
    with pytest.raises(NotThere, match="there is no token 'nobody'"):
        tokens.revoke("nobody", 5)


def test_a_token_that_cannot_be_meant_is_refused(database: Database) -> None:
    """Nothing is kept of it."""
    refused: list[tuple[str, frozenset[Scope], int | None, str]] = [
        (" ", READ, None, "needs a name"),
        ("a\nb", READ, None, "needs a name"),
        ("a", frozenset(), None, "needs a scope"),
        ("a", READ, 100, "would have expired already"),
    ]
    for name, scopes, expires_seconds, problem in refused:
        with pytest.raises(BadInput, match=problem):
            Tokens(database).create(name, scopes, 100, expires_seconds)
    assert () == Tokens(database).tokens()
