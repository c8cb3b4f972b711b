"""What the store of scores keeps to, on every database."""

import dataclasses
import math

from features.pool import Pool
from forecaster.database import Database
from forecaster.database.scores import KeptScore, Scores
from models.live_score import LiveScore
from models.verdict import Standing, Verdict
from tests.fakes.demand import FRAGMENT, MONDAY, WHOLE
from tests.fakes.live_scores import score, span, unscored

DAY = 86_400


def kept(
    at: int, pool: Pool = WHOLE, since: int = MONDAY, standing: Standing = Standing.TRUST
) -> KeptScore:
    """A score at a moment."""
    made = dataclasses.replace(score(now_seconds=at), pool=pool)
    return KeptScore(made, Verdict(pool, standing, ("a reason",), since, at))


def as_tuples(made: LiveScore) -> list[object]:
    """What a score says, with NaN as text, which equals itself."""
    return [
        (name, key, str(value) if isinstance(value, float) and math.isnan(value) else value)
        for name, one in made.spans.items()
        for key, value in sorted(
            (f"{field.name} {level}", number)
            for field in dataclasses.fields(one)
            for level, number in (
                getattr(one, field.name).items()
                if isinstance(getattr(one, field.name), dict)
                else [("", getattr(one, field.name))]
            )
        )
    ]


def test_a_score_comes_back_whole(database: Database) -> None:
    """What was not known is not known still; the verdict says when it last rose."""
    verdict = Verdict(WHOLE, Standing.CAUTION, ("a", "b ☂"), MONDAY, MONDAY + 9, MONDAY + 5, MONDAY)
    made = KeptScore(score(MONDAY + 9, hour=unscored(12), day=span(persistence_gpus=0)), verdict)
    Scores(database).keep(made)
    found = Scores(database).newest()[WHOLE]
    assert verdict == found.verdict
    assert as_tuples(made.score) == as_tuples(found.score)
    assert (WHOLE, MONDAY + 9, ("combined 7",)) == (
        found.score.pool, found.score.now_seconds, found.score.models
    )  # fmt: skip


def test_the_newest_of_each_pool_is_found(database: Database) -> None:
    """Whatever the order in which they came."""
    for at in (MONDAY + 7_200, MONDAY, MONDAY + 3_600):
        Scores(database).keep(kept(at))
    Scores(database).keep(kept(MONDAY, FRAGMENT, standing=Standing.DEMOTE))
    newest = Scores(database).newest()
    assert {WHOLE: MONDAY + 7_200, FRAGMENT: MONDAY} == {
        pool: one.scored_seconds for pool, one in newest.items()
    }
    assert Standing.DEMOTE is newest[FRAGMENT].verdict.standing


def test_of_an_hour_the_last_score_stays_and_each_that_changed_the_standing(
    database: Database,
) -> None:
    """A season of scores stays small, and tells when trust was lost."""
    for step in range(36):
        at = MONDAY + 300 * step
        since = MONDAY + 3_600 + 1_200 if step >= 16 else MONDAY
        Scores(database).keep(kept(at, since=since))
    found = Scores(database).between(WHOLE, MONDAY, MONDAY + 3 * 3_600)
    assert [0, 11, 16, 23, 35] == [(one.scored_seconds - MONDAY) // 300 for one in found]


def test_scoring_a_moment_again_takes_its_place(database: Database) -> None:
    """A run that was repeated leaves one score."""
    Scores(database).keep(kept(MONDAY))
    Scores(database).keep(kept(MONDAY, standing=Standing.CAUTION))
    (found,) = Scores(database).between(WHOLE, MONDAY, MONDAY + 1)
    assert Standing.CAUTION is found.verdict.standing


def test_old_scores_are_removed(database: Database) -> None:
    """By the moment of the score."""
    for at in (MONDAY, MONDAY + 3_600):
        Scores(database).keep(kept(at))
    assert 0 == Scores(database).prune(MONDAY + 2 * DAY, keep_days=2)
    assert 1 == Scores(database).prune(MONDAY + 2 * DAY + 1, keep_days=2)
    assert MONDAY + 3_600 == Scores(database).newest()[WHOLE].scored_seconds
