"""Tokens of the cluster's own accounts: the cluster says whose they are and what they may do.

TokenReview says who it is, for our audience alone; a SubjectAccessReview per scope says what is
allowed: the verb `read`, `announce` or `operate` on `services.tidecast.io`. Whatever goes wrong,
the answer is no.
"""

from collections.abc import Callable
from typing import Protocol

import structlog

from actuator.cluster.connection import Json, KubernetesConnection
from features.errors import TidecastError
from forecaster.database.tokens import PREFIX, Token
from forecaster.scopes import Scope

WHO_IS_IT = "/apis/authentication.k8s.io/v1/tokenreviews"
MAY_IT = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
GROUP, RESOURCE = "tidecast.io", "services"

log = structlog.get_logger()


class Verifies(Protocol):
    """Says whose token it is."""

    def verify(self, secret: str, now_seconds: int) -> Token | None:
        """The token that was given, if it counts."""
        ...


class OwnOrReviewedTokens:
    """Our own tokens first, and the cluster's for what is none of ours."""

    def __init__(
        self, own: Verifies, connect: Callable[[], KubernetesConnection], audience: str
    ) -> None:
        """Nobody is asked yet.

        Args:
            own: our own tokens.
            connect: connects to the cluster, when the first of its tokens is given.
            audience: whom a token must be meant for.
        """
        self._own, self._connect, self._audience = own, connect, audience
        self._connection: KubernetesConnection | None = None

    def verify(self, secret: str, now_seconds: int) -> Token | None:
        """The token that was given, if it counts."""
        found = self._own.verify(secret, now_seconds)
        if found is not None or secret.startswith(PREFIX):
            return found
        try:
            return self._reviewed(secret, now_seconds)
        except (TidecastError, LookupError, TypeError, AttributeError) as error:
            log.warning("token not reviewed", detail=str(error))
            return None

    def _reviewed(self, secret: str, now_seconds: int) -> Token | None:
        if self._connection is None:
            self._connection = self._connect()
        asked = {"token": secret, "audiences": [self._audience]}
        status = _review(self._connection, WHO_IS_IT, "authentication", "TokenReview", asked)
        if status.get("authenticated") is not True or self._audience not in status["audiences"]:
            return None
        user = status["user"]
        scopes = frozenset(scope for scope in Scope if self._may(self._connection, user, scope))
        return Token(f"cluster-{user['uid']}", user["username"], scopes, now_seconds)

    def _may(self, connection: KubernetesConnection, user: Json, scope: Scope) -> bool:
        asked = {
            "user": user["username"],
            "uid": user["uid"],
            "groups": user.get("groups", []),
            "extra": user.get("extra", {}),
            "resourceAttributes": {"group": GROUP, "resource": RESOURCE, "verb": scope.value},
        }
        status = _review(connection, MAY_IT, "authorization", "SubjectAccessReview", asked)
        return status.get("allowed") is True


def _review(
    connection: KubernetesConnection, path: str, group: str, kind: str, asked: Json
) -> Json:
    body = {"apiVersion": f"{group}.k8s.io/v1", "kind": kind, "spec": asked}
    status: Json = connection.request("POST", path, {}, body)["status"]
    return status
