"""Whether a pool's forecasts may be acted on: trust, caution or demote, with the reasons.

Quick to fall and slow to come back: one bad score lowers the standing at once, and only scores that
hold good for a stated time, at stricter limits, raise it again, one step at a time. Too little
evidence is never trusted, and a bad stretch is forgiven once what came after it has held good.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from features.errors import BadInput
from features.pool import Pool
from models.live_evidence import good_record, good_throughout, limits_passed, missing_evidence
from models.live_score import DAY, SPANS_SECONDS, WEEK, LiveScore, SpanScore
from models.verdict_settings import VerdictSettings

DEFAULT_SETTINGS = VerdictSettings()


class Standing(StrEnum):
    """What a controller may do with forecasts, best first."""

    TRUST = "trust"
    CAUTION = "caution"
    DEMOTE = "demote"

    @property
    def rank(self) -> int:
        """0 for the best; higher is worse."""
        return tuple(Standing).index(self)

    @property
    def raised(self) -> "Standing":
        """The next better standing; the best stays as it is."""
        return tuple(Standing)[max(0, self.rank - 1)]


@dataclass(frozen=True)
class Verdict:
    """What to make of one pool's forecasts, as of one moment; the next verdict needs it.

    Attributes:
        pool: whose forecasts.
        standing: trust, caution or demote.
        reasons: why, one plain line each; never empty.
        since_seconds: Unix time since which the standing holds.
        given_seconds: Unix time of the score that it rests on.
        good_since_seconds: Unix time since which every score was good enough for the standing to
            rise; None where the last was not, or nothing is there to rise to.
        raised_seconds: Unix time of the last rise; None before the first.
    """

    pool: Pool
    standing: Standing
    reasons: tuple[str, ...]
    since_seconds: int
    given_seconds: int
    good_since_seconds: int | None = None
    raised_seconds: int | None = None


def verdict(
    score: LiveScore, previous: Verdict | None, settings: VerdictSettings = DEFAULT_SETTINGS
) -> Verdict:
    """What a score means, in the light of the last verdict.

    Args:
        score: of one pool, as of now.
        previous: the pool's last verdict. Where there is none the score speaks for itself, and
            has to be good enough for a rise to be trusted.
        settings: when a standing falls and what raises it.

    Raises:
        BadInput: the previous verdict is another pool's, or younger than the score.
    """
    if previous is not None:
        _check_order(previous, score)
    raised_seconds = None if previous is None else previous.raised_seconds
    spans = _counting(score, raised_seconds, settings)
    found = replace(_found(score, spans, settings), raised_seconds=raised_seconds)
    doubts = _doubts(score, spans, settings)
    if previous is None:
        if doubts and found.standing is Standing.TRUST:
            return replace(found, standing=Standing.CAUTION, reasons=doubts)
        return found
    if found.standing.rank > previous.standing.rank:
        return found
    held = replace(found, standing=previous.standing, since_seconds=previous.since_seconds)
    if found.standing is previous.standing:
        return held
    if doubts:
        waiting = f"held at {held.standing}: the record is not good enough to rise"
        return replace(held, reasons=(waiting, *doubts))
    return _rising(held, previous, settings)


def _counting(
    score: LiveScore, raised_seconds: int | None, settings: VerdictSettings
) -> dict[str, SpanScore]:
    """The spans that count: not the week, while it holds a bad stretch that is over.

    A day that is good throughout outweighs its week, and after a rise the week counts again when it
    lies wholly behind that rise. Else whoever has learned from a bad day would wait for a week.
    """
    spans = dict(score.spans)
    forgiven = (
        raised_seconds is not None and score.now_seconds - raised_seconds < SPANS_SECONDS[WEEK]
    )
    if forgiven or good_throughout(spans[DAY], settings):
        del spans[WEEK]
    return spans


def _found(score: LiveScore, spans: Mapping[str, SpanScore], settings: VerdictSettings) -> Verdict:
    """What the score says on its own."""
    missing = missing_evidence(score, settings.scored_share, settings.least_windows)
    demoting = limits_passed(spans, settings.demoted_beyond, settings)
    cautioning = missing + limits_passed(spans, settings.cautious_beyond, settings)
    if demoting:
        standing, reasons = Standing.DEMOTE, demoting + missing
    elif cautioning:
        standing, reasons = Standing.CAUTION, cautioning
    else:
        standing, reasons = Standing.TRUST, (good_record(score, settings.ratio_level),)
    now = score.now_seconds
    return Verdict(score.pool, standing, reasons, since_seconds=now, given_seconds=now)


def _doubts(
    score: LiveScore, spans: Mapping[str, SpanScore], settings: VerdictSettings
) -> tuple[str, ...]:
    """What stands against a rise."""
    missing = missing_evidence(score, settings.restored_scored_share, settings.least_windows)
    return missing + limits_passed(spans, settings.restored_within, settings)


def _rising(held: Verdict, previous: Verdict, settings: VerdictSettings) -> Verdict:
    """One step up once scores have been good for long enough, until then as it was."""
    now = held.given_seconds
    good_since = now if previous.good_since_seconds is None else previous.good_since_seconds
    needed_hours = settings.restored_after_seconds / 3_600
    if now - good_since < settings.restored_after_seconds:
        good_hours = (now - good_since) / 3_600
        waiting = f"held at {held.standing}: good for {good_hours:.1f} of {needed_hours:g} h"
        return replace(held, reasons=(waiting, *held.reasons), good_since_seconds=good_since)
    risen = held.standing.raised
    reason = f"raised from {held.standing}: good for {needed_hours:g} h"
    return replace(
        held,
        standing=risen,
        reasons=(reason, *held.reasons),
        since_seconds=now,
        good_since_seconds=None if risen is Standing.TRUST else now,
        raised_seconds=now,
    )


def _check_order(previous: Verdict, score: LiveScore) -> None:
    if previous.pool != score.pool:
        raise BadInput(f"a verdict on {previous.pool} says nothing about {score.pool}")
    if previous.given_seconds > score.now_seconds:
        raise BadInput(
            f"{score.pool}: the previous verdict ({previous.given_seconds}) is younger than the "
            f"score ({score.now_seconds}); judge scores in the order of time"
        )
