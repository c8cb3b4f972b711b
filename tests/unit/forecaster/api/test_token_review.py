"""The cluster's tokens count for what the cluster says, and whatever goes wrong is a no."""

from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from actuator.cluster.connection import Json, KubernetesConnection
from features.errors import SourceUnavailable
from forecaster.api.token_review import MAY_IT, OwnOrReviewedTokens
from forecaster.database.tokens import Token
from forecaster.scopes import Scope

NOW = 1_772_323_200
USER = {"username": "system:serviceaccount:ml:ada", "uid": "u1", "groups": ["ml"]}
OWN = Token("own", "grafana", frozenset({Scope.READ}), NOW)


@dataclass
class Own:
    """One token of ours."""

    def verify(self, secret: str, now_seconds: int) -> Token | None:
        """It, for its secret."""
        return OWN if secret == "tidecast_own_x" else None


@dataclass
class Reviewing:
    """A cluster that authenticates, and allows some verbs."""

    status: Json = field(
        default_factory=lambda: {"authenticated": True, "audiences": ["tidecast"], "user": USER}
    )
    allowed: frozenset[str] = frozenset({"read", "announce"})
    error: Exception | None = None
    asked: list[Any] = field(default_factory=list)

    def request(self, _method: str, path: str, _parameters: Json, body: Json) -> Json:
        """The review."""
        if self.error is not None:
            raise self.error
        self.asked.append(body["spec"])
        if path == MAY_IT:
            verb = body["spec"]["resourceAttributes"]["verb"]
            return {"status": {"allowed": verb in self.allowed}}
        return {"status": self.status}


def verified(cluster: Reviewing, secret: str = "eyJ") -> Token | None:
    """What comes of a token."""
    connect = lambda: cast("KubernetesConnection", cluster)  # noqa: E731
    return OwnOrReviewedTokens(Own(), connect, "tidecast").verify(secret, NOW)


def test_an_account_may_what_its_roles_say() -> None:
    """Each scope is a verb of its own."""
    cluster = Reviewing()
    token = verified(cluster)
    assert token is not None
    assert (USER["username"], {Scope.READ, Scope.ANNOUNCE}) == (token.name, set(token.scopes))
    assert ["tidecast"] == cluster.asked[0]["audiences"]
    assert [["ml"]] * 3 == [one["groups"] for one in cluster.asked[1:]]


@pytest.mark.parametrize(
    "status",
    [
        {"authenticated": False},
        {},
        {"authenticated": True, "audiences": ["other"], "user": USER},
        {"authenticated": True, "user": USER},
        {"authenticated": True, "audiences": ["tidecast"]},
        {"authenticated": "yes", "audiences": ["tidecast"], "user": USER},
    ],
)
def test_what_is_not_plainly_allowed_is_not(status: Json) -> None:
    """Another audience, half an answer, or no."""
    assert None is verified(Reviewing(status))


def test_a_cluster_that_does_not_answer_says_no() -> None:
    """It fails closed."""
    assert None is verified(Reviewing(error=SourceUnavailable("the API does not answer")))


def test_our_own_tokens_are_never_shown_to_the_cluster() -> None:
    """Neither those that count nor those that do not."""
    cluster = Reviewing()
    assert OWN is verified(cluster, "tidecast_own_x")
    assert None is verified(cluster, "tidecast_other_x")
    assert [] == cluster.asked
