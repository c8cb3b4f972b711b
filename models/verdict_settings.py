"""When forecasts lose their standing and what brings it back: every threshold, and nothing else.

Coming back must never be easier than falling, and each set of limits is checked for it.
"""

from dataclasses import dataclass
from itertools import pairwise

from features.errors import BadInput
from models.forecast import QUANTILE_LEVELS


@dataclass(frozen=True)
class Limits:
    """How bad a score may be.

    Attributes:
        ratio: highest pinball ratio to 'the same as now'.
        misses: highest share of peaks above a quantile, as a multiple of the nominal share: 1.5
            allows 15 % above the 0.9 quantile.
        chance: how improbable a score beyond these must be, per day, if the truth were at them.
    """

    ratio: float
    misses: float
    chance: float

    def as_strict_as(self, other: "Limits") -> bool:
        """Whether whatever is beyond the other limits is beyond these too."""
        return (
            self.ratio <= other.ratio
            and self.misses <= other.misses
            and self.chance >= other.chance
        )


@dataclass(frozen=True)
class VerdictSettings:
    """When a standing falls, and what raises it again.

    Attributes:
        demoted_beyond: limits beyond which forecasts are demoted.
        cautious_beyond: limits beyond which they are taken with caution.
        restored_within: limits that must hold for a standing to rise; the strictest.
        restored_after_seconds: for how long they must hold, for each step up.
        ratio_level: quantile level whose pinball ratio counts.
        coverage_levels: quantile levels whose coverage counts.
        smallest_excess_gpus: how far beyond the limit a pinball loss must be to count; on a still
            pool the ratio of two crumbs says nothing.
        scored_share: least share of the day's due forecasts that must have been scored.
        restored_scored_share: the same for a standing to rise.
        least_windows: fewest separate windows of a week that allow trust, and of a span that
            allow its ratio to count.

    Raises:
        BadInput: at construction, when a value has no sense or coming back would be easier than
            falling.
    """

    demoted_beyond: Limits = Limits(ratio=1.05, misses=1.5, chance=0.001)
    cautious_beyond: Limits = Limits(ratio=1.02, misses=1.25, chance=0.01)
    restored_within: Limits = Limits(ratio=1.0, misses=1.1, chance=0.1)
    restored_after_seconds: int = 6 * 3_600
    ratio_level: float = 0.9
    coverage_levels: tuple[float, ...] = (0.9, 0.95, 0.99)
    smallest_excess_gpus: float = 0.05
    scored_share: float = 0.75
    restored_scored_share: float = 0.85
    least_windows: int = 24

    def __post_init__(self) -> None:
        for level in (self.ratio_level, *self.coverage_levels):
            self._check_level(level)
        for stricter, laxer in pairwise(
            (self.restored_within, self.cautious_beyond, self.demoted_beyond)
        ):
            if not stricter.as_strict_as(laxer):
                raise BadInput(
                    f"verdict: {stricter} must be as strict as {laxer}; order them from restored "
                    "over cautious to demoted"
                )
        if not 0 < self.scored_share <= self.restored_scored_share <= 1:
            raise BadInput(
                f"verdict: a scored share of {self.scored_share:g} to fall and "
                f"{self.restored_scored_share:g} to rise; both lie in (0, 1], the second no lower"
            )
        if self.restored_after_seconds <= 0 or self.least_windows < 1:
            raise BadInput(
                f"verdict: {self.restored_after_seconds} s and {self.least_windows} windows to "
                "rise; both must be above zero"
            )

    def _check_level(self, level: float) -> None:
        if level not in QUANTILE_LEVELS:
            raise BadInput(f"verdict: no quantile {level:g}; choose from {QUANTILE_LEVELS}")
        for limits in (self.restored_within, self.cautious_beyond, self.demoted_beyond):
            if not 0 < limits.misses * (1 - level) < 1:
                raise BadInput(
                    f"verdict: {limits.misses:g} times the misses of the {level:g} quantile is no "
                    "share between 0 and 1; change the factor or the level"
                )
