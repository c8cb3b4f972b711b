"""Errors become problem documents with a status that fits."""

import json
from http import HTTPStatus

import pytest

from features.errors import BadInput, SourceUnavailable, TidecastError
from forecaster.api.problems import problem
from forecaster.database.cycle_memory import Overtaken
from forecaster.database.idempotency import KeyReused, StillWorking
from forecaster.database.policy_versions import PolicyVersions
from forecaster.database.refusals import AlreadyThere, NotThere, TooMany
from tests.fakes.service import Service


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (NotThere("a"), 404),
        (AlreadyThere("a"), 409),
        (TooMany("a"), 409),
        (StillWorking("a"), 409),
        (Overtaken("a"), 412),
        (KeyReused("a"), 422),
        (BadInput("a\nb"), 422),
        (SourceUnavailable("a"), 503),
    ],
)
def test_an_error_of_ours_has_its_status(
    local: Service, monkeypatch: pytest.MonkeyPatch, error: TidecastError, status: int
) -> None:
    """Its first line is the detail; where there are more, each is listed."""

    def fail(_: PolicyVersions) -> None:
        raise error

    monkeypatch.setattr(PolicyVersions, "versions", fail)
    answer = local.get("/v1/policies")
    lines = str(error).splitlines()
    assert {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": "a",
        "errors": lines if len(lines) > 1 else [],
    } == answer.json()
    assert status == answer.status_code
    assert "application/problem+json" == answer.headers["content-type"]


def test_words_that_are_no_utf_8_are_sent_all_the_same() -> None:
    """JSON may hold half of a character; an error about it may not fail for it."""
    answer = problem(HTTPStatus.UNPROCESSABLE_ENTITY, "a\ud800", ["b\udfff"])
    said = json.loads(bytes(answer.body))
    assert ("a?", ["b?"]) == (said["detail"], said["errors"])
