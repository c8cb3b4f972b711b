"""What a live score says against acting on forecasts: too little evidence, or limits passed.

Each finding is one plain line with its numbers. A difference that may be chance is no finding, and
windows that overlap count once.
"""

import math
from collections.abc import Mapping
from statistics import NormalDist

from models.live_score import DAY, HOUR, SPANS_SECONDS, WEEK, LiveScore, SpanScore
from models.verdict_settings import Limits, VerdictSettings


def missing_evidence(score: LiveScore, scored_share: float, least_windows: int) -> tuple[str, ...]:
    """Why the evidence does not suffice to trust; empty where it does.

    Args:
        score: of one pool.
        scored_share: least share of the day's due forecasts that must have been scored.
        least_windows: fewest separate windows of the week.
    """
    hour, day, week = (score.spans[name] for name in (HOUR, DAY, WEEK))
    if not week.scored:
        return (f"no forecast of the last {WEEK} could be scored: {_counts(week)}",)
    reasons = []
    if hour.due and not hour.scored:
        reasons.append(f"no forecast of the last {HOUR} could be scored: {_counts(hour)}")
    if day.scored < scored_share * day.due:
        reasons.append(
            f"too few forecasts of the last {DAY} could be scored, {scored_share:.0%} are needed: "
            f"{_counts(day)}"
        )
    if week.compared_windows < least_windows:
        reasons.append(
            f"only {week.compared_windows} separate windows of the last {WEEK} could be compared "
            f"with 'the same as now', {least_windows} are needed"
        )
    return tuple(reasons)


def limits_passed(
    spans: Mapping[str, SpanScore], limits: Limits, settings: VerdictSettings
) -> tuple[str, ...]:
    """What lies beyond the limits, and not by chance, in some spans of a score; empty for none."""
    ratios = [
        _ratio_passed(name, span, limits, settings)
        for name, span in spans.items()
        if name != HOUR  # an hour's few windows say nothing of a mean
    ]
    misses = [
        _misses_passed(name, span, level, limits)
        for name, span in spans.items()
        for level in settings.coverage_levels
    ]
    return tuple(reason for reason in ratios + misses if reason is not None)


def good_throughout(span: SpanScore, settings: VerdictSettings) -> bool:
    """Whether a span rests on enough, and none of its figures lies beyond the strictest limits."""
    limits, level = settings.restored_within, settings.ratio_level
    return (
        span.compared_windows >= settings.least_windows
        and span.pinball_gpus[level] <= limits.ratio * span.persistence_pinball_gpus[level]
        and all(
            1 - span.coverage[level] <= limits.misses * (1 - level)
            for level in settings.coverage_levels
        )
    )


def good_record(score: LiveScore, level: float) -> str:
    """The day's record in one line."""
    day = score.spans[DAY]
    return (
        f"over {DAY} {day.coverage[level]:.1%} of peaks were at or below the {level:g} quantile, "
        f"whose pinball loss was {day.pinball_gpus[level]:.2f} GPUs against "
        f"{day.persistence_pinball_gpus[level]:.2f} of 'the same as now'"
    )


def chance_of_misses(span: SpanScore, level: float, share: float) -> float:
    """How probable so many misses are, or more, if this share of peaks lay above the quantile.

    The exact binomial tail over windows that do not overlap; a part of a miss counts as none.
    """
    misses = math.floor((1 - span.coverage[level]) * span.windows + 1e-9)
    return math.fsum(
        _binomial(count, span.windows, share) for count in range(misses, span.windows + 1)
    )


def chance_of_ratio(span: SpanScore, level: float, ratio: float) -> float:
    """How probable such a pinball ratio is, or a higher one, if this were the true one."""
    error = span.ratio_error[level]
    if math.isnan(error):
        raise ValueError(f"the error of the ratio at {level:g} is not known")
    beyond = span.pinball_ratio[level] - ratio
    if error == 0:
        return 0.0 if beyond > 0 else 1.0
    return NormalDist().cdf(-beyond / error)


def _ratio_passed(
    name: str, span: SpanScore, limits: Limits, settings: VerdictSettings
) -> str | None:
    level = settings.ratio_level
    own, other = span.pinball_gpus[level], span.persistence_pinball_gpus[level]
    enough = span.compared_windows >= max(2, settings.least_windows)
    if not enough or own - limits.ratio * other <= settings.smallest_excess_gpus:
        return None
    if other == 0:  # 'the same as now' was right each time, which leaves nothing to chance
        return (
            f"over {name} the pinball loss at {level:g} was {own:.2f} GPUs where 'the same as now' "
            f"lost nothing ({span.compared_windows} separate windows)"
        )
    if chance_of_ratio(span, level, limits.ratio) >= limits.chance:
        return None
    return (
        f"over {name} the pinball loss at {level:g} was {span.pinball_ratio[level]:.2f} ± "
        f"{span.ratio_error[level]:.2f} times that of 'the same as now' "
        f"({span.compared_windows} separate windows); {limits.ratio:g} is allowed"
    )


def _misses_passed(name: str, span: SpanScore, level: float, limits: Limits) -> str | None:
    allowed = limits.misses * (1 - level)
    if not span.scored or 1 - span.coverage[level] <= allowed:
        return None
    # a shorter span is looked at more often a day: each look gets its part of the day's chance
    chance = limits.chance * min(1.0, SPANS_SECONDS[name] / SPANS_SECONDS[DAY])
    if chance_of_misses(span, level, allowed) >= chance:
        return None
    return (
        f"over {name} {1 - span.coverage[level]:.1%} of peaks were above the {level:g} quantile "
        f"({span.windows} separate windows); {allowed:.1%} is allowed"
    )


def _counts(span: SpanScore) -> str:
    return f"{span.due} were due, {span.made} made, {span.scored} scored"


def _binomial(count: int, of: int, share: float) -> float:
    ways = math.lgamma(of + 1) - math.lgamma(count + 1) - math.lgamma(of - count + 1)
    return math.exp(ways + count * math.log(share) + (of - count) * math.log1p(-share))
