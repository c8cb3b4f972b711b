"""Whether a newly trained model may take the champion's place: a paired, cautious comparison.

Both are judged on the same windows, which neither has seen. A challenger has to be shown to be not
worse, within a margin; noise is no reason to change what works. Pure arithmetic on what was said
and what came.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from features.series import BoolArray, FloatArray, IntArray
from features.trailing import known_ratio
from models.forecast import QUANTILE_LEVELS, QuantileArrays
from models.scores import pinball_loss
from models.targets import Targets

JUDGED_LEVELS = (0.9, 0.95)
DRAWS = 2_000
SEED = 20_260_101
ONE_SIDED = 0.05
MOST_SILENT = 0.01
"""Share of the champion's forecasts that a challenger may leave unsaid."""


@dataclass(frozen=True)
class Comparison:
    """How much more one model loses than another, pool by pool on the same windows.

    The difference of two losses a and b is 2(a - b)/(a + b): nearly log(a/b) where they are close,
    never beyond 2, and 0 where both lose nothing, so that an idle pool says little. Pools count
    the same.

    Attributes:
        measure: what was compared.
        difference: mean over pools; below 0 is better.
        low: lower end of its bootstrap interval over blocks of time.
        high: upper end; with 95 % certainty the truth is below it.
    """

    measure: str
    difference: float
    low: float
    high: float

    @property
    def ratio(self) -> float:
        """The ratio of losses that the difference stands for; infinite where the other has none."""
        return math.inf if self.difference >= 2 else (2 + self.difference) / (2 - self.difference)  # noqa: PLR2004 - the bound of the difference

    def __str__(self) -> str:
        return f"{self.measure}: loss {self.difference:+.1%} ({self.low:+.1%} to {self.high:+.1%})"


@dataclass(frozen=True)
class PromotionVerdict:
    """Whether a challenger becomes champion.

    Attributes:
        promote: whether it does.
        reasons: why, one plain line each; never empty.
        comparisons: the figures behind it; empty where nothing could be compared.
    """

    promote: bool
    reasons: tuple[str, ...]
    comparisons: tuple[Comparison, ...] = ()


def compare(
    challenger: QuantileArrays, champion: QuantileArrays, came: Targets, blocks: IntArray
) -> tuple[Comparison, ...]:
    """Compare two models where both spoke and the outcome is known.

    The interval is a bootstrap over blocks of time (Kuensch, 1989, 'The jackknife and the bootstrap
    for general stationary observations'), all pools of a block together, because they rise
    together.

    Args:
        challenger: its quantiles in GPUs, of (pools, origins).
        champion: the other's.
        came: what came.
        blocks: the block of each origin, numbered from 0, shape (origins,).

    Returns:
        One comparison per measure; none where there is nothing to compare.
    """
    count = int(blocks.max()) + 1
    drawn = np.random.default_rng(SEED).multinomial(count, np.full(count, 1 / count), DRAWS)
    found = []
    ours, theirs = _losses(challenger, came), _losses(champion, came)
    for measure, one in ours.items():
        known = np.isfinite(one) & np.isfinite(theirs[measure])
        judged = known.any(axis=1)
        if not judged.any():
            continue
        a, b = (
            _block_sums(np.where(known, loss, 0.0)[judged], blocks)
            for loss in (one, theirs[measure])
        )
        spread = _difference(a @ drawn.T, b @ drawn.T)
        low, high = np.quantile(spread, [ONE_SIDED, 1 - ONE_SIDED])
        found.append(
            Comparison(
                measure=measure,
                difference=float(_difference(a.sum(axis=1), b.sum(axis=1))),
                low=float(low),
                high=float(high),
            )
        )
    return tuple(found)


def verdict_on_challenger(
    comparisons: Sequence[Comparison], silent_share: float, margin: float
) -> PromotionVerdict:
    """Whether a challenger replaces a champion: only if it is shown to be not worse.

    Args:
        comparisons: of the challenger with the champion.
        silent_share: share of the champion's forecasts that the challenger left unsaid, 0 to 1.
        margin: how much worse still counts as 'not worse', as a share of the loss.
    """
    if silent_share > MOST_SILENT:
        reason = f"it says nothing on {silent_share:.0%} of what the champion has an answer to"
        return PromotionVerdict(False, (reason,), tuple(comparisons))
    if not comparisons:
        return PromotionVerdict(True, ("the champion says nothing that it could be compared with",))
    worse = [one for one in comparisons if one.high > margin]
    reasons = [
        f"{one}, worse than the champion beyond the margin of {margin:.0%}"
        if one.difference > margin
        else f"{one}, too uncertain to be called not worse than the champion within {margin:.0%}"
        for one in worse
    ] or [f"{one}, not worse than the champion" for one in comparisons]
    return PromotionVerdict(not worse, tuple(reasons), tuple(comparisons))


def verdict_on_first(comparisons: Sequence[Comparison], margin: float) -> PromotionVerdict:
    """Whether a model becomes the first champion: if it is not seen to be worse than persistence.

    It replaces nothing that has proved itself, so the benefit of the doubt is its own.

    Args:
        comparisons: of the model with persistence.
        margin: how much worse still counts as 'not worse', as a share of the loss.
    """
    if not comparisons:
        return PromotionVerdict(False, ("no judged window has a known outcome",))
    worse = [one for one in comparisons if one.difference > margin]
    reasons = [f"{one}, worse than persistence beyond the margin of {margin:.0%}" for one in worse]
    if not worse:
        reasons = [f"{one}, not worse than persistence" for one in comparisons]
    return PromotionVerdict(not worse, tuple(reasons), tuple(comparisons))


def preferred(against_persistence: Mapping[str, Sequence[Comparison]], margin: float) -> str:
    """The candidate to put forward: the first that no other one beats by more than the margin.

    Args:
        against_persistence: by candidate's name, in the order of the user's preference, its
            comparison with persistence; empty where it said nothing.
        margin: how much better another one must be to be preferred.
    """
    losses = {
        name: float(np.mean([one.difference for one in found])) if found else np.inf
        for name, found in against_persistence.items()
    }
    best = min(losses.values())
    return next(name for name, loss in losses.items() if loss <= best + margin)


def silent_share(challenger: QuantileArrays, champion: QuantileArrays) -> float:
    """Share of the champion's forecasts on which the challenger says nothing, 0 to 1."""
    spoken, answered = _spoken(champion), _spoken(challenger)
    if not spoken.any():
        return 0.0
    return float((spoken & ~answered).sum() / spoken.sum())


def _spoken(said: QuantileArrays) -> BoolArray:
    in_path = np.isfinite(said.path).all(axis=(-2, -1))
    return np.asarray(np.isfinite(said.peak).all(axis=-1) & in_path)


def _losses(said: QuantileArrays, came: Targets) -> dict[str, FloatArray]:
    """Loss of each forecast by measure, shape (pools, origins); NaN where it is not known."""
    peak = pinball_loss(said.peak, came.peak)
    path = pinball_loss(said.path, came.path).mean(axis=-1)
    known = np.isfinite(path)
    steps = known.sum(axis=-1).astype(np.float64)
    return {
        **{f"peak {level:g}": peak[..., QUANTILE_LEVELS.index(level)] for level in JUDGED_LEVELS},
        "path WQL": known_ratio(np.where(known, path, 0.0).sum(axis=-1), steps),
    }


def _block_sums(losses: FloatArray, blocks: IntArray) -> FloatArray:
    """Sums over the origins of each block, shape (pools, blocks)."""
    member = blocks[:, None] == np.arange(int(blocks.max()) + 1)
    return np.asarray(losses @ member.astype(np.float64))


def _difference(ours: FloatArray, theirs: FloatArray) -> FloatArray:
    """Relative difference of losses, shape (pools, ...), averaged over the pools."""
    apart = known_ratio(2 * (ours - theirs), ours + theirs)
    return np.asarray(np.nan_to_num(apart).mean(axis=0))
