"""How long records stay, on every database."""

from dataclasses import replace

import pytest

from features.errors import BadInput
from forecaster.database import Database
from forecaster.database.announcements import Announcements
from forecaster.database.audit_log import AuditLog
from forecaster.database.forecasts import Forecasts
from forecaster.database.idempotency import IdempotencyKeys
from forecaster.database.job_runs import Claim, JobRuns, RunStanding
from forecaster.database.protections import KeptProtection, ProtectedKind, Protections
from forecaster.database.retention import Retention, prune
from forecaster.database.scores import KeptScore, Scores
from models.verdict import Standing, Verdict
from tests.fakes.announcements import FLOOD
from tests.fakes.decisions import START_SECONDS, event
from tests.fakes.demand import WHOLE
from tests.fakes.forecasts import HORIZON, forecast_of
from tests.fakes.live_scores import score

DAY = 86_400
RETENTION = Retention(
    audit_days=20, forecast_days=10, score_days=30, announcement_days=40, run_days=5
)


def fill(database: Database) -> None:
    """A record of every kind, all of the same moment."""
    at = START_SECONDS
    decision = AuditLog(database).append(event())
    AuditLog(database).close(decision.identifier, (), at)
    forecast = forecast_of(origin_seconds=at)
    Forecasts(database).keep({WHOLE: forecast}, HORIZON, at, at)
    Scores(database).keep(KeptScore(score(at), Verdict(WHOLE, Standing.TRUST, ("fine",), at, at)))
    Announcements(database).create(
        replace(FLOOD, start_seconds=at - 1, end_seconds=at, announced_seconds=at - 2)
    )
    for due in (at, at + 1):
        run = JobRuns(database).begin(Claim("pull", due, "here", due), at)
        assert run is not None
        JobRuns(database).end(run, RunStanding.DONE, "", at)
    node = KeptProtection(ProtectedKind.NODE, "gpu-1", "ada", "", at - 1, at)
    Protections(database).protect(node)
    IdempotencyKeys(database).begin("ada", "k", "digest", at)


def test_each_kind_is_kept_for_its_own_time(database: Database) -> None:
    """And for no longer; what may never go is still there after years."""
    fill(database)
    ends = {0: "protections", 2: "requests", 6: "runs", 11: "forecasts", 21: "decisions",
            31: "scores", 41: "announcements"}  # fmt: skip
    for days, kind in ends.items():
        gone = prune(database, RETENTION, START_SECONDS + days * DAY)
        assert {kind: 1} == {name: count for name, count in gone.items() if count}
    assert {0} == set(prune(database, RETENTION, START_SECONDS + 999 * DAY).values())
    assert START_SECONDS + 1 == JobRuns(database).last()["pull"].due_seconds


def test_decisions_are_kept_for_15_days_whatever_is_asked(database: Database) -> None:
    """Fewer is refused."""
    with pytest.raises(BadInput, match="at least 15 days"):
        prune(database, replace(RETENTION, audit_days=14), START_SECONDS)
