"""Who may do what, over every operation that the API tells of."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forecaster.api.description import operations, scope_of
from forecaster.api.known_tokens import FRESH_SECONDS
from forecaster.database.tokens import Tokens
from forecaster.scopes import Scope
from tests.fakes.service import Service, service, token

OPEN = {"live", "ready"}
"""Operations that ask for no token: a kubelet has none."""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One service for all operations; who is refused changes nothing."""
    with service(tmp_path_factory.mktemp("service"), require_token=True) as opened:
        yield opened


@pytest.fixture(scope="module")
def told(shared: Service) -> list[tuple[str, str, dict[str, Any]]]:
    """Path, method and description of every operation under /v1."""
    return [
        (path.replace("{kind}", "node").replace("{", "").replace("}", ""), method, operation)
        for path, method, operation in operations(shared.app.openapi())
        if path.startswith("/v1") or path in ("/healthz", "/readyz")
    ]


def test_every_operation_but_those_of_probes_needs_a_scope(
    told: list[tuple[str, str, dict[str, Any]]],
) -> None:
    """Reading needs `read`; what changes something needs more."""
    without = {one["operationId"] for _, _, one in told if scope_of(one) is None}
    assert OPEN == without
    for path, method, operation in told:
        scope = scope_of(operation)
        if method == "GET":
            assert scope in (None, Scope.READ), path
        elif operation["operationId"] != "diff_policy":  # it changes nothing
            assert scope in (Scope.ANNOUNCE, Scope.OPERATE), path


def test_nobody_gets_by_without_a_token_that_counts(
    shared: Service, told: list[tuple[str, str, dict[str, Any]]]
) -> None:
    """401, before anything of the request is looked at."""
    for path, method, operation in told:
        for given in ("", "tidecast_0_made-up"):
            shared.token = given
            status = shared.request(method, path, content=b"{}").status_code
            expected = 200 if operation["operationId"] in OPEN else 401
            assert expected == status, f"{method} {path}"


@pytest.mark.parametrize("scope", list(Scope))
def test_a_token_opens_what_its_scope_allows_and_nothing_else(
    shared: Service, told: list[tuple[str, str, dict[str, Any]]], scope: Scope
) -> None:
    """403 for all else; each scope stands for itself alone."""
    shared.token = token(shared, scope)
    for path, method, operation in told:
        needed = scope_of(operation)
        if needed in (None, scope):
            continue
        answer = shared.request(method, path, content=b"{}")
        assert 403 == answer.status_code, f"{method} {path}"
        assert f"lacks the scope '{needed}'" in answer.json()["detail"]


def test_each_scope_opens_what_it_is_for(guarded: Service) -> None:
    """Reading, announcing and operating."""
    guarded.token = token(guarded, Scope.READ)
    assert 200 == guarded.get("/v1/pools").status_code
    assert 200 == guarded.get("/v1/announcements/soon").status_code
    guarded.token = token(guarded, Scope.ANNOUNCE)
    assert 200 == guarded.delete("/v1/announcements/soon").status_code
    guarded.token = token(guarded, Scope.OPERATE)
    assert 200 == guarded.put("/v1/protections/node/a", json={}).status_code
    assert 200 == guarded.post("/v1/node-events/node-lost", json={"node": "a"}).status_code


def test_a_local_service_lets_the_person_at_the_machine_do_everything(local: Service) -> None:
    """But a token that does not count is still refused."""
    assert 200 == local.get("/v1/pools").status_code
    local.token = "tidecast_0_made-up"
    assert 401 == local.get("/v1/pools").status_code


def test_a_revoked_token_counts_for_some_seconds_at_most(guarded: Service) -> None:
    """What was found to count is remembered so long and no longer."""
    tokens = Tokens(guarded.context.database)
    made = tokens.create("ada", frozenset({Scope.READ}), guarded.clock())
    guarded.token = made.secret
    assert 200 == guarded.get("/v1/pools").status_code
    tokens.revoke(made.token.identifier, guarded.clock())
    guarded.clock.seconds += FRESH_SECONDS
    assert 401 == guarded.get("/v1/pools").status_code


def test_an_expired_token_counts_no_more_though_it_is_remembered(guarded: Service) -> None:
    """Its expiry is known; there is no need to forget it first."""
    tokens = Tokens(guarded.context.database)
    now = guarded.clock()
    guarded.token = tokens.create("ada", frozenset({Scope.READ}), now, now + 3).secret
    assert 200 == guarded.get("/v1/pools").status_code
    guarded.clock.seconds += 3
    assert 401 == guarded.get("/v1/pools").status_code


def test_a_policy_is_not_read_before_its_sender_is_known(guarded: Service) -> None:
    """Nor is anything else of a stranger's."""
    sent = {"content": b"pools: [", "headers": {"Content-Type": "application/yaml"}}
    assert 401 == guarded.post("/v1/policies", **sent).status_code
    guarded.token = token(guarded, Scope.OPERATE)
    assert 422 == guarded.post("/v1/policies", **sent).status_code


def test_no_token_stands_in_the_database(tmp_path: Path) -> None:
    """Neither one that was made nor one that was given."""
    with service(tmp_path, require_token=True) as opened:
        opened.token = token(opened, Scope.READ)
        opened.get("/v1/pools")
        secret = opened.token.split("_", 2)[2].encode()
    files = [path.read_bytes() for path in (tmp_path / "data").glob("tidecast.db*")]
    assert files
    assert not any(secret in content for content in files)
