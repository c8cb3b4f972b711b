"""What a report says in words and numbers.

A verdict is one sentence that a reader can act on. It must never call noise a gain, and never
judge where nothing was scored.
"""

import math
from collections.abc import Sequence

from models.scores import PoolScore

VERDICT_LEVEL = 0.9
_NOISE = 0.02  # smaller differences between two runs mean nothing
_COVERAGE_SLACK = 0.03

UNKNOWN = "-"


def best_score(scores: Sequence[PoolScore]) -> PoolScore | None:
    """The model with the least loss at the level that sizing uses, or None if none was scored."""
    judged = [score for score in scores if math.isfinite(score.pinball[VERDICT_LEVEL])]
    return min(judged, key=lambda score: score.pinball[VERDICT_LEVEL], default=None)


def verdict(scores: Sequence[PoolScore]) -> str:
    """One pool's scores in one sentence, plain text."""
    best = best_score(scores)
    if best is None:
        return "Too little of these days was observed to judge any forecast."
    ratio = best.pinball_ratio[VERDICT_LEVEL]
    at_level = f"at the {VERDICT_LEVEL:g} quantile"
    if not math.isfinite(ratio):
        return f"There is nothing to compare {best.model} with {at_level}; {_honesty(best)}."
    if ratio < 1 - _NOISE:
        judged = f"{best.model} is better than 'the same as now' by {percent(1 - ratio)}"
    elif ratio <= 1 + _NOISE:
        judged = f"The best model, {best.model}, is about as good as 'the same as now'"
    else:
        judged = f"The best model, {best.model}, is worse than 'the same as now' by " + percent(
            ratio - 1
        )
    return f"{judged} {at_level}; {_honesty(best)}."


def _honesty(score: PoolScore) -> str:
    """Whether as many peaks stayed below the quantile as it promises."""
    level = VERDICT_LEVEL
    covered = score.coverage[level]
    came = f"{percent(covered)} of the peaks stayed at or below it"
    if covered < level - _COVERAGE_SLACK:
        return f"{came}, fewer than it promises"
    if score.coverage_below[level] > level + _COVERAGE_SLACK:
        return f"{came}, more than it promises"
    return f"{came}, as it promises"


def percent(share: float) -> str:
    """A share as a whole percentage."""
    return f"{100 * share:.0f} %" if math.isfinite(share) else UNKNOWN


def number(value: float, decimals: int = 2) -> str:
    """A number, or a dash where it is not known."""
    return f"{value:.{decimals}f}" if math.isfinite(value) else UNKNOWN


def gpus(value: float) -> str:
    """An amount of GPUs without needless decimals."""
    return f"{value:.1f}".removesuffix(".0") if math.isfinite(value) else UNKNOWN
