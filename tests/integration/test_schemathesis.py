"""Schemathesis against the whole API: every check it has, on every operation under /v1.

What it may meet besides its defaults is told here, and why: a schema cannot say that an end lies
after a start, that a ceiling holds, or which ETag is the newest.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import events, from_schema

from forecaster.api.description import operations
from forecaster.scopes import Scope
from tests.fakes.service import Service, service, token

EXAMPLES = 5
UNLIMITED = 100_000

ACCEPTED = ["2xx", "3xx", "401", "403", "404", "409", "429", "5xx"]
"""What valid data may be answered with, by Schemathesis' own defaults."""

RULES_BEYOND_THE_SCHEMA = (
    "announcement",  # an end after its start, a pool that is there, a ceiling that holds
    "policies",  # rules that hold between the parts of a policy
    "history",  # a step that fits the history's own
    "protections",  # an expiry in the future
    "rollback",  # something to go back to
    "promote",
)


def config_for(bearer: str) -> SchemathesisConfig:
    """Every check on, the same examples each time."""
    beyond = {"expected-statuses": [*ACCEPTED, "412", "422"]}
    return SchemathesisConfig.from_dict(
        {
            "seed": 1,
            "headers": {"Authorization": f"Bearer {bearer}"},
            "generation": {
                "deterministic": True, "max-examples": EXAMPLES, "database": "none",
            },
            "checks": {
                "positive_data_acceptance": {"expected-statuses": [*ACCEPTED, "412"]},
                "missing_required_header": {  # RFC 6585: a missing If-Match is a 428
                    "expected-statuses": ["400", "401", "403", "406", "415", "422", "428"]
                },
            },
            "operations": [
                {
                    "include-path-regex": "|".join(RULES_BEYOND_THE_SCHEMA),
                    "checks": {"positive_data_acceptance": beyond},
                },
                {
                    # KEDA must get an error for what is not known, and never a number
                    "include-path-regex": "/v1/keda/",
                    "checks": {
                        "not_a_server_error": {"expected-statuses": ["2xx", "3xx", "4xx", "503"]}
                    },
                },
                {"exclude-path-regex": "^/(v1|healthz|readyz)", "enabled": False},
            ],
        }
    )  # fmt: skip


@pytest.fixture
def unlimited(tmp_path: Path) -> Iterator[Service]:
    """A service that asks for a token, and has no limit to run into."""
    limits = {"requests_per_second": UNLIMITED, "writes_per_minute": UNLIMITED}
    with service(tmp_path, require_token=True, allowed_hosts=("testserver",), **limits) as opened:
        yield opened


@pytest.mark.slow
def test_every_check_passes_on_every_operation(unlimited: Service) -> None:
    """From examples, from the edges of the schemas, from chance, and one call after another."""
    schema = schemathesis.openapi.from_asgi(
        "/v1/openapi.json", unlimited.app, config=config_for(token(unlimited, *Scope))
    )
    covered, problems = set(), []
    for event in from_schema(schema).execute():
        if isinstance(event, events.NonFatalError | events.FatalError):
            problems.append(str(event))
        if not isinstance(event, events.ScenarioFinished):
            continue
        covered.add(event.label)
        for label, checks in event.recorder.checks.items():
            case = event.recorder.cases[label].value
            problems += [
                f"{case.method} {case.formatted_path}: {check.failure_info.failure}"
                for check in checks
                if check.failure_info is not None
            ]
    assert [] == problems
    assert covered >= {
        f"{method} {path}"
        for path, method, _ in operations(unlimited.app.openapi())
        if path.startswith("/v1")
    }
