"""What the service does over and over: forecast and keep it, score what was kept, clear away.

Each says in a line what it did. One pool that cannot be scored keeps no other from being so.
"""

from features.baselines import DAY_SECONDS
from features.errors import TidecastError, Unavailable
from features.pool import Pool
from features.rises import FORTNIGHT_SECONDS
from forecaster.announcements.board import AnnouncementBoard
from forecaster.database import Database
from forecaster.database.announcements import Announcements
from forecaster.database.forecasts import Forecasts
from forecaster.database.retention import Retention, prune
from forecaster.database.scores import KeptScore, Scores
from forecaster.surroundings import holidays_of
from forecaster.tasks.forecasting import STALE_AFTER_SECONDS, ForecastOptions, make_forecasts
from forecaster.wiring import Workspace
from models.forecast import Forecast
from models.live_score import LONGEST_SECONDS, live_score
from models.verdict import Standing, Verdict, verdict

SCORED_SECONDS = LONGEST_SECONDS + DAY_SECONDS
"""How far back forecasts are looked up: the longest span, and the windows that began before it."""


def record_forecasts(workspace: Workspace, database: Database, now_seconds: int) -> str:
    """Forecast every pool from what the store holds, announcements included, and keep it.

    Raises:
        BadInput: the store holds no history.
        SourceUnavailable: the database does not answer.
    """
    announced = Announcements(database).active(now_seconds)
    board = AnnouncementBoard(announced, holidays_of(workspace.calendar))
    made = make_forecasts(workspace, ForecastOptions(), now_seconds, board)
    said = {pool: _unless_old(one, now_seconds) for pool, one in made.by_pool.items()}
    step_seconds = made.panel.step_seconds
    horizon = workspace.context(step_seconds).horizon
    origin = now_seconds // step_seconds * step_seconds
    Forecasts(database).keep(said, horizon, origin, now_seconds)
    silent = {pool: one for pool, one in said.items() if isinstance(one, Unavailable)}
    told = f"{len(said) - len(silent)} of {len(said)} pools forecast"
    reasons = (f"{pool}: {one.reason}" for pool, one in silent.items())
    return "; ".join([told, *reasons, *made.warnings])


def record_scores(workspace: Workspace, database: Database, now_seconds: int) -> str:
    """Score each pool's forecasts against what came, and keep the score and the verdict.

    Raises:
        SourceUnavailable: the database does not answer.
    """
    before = Scores(database).newest()
    standings: list[Standing] = []
    problems = []
    for pool in workspace.store.pools():
        previous = before[pool].verdict if pool in before else None
        try:
            kept = _scored(workspace, database, pool, previous, now_seconds)
        except TidecastError as error:
            problems.append(str(error))
            continue
        if kept is not None:
            Scores(database).keep(kept)
            standings.append(kept.verdict.standing)
    counts = [f"{standings.count(one)} {one}" for one in Standing if one in standings]
    return "; ".join([", ".join(counts) or "nothing to score yet", *problems])


def clear_away(workspace: Workspace, database: Database, now_seconds: int) -> str:
    """Remove records that were kept for long enough.

    Raises:
        SourceUnavailable: the database does not answer.
    """
    group = workspace.settings.retention
    retention = Retention(
        audit_days=workspace.settings.database.keep_audit_days,
        forecast_days=group.forecast_days,
        score_days=group.score_days,
        announcement_days=group.announcement_days,
        run_days=group.run_days,
    )
    gone = prune(database, retention, now_seconds)
    removed = [f"{count} {kind}" for kind, count in gone.items() if count]
    return f"removed {', '.join(removed)}" if removed else "nothing was old enough"


def _unless_old(made: Forecast | Unavailable, now_seconds: int) -> Forecast | Unavailable:
    """A forecast, unless it starts from a moment that is long gone."""
    if isinstance(made, Unavailable):
        return made
    late_seconds = now_seconds - int(made.origin.timestamp())
    if late_seconds <= STALE_AFTER_SECONDS:
        return made
    return Unavailable(
        f"its newest step that is known closed {late_seconds // 60} min ago; a forecast needs one "
        f"from the last {STALE_AFTER_SECONDS // 60} min"
    )


def _scored(
    workspace: Workspace,
    database: Database,
    pool: Pool,
    previous: Verdict | None,
    now_seconds: int,
) -> KeptScore | None:
    """A pool's score and verdict; None where no forecast of it was kept."""
    since = now_seconds - SCORED_SECONDS - FORTNIGHT_SECONDS
    series = workspace.store.series([pool], since_seconds=since)
    if not series:
        return None
    (demand,) = series
    stored = Forecasts(database).stored(
        pool,
        workspace.context(demand.step_seconds).horizon,
        workspace.settings.schedule.forecast_every_seconds,
        now_seconds - SCORED_SECONDS,
    )
    if stored is None:
        return None
    score = live_score(stored, demand, now_seconds)
    return KeptScore(score, verdict(score, previous))
