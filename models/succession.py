"""Who was champion, in what order, and who would be next if the champion were withdrawn.

Pure bookkeeping on a list that only grows at its end: a rollback withdraws promotions, it does not
erase them, so that going back twice goes back two steps and the record stays complete.
"""

from dataclasses import dataclass, replace

MOST_REMEMBERED = 200


@dataclass(frozen=True)
class Promotion:
    """A version was made champion.

    Attributes:
        version: which.
        promoted_seconds: Unix time at which it was.
        reasons: why, one line each.
        withdrawn: whether a rollback has taken it back since.
    """

    version: str
    promoted_seconds: int
    reasons: tuple[str, ...] = ()
    withdrawn: bool = False


def standing(promotions: tuple[Promotion, ...]) -> tuple[str, ...]:
    """The champion, then who would follow it at each rollback; each version once."""
    newest_first = (one.version for one in reversed(promotions) if not one.withdrawn)
    return tuple(dict.fromkeys(newest_first))


def promoted(promotions: tuple[Promotion, ...], change: Promotion) -> tuple[Promotion, ...]:
    """The record with one more promotion; the oldest ones are forgotten at some point."""
    return (*promotions, change)[-MOST_REMEMBERED:]


def rolled_back(promotions: tuple[Promotion, ...], to_version: str) -> tuple[Promotion, ...]:
    """The record with all withdrawn that stands above a version, which is then the champion."""
    above = standing(promotions)
    above = above[: above.index(to_version)]
    return tuple(
        replace(one, withdrawn=True) if one.version in above else one for one in promotions
    )
