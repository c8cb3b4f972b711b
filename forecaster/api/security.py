"""Who may do what: bearer tokens with scopes, or a person at this very machine.

Where tokens are asked for, a request without one is answered 401 and one whose token does not allow
it 403. Where they are not, the service listens on the loopback interface alone.
"""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated

from fastapi import Depends, HTTPException, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer, SecurityScopes

from forecaster.api.context import ApiContext
from forecaster.scopes import Scope

LOCAL = "local"

bearer = HTTPBearer(
    auto_error=False,
    scheme_name="token",
    description="A token of `tidecast token create`; asked for unless the service is local.",
)


@dataclass(frozen=True)
class Caller:
    """Who makes a request.

    Attributes:
        name: the token's name; `local` without one.
        identifier: the part of the token that may be shown; `local` without one.
        scopes: what is allowed.
    """

    name: str
    identifier: str
    scopes: frozenset[Scope]


async def context_of(request: Request) -> ApiContext:
    """What the app of a request may use."""
    context: ApiContext = request.app.state.context
    return context


Context = Annotated[ApiContext, Depends(context_of)]


async def caller(
    needed: SecurityScopes,
    context: Context,
    given: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)],
) -> Caller:
    """Who makes the request, if all scopes that it needs are theirs.

    Raises:
        HTTPException: 401 without a token that counts, where one is asked for; 403 where it lacks a
            scope.
    """
    who = await _known(context, given)
    missing = [scope for scope in needed.scopes if scope not in who.scopes]
    if missing:
        raise HTTPException(
            HTTPStatus.FORBIDDEN, f"the token of '{who.name}' lacks the scope '{missing[0]}'"
        )
    return who


async def _known(context: ApiContext, given: HTTPAuthorizationCredentials | None) -> Caller:
    if given is not None:
        token = await context.known_tokens.verified(given.credentials)
        if token is not None:
            return Caller(token.name, token.identifier, token.scopes)
    elif not context.workspace.settings.service.require_token:
        return Caller(LOCAL, LOCAL, frozenset(Scope))
    raise HTTPException(
        HTTPStatus.UNAUTHORIZED,
        "a bearer token that counts is needed; 'tidecast token create' makes one",
        {"WWW-Authenticate": "Bearer"},
    )


READ = Security(caller, scopes=[Scope.READ])
"""Lets nobody by who may not read; for routes that need not know who it is."""

Reader = Annotated[Caller, READ]
Announcer = Annotated[Caller, Security(caller, scopes=[Scope.ANNOUNCE])]
Operator = Annotated[Caller, Security(caller, scopes=[Scope.OPERATE])]
