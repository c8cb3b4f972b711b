"""How long each kind of record is kept, and its removal once that is over.

Open decisions, announcements that still hold, the last run of each job, policies, tokens and modes
are never removed.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from forecaster.database import announcements, forecasts, job_runs, scores
from forecaster.database.announcements import Announcements
from forecaster.database.audit_log import KEEP_DAYS as KEEP_AUDIT_DAYS
from forecaster.database.audit_log import AuditLog
from forecaster.database.database import Database
from forecaster.database.forecasts import Forecasts
from forecaster.database.idempotency import IdempotencyKeys
from forecaster.database.job_runs import JobRuns
from forecaster.database.protections import Protections
from forecaster.database.scores import Scores


@dataclass(frozen=True)
class Retention:
    """Days for which each kind of record is kept.

    Attributes:
        audit_days: decisions; at least 15.
        forecast_days: forecasts.
        score_days: scores and verdicts.
        announcement_days: announcements, counted from when they are over.
        run_days: runs of jobs.
    """

    audit_days: int = KEEP_AUDIT_DAYS
    forecast_days: int = forecasts.KEEP_DAYS
    score_days: int = scores.KEEP_DAYS
    announcement_days: int = announcements.KEEP_DAYS
    run_days: int = job_runs.KEEP_DAYS


def prune(database: Database, retention: Retention, now_seconds: int) -> Mapping[str, int]:
    """Remove what has been kept for long enough, a transaction for each kind.

    Returns:
        How many of each kind went.

    Raises:
        BadInput: decisions would be kept for less than 15 days.
    """
    return {
        "decisions": AuditLog(database).prune(now_seconds, retention.audit_days),
        "forecasts": Forecasts(database).prune(now_seconds, retention.forecast_days),
        "scores": Scores(database).prune(now_seconds, retention.score_days),
        "announcements": Announcements(database).prune(now_seconds, retention.announcement_days),
        "runs": JobRuns(database).prune(now_seconds, retention.run_days),
        "protections": Protections(database).prune(now_seconds),
        "requests": IdempotencyKeys(database).prune(now_seconds),
    }
