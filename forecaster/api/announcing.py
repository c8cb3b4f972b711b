"""What the API does for announcements beyond keeping them: checks, previews and scores.

Nobody may announce what the policy in force could never have ready, nor for a pool that nobody
knows.
"""

from actuator.policy import PoolPolicy
from features.baselines import DAY_SECONDS
from features.errors import BadInput, TidecastError, Unavailable
from features.events import EventKind
from features.pool import Pool
from forecaster.announcements.announcement import Announcement
from forecaster.announcements.board import AnnouncementBoard, Occurrence
from forecaster.announcements.preview import announced_gpus, nodes_asked, raised
from forecaster.announcements.scoring import USUAL_SECONDS, AnnouncementScore, scored
from forecaster.api.announcement_bodies import (
    AnnouncementOutcome,
    EffectOnPool,
    PreviewAnswer,
    TimeOfAnnouncement,
    time_text,
)
from forecaster.api.context import ApiContext
from forecaster.api.pool_levels import PoolLevel
from forecaster.database.kept_announcements import KeptAnnouncement
from forecaster.json_shapes import Quantiles
from forecaster.surroundings import holidays_of
from models.forecast import Forecast

YEAR_SECONDS = 366 * DAY_SECONDS
SCORED_SECONDS = 92 * DAY_SECONDS
MOST_TIMES = 20


def check(context: ApiContext, said: Announcement) -> None:
    """Refuse what is over already, what nobody knows, and what could never be had.

    Raises:
        BadInput: one of these.
    """
    if not KeptAnnouncement.of(said, "").is_active(context.clock()):
        raise BadInput("end: it is over already; give one in the future")
    if not pools_of(context, said) and said.pool is not None:
        raise BadInput(
            f"pool: neither the history nor the policy has a pool '{said.pool[:100]}'; GET "
            "/v1/pools has all of them"
        )
    if said.kind is EventKind.FACTOR:
        return
    for pool in pools_of(context, said):
        planned = _planned(context, pool)
        if planned is not None and said.amount > planned.ceiling_nodes * planned.node_gpus:
            raise BadInput(
                f"amount: {said.amount:g} GPUs are more than {pool} may have: its ceiling is "
                f"{planned.ceiling_nodes} nodes, {planned.ceiling_nodes * planned.node_gpus} GPUs"
            )


def preview(context: ApiContext, said: Announcement) -> PreviewAnswer:
    """What an announcement would change in the newest forecast and plan; nothing is kept."""
    now_seconds = context.clock()
    coming = _times(context, said, now_seconds, now_seconds + YEAR_SECONDS)[:MOST_TIMES]
    return PreviewAnswer(
        times=[
            TimeOfAnnouncement(
                start=time_text(one.start_seconds),
                start_seconds=one.start_seconds,
                end_seconds=one.end_seconds,
            )
            for one in coming
        ],
        pools=[_effect(context, pool, said, coming) for pool in pools_of(context, said)],
    )


def outcomes(context: ApiContext, said: Announcement) -> list[AnnouncementOutcome]:
    """What came of the newest times that are over, pool by pool, newest first."""
    now_seconds = context.clock()
    begun = _times(context, said, now_seconds - SCORED_SECONDS, now_seconds)
    over = [one for one in begun if one.end_seconds <= now_seconds][-MOST_TIMES:]
    pools = pools_of(context, said)
    return [_outcome(context, one, pool) for one in reversed(over) for pool in pools]


def pools_of(context: ApiContext, said: Announcement) -> list[Pool]:
    """The pools that an announcement is about."""
    return [pool for pool in context.pools() if said.pool in (None, str(pool), pool.gpu_type)]


def _times(
    context: ApiContext, said: Announcement, since_seconds: int, until_seconds: int
) -> list[Occurrence]:
    board = AnnouncementBoard([said], holidays_of(context.workspace.calendar))
    found = board.occurrences(said.announced_seconds, since_seconds, until_seconds)
    return sorted(found, key=lambda one: one.start_seconds)


def _effect(
    context: ApiContext, pool: Pool, said: Announcement, coming: list[Occurrence]
) -> EffectOnPool:
    kept, level = context.newest_forecasts().get(pool), context.levels().get(pool, PoolLevel())
    forecast = None if kept is None or isinstance(kept.forecast, Unavailable) else kept.forecast
    now_gpus = level.demand_gpus if forecast is None else forecast.now_gpus
    gpus, planned = announced_gpus(said, now_gpus), _planned(context, pool)
    asked = None if gpus is None or planned is None else nodes_asked(gpus, planned)
    calendar = context.workspace.calendar
    return EffectOnPool(
        pool=str(pool),
        peak_gpus=None if forecast is None else _peak(forecast),
        peak_gpus_with=None if forecast is None else _peak(raised(forecast, said, calendar)),
        announced_gpus=gpus,
        desired_nodes=_desired_nodes(context, pool),
        announced_nodes=None if asked is None else asked.nodes,
        ceiling_nodes=None if asked is None else asked.ceiling_nodes,
        asked_for_seconds=coming[0].start_seconds - asked.lead_seconds
        if asked is not None and coming
        else None,
    )


def _peak(forecast: Forecast) -> Quantiles:
    return {f"{level:g}": forecast.peak_at(level) for level in forecast.levels}


def _desired_nodes(context: ApiContext, pool: Pool) -> int | None:
    plan = context.newest_plan()
    pools = plan.pools if plan else []
    return next((one.desired_nodes for one in pools if one.pool == str(pool)), None)


def _planned(context: ApiContext, pool: Pool) -> PoolPolicy | None:
    policy = context.policy()
    return next((one for one in policy.pools if one.pool == str(pool)), None) if policy else None


def _outcome(context: ApiContext, time: Occurrence, pool: Pool) -> AnnouncementOutcome:
    found = _scored(context, time, pool)
    if isinstance(found, Unavailable):
        return AnnouncementOutcome(
            pool=str(pool),
            start_seconds=time.start_seconds,
            end_seconds=time.end_seconds,
            why_not=found.reason,
        )
    return AnnouncementOutcome(
        pool=str(pool),
        start_seconds=time.start_seconds,
        end_seconds=time.end_seconds,
        announced_gpus=found.announced_gpus,
        before_gpus=found.before_gpus,
        came_gpus=found.came_gpus,
        came_share=found.came_share if found.announced_gpus else None,
    )


def _scored(context: ApiContext, time: Occurrence, pool: Pool) -> AnnouncementScore | Unavailable:
    since = time.start_seconds - USUAL_SECONDS
    try:
        held = context.workspace.store.series([pool], since, time.end_seconds + DAY_SECONDS)
    except TidecastError as error:
        return Unavailable(str(error))
    return scored(time, held[0]) if held else Unavailable("its time is not in the history")
