"""Tokens of the API: made, listed and revoked."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from forecaster.database.tokens import Token, Tokens
from forecaster.json_shapes import KnownToken, TokenAnswer, TokensAnswer
from forecaster.scopes import Scope
from forecaster.wiring import Workspace


def create_token(
    workspace: Workspace,
    name: str,
    scopes: Sequence[Scope],
    now_seconds: int,
    expires_seconds: int | None,
) -> TokenAnswer:
    """Make a token; this is the only time that it is shown.

    Raises:
        BadInput: no name or no scope, or it would have expired already.
    """
    with workspace.open_database() as database:
        made = Tokens(database).create(name, frozenset(scopes), now_seconds, expires_seconds)
    return TokenAnswer(**_fields(made.token), token=made.secret)


def list_tokens(workspace: Workspace) -> TokensAnswer:
    """All tokens, newest first, without the tokens themselves."""
    with workspace.open_database() as database:
        return TokensAnswer(tokens=[_shape(one) for one in Tokens(database).tokens()])


def revoke_token(workspace: Workspace, identifier: str, now_seconds: int) -> KnownToken:
    """Let a token count no more.

    Raises:
        NotThere: there is no such token.
    """
    with workspace.open_database() as database:
        return _shape(Tokens(database).revoke(identifier, now_seconds))


def _shape(token: Token) -> KnownToken:
    return KnownToken(**_fields(token))


def _fields(token: Token) -> dict[str, Any]:
    return {**asdict(token), "scopes": sorted(token.scopes)}
