"""How forecasts have done since they were given: the record that tells whether to act on them.

Only windows that have closed by now count, only where the demand that came is wholly known, and
each forecast is set against 'the same as now' as it would have been said at the same origin. What
was not scored is counted and never taken for good. Deciding what follows is `models.verdict`'s.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from features.baselines import DAY_SECONDS
from features.errors import BadInput
from features.pool import Pool
from features.rises import FORTNIGHT_SECONDS, closed_rises, future_peak, trailing_quantiles
from features.series import BoolArray, DemandSeries, FloatArray, IntArray
from features.trailing import known_ratio, value_before
from models.forecast import QUANTILE_LEVELS
from models.overlap import long_run_spread, separate_windows
from models.scores import MEDIAN, pinball_loss
from models.stored_forecasts import StoredForecasts

HOUR, DAY, WEEK = "1 h", "1 d", "7 d"
SPANS_SECONDS: Mapping[str, int] = {HOUR: 3_600, DAY: DAY_SECONDS, WEEK: 7 * DAY_SECONDS}
LONGEST_SECONDS = max(SPANS_SECONDS.values())
RELATED_WINDOWS = 4
"""Errors this many peak windows apart still count as related; overlap alone reaches one."""


@dataclass(frozen=True)
class SpanScore:
    """How one pool's forecasts did whose windows closed within one span; by level where mapped.

    Attributes:
        due: forecasts that should have closed within the span.
        made: those that were stored and said something.
        scored: those of them whose outcome is wholly known.
        windows: how many of the scored windows do not overlap: what the score really rests on.
        compared_windows: the same for those that 'the same as now' could answer too.
        coverage: share of peaks at or below the quantile.
        coverage_below: share of peaks strictly below it; many rises are exactly zero.
        coverage_error: standard error that the coverage of true quantiles would have.
        pinball_gpus: mean pinball loss, over the forecasts that could be compared.
        persistence_pinball_gpus: the same of 'the same as now'.
        pinball_ratio: the first over the second; NaN where the second is zero or not known.
        ratio_error: standard error of the ratio; a calm span is given the spread of the longest,
            since that no burst came is chance too. NaN below two compared windows.
        bias_gpus: mean of the median minus what came. A true median of skewed rises lies below
            their mean, so a small negative bias is no fault.
    """

    due: int
    made: int
    scored: int
    windows: int
    compared_windows: int
    coverage: Mapping[float, float]
    coverage_below: Mapping[float, float]
    coverage_error: Mapping[float, float]
    pinball_gpus: Mapping[float, float]
    persistence_pinball_gpus: Mapping[float, float]
    pinball_ratio: Mapping[float, float]
    ratio_error: Mapping[float, float]
    bias_gpus: float


@dataclass(frozen=True)
class LiveScore:
    """The record of one pool's forecasts as of one moment.

    Attributes:
        pool: whose forecasts.
        now_seconds: Unix time of that moment.
        models: who made the forecasts of the longest span, as `name version`.
        spans: the score per name of `SPANS_SECONDS`.
    """

    pool: Pool
    now_seconds: int
    models: tuple[str, ...]
    spans: Mapping[str, SpanScore]


@dataclass(frozen=True, eq=False)
class _Outcomes:
    """What came of forecasts, as one row per origin; NaN where not known.

    Attributes:
        origins: Unix time over the step, ascending.
        peak_steps: length of the window.
        peak_gpus: what was said, shape (origins, levels).
        came_gpus: what came, shape (origins,).
        loss_gpus: pinball loss, shape (origins, levels).
        persistence_loss_gpus: the same of 'the same as now'.
    """

    origins: IntArray
    peak_steps: int
    peak_gpus: FloatArray
    came_gpus: FloatArray
    loss_gpus: FloatArray
    persistence_loss_gpus: FloatArray

    def where(self, kept: BoolArray) -> "_Outcomes":
        """Some of the rows."""
        return _Outcomes(
            self.origins[kept],
            self.peak_steps,
            self.peak_gpus[kept],
            self.came_gpus[kept],
            self.loss_gpus[kept],
            self.persistence_loss_gpus[kept],
        )

    def scored(self) -> "_Outcomes":
        """The rows in which the forecast and what came are known."""
        return self.where(_known_rows(self.loss_gpus))

    def compared(self) -> "_Outcomes":
        """The scored rows to which 'the same as now' has an answer too."""
        return self.where(_known_rows(self.loss_gpus + self.persistence_loss_gpus))

    @property
    def windows(self) -> int:
        """How many of the windows can be chosen so that none overlap."""
        return separate_windows(self.origins, self.peak_steps)

    @property
    def ratio(self) -> FloatArray:
        """Pinball ratio to 'the same as now', shape (levels,)."""
        return known_ratio(self.loss_gpus.sum(axis=0), self.persistence_loss_gpus.sum(axis=0))

    @property
    def spread_gpus(self) -> FloatArray:
        """Spread of what the ratio does not explain of each loss, shape (levels,)."""
        beyond = self.loss_gpus - self.ratio * self.persistence_loss_gpus
        reach = RELATED_WINDOWS * self.peak_steps
        return long_run_spread(beyond, self.origins, reach, self.windows)


def live_score(stored: StoredForecasts, demand: DemandSeries, now_seconds: int) -> LiveScore:
    """Score what was forecast against what came, over each span that ends now.

    Args:
        stored: the forecasts as they were given.
        demand: the pool's demand; rows that close after now are not read. It should begin a
            fortnight before the longest span, so that 'the same as now' knows its own errors.
        now_seconds: Unix time.

    Raises:
        BadInput: pool, step or grid of the two do not agree.
    """
    _check_agreement(stored, demand)
    recent = stored.closed_between(now_seconds - LONGEST_SECONDS, now_seconds)
    outcomes = _outcomes(recent, demand.between(demand.start_seconds, now_seconds))
    longest_spread = outcomes.compared().spread_gpus
    closes = recent.origins_seconds + recent.horizon.peak_seconds
    return LiveScore(
        pool=stored.pool,
        now_seconds=now_seconds,
        models=recent.model_names,
        spans={
            name: _span_score(
                outcomes.where(closes > now_seconds - seconds),
                stored.due_between(now_seconds - seconds, now_seconds),
                longest_spread,
            )
            for name, seconds in SPANS_SECONDS.items()
        },
    )


def persistence_peaks(demand: DemandSeries, origins: IntArray, peak_steps: int) -> FloatArray:
    """What 'the same as now' would have said of the peak: the level now and its own past rises.

    The rises are those of the fortnight known at the day's beginning, as rows of the series count
    days, so that a week of origins takes eight sorts.

    Args:
        demand: the pool's demand.
        origins: row indices, shape (origins,); only rows before an origin are read for it.
        peak_steps: length of the window.

    Returns:
        GPUs, shape (origins, levels); NaN within the first day, after a gap and off the series.
    """
    peaks = np.full((len(origins), len(QUANTILE_LEVELS)), np.nan)
    inside = (origins >= 0) & (origins <= len(demand))
    step, closing = demand.step_seconds, demand.closing_gpus
    rises = closed_rises(demand.demand_gpus, closing, demand.capped, peak_steps)
    day_rows = max(1, DAY_SECONDS // step)
    days, day_of = np.unique(origins[inside] // day_rows * day_rows, return_inverse=True)
    known = trailing_quantiles(rises[None], days, FORTNIGHT_SECONDS // step, QUANTILE_LEVELS)[0]
    now = value_before(closing, origins[inside])
    peaks[inside] = np.maximum(now[:, None] + known[day_of], 0.0)
    return peaks


def _check_agreement(stored: StoredForecasts, demand: DemandSeries) -> None:
    if stored.pool != demand.pool:
        raise BadInput(f"forecasts of {stored.pool} cannot be scored on {demand.pool}'s demand")
    if stored.horizon.step_seconds != demand.step_seconds:
        raise BadInput(
            f"{stored.pool}: forecasts in steps of {stored.horizon.step_seconds} s cannot be "
            f"scored on demand in steps of {demand.step_seconds} s"
        )
    off = np.flatnonzero(stored.origins_seconds % demand.step_seconds)
    if len(off):
        raise BadInput(
            f"{stored.pool}: the origin {stored.origins_seconds[off[0]]} is off the grid of "
            f"{demand.step_seconds} s"
        )


def _outcomes(forecasts: StoredForecasts, known: DemandSeries) -> _Outcomes:
    peak_steps = forecasts.horizon.peak_steps
    rows = (forecasts.origins_seconds - known.start_seconds) // known.step_seconds
    inside = (rows >= 0) & (rows <= len(known))
    seen = np.where(known.capped, np.nan, known.demand_gpus)
    came = np.where(inside, future_peak(seen, peak_steps)[np.where(inside, rows, 0)], np.nan)
    return _Outcomes(
        origins=forecasts.origins_seconds // known.step_seconds,
        peak_steps=peak_steps,
        peak_gpus=forecasts.peak_gpus,
        came_gpus=came,
        loss_gpus=pinball_loss(forecasts.peak_gpus, came),
        persistence_loss_gpus=pinball_loss(persistence_peaks(known, rows, peak_steps), came),
    )


def _span_score(outcomes: _Outcomes, due: int, longest_spread: FloatArray) -> SpanScore:
    scored, compared = outcomes.scored(), outcomes.compared()
    said, came = scored.peak_gpus, scored.came_gpus[:, None]
    levels = np.array(QUANTILE_LEVELS)
    coverage_variance = known_ratio(levels * (1 - levels), np.full(len(levels), scored.windows))
    spread = np.fmax(compared.spread_gpus, longest_spread)
    persistence_total = compared.persistence_loss_gpus.sum(axis=0)
    return SpanScore(
        due=due,
        made=int(_known_rows(outcomes.peak_gpus).sum()),
        scored=len(scored.origins),
        windows=scored.windows,
        compared_windows=compared.windows,
        coverage=_by_level(_mean(came <= said)),
        coverage_below=_by_level(_mean(came < said)),
        coverage_error=_by_level(np.sqrt(coverage_variance)),
        pinball_gpus=_by_level(_mean(compared.loss_gpus)),
        persistence_pinball_gpus=_by_level(_mean(compared.persistence_loss_gpus)),
        pinball_ratio=_by_level(compared.ratio),
        ratio_error=_by_level(
            known_ratio(spread * np.sqrt(len(compared.origins)), persistence_total)
        ),
        bias_gpus=float(_mean(said[:, MEDIAN] - came[:, 0])),
    )


def _known_rows(values: FloatArray) -> BoolArray:
    total: FloatArray = values.sum(axis=1)  # one that is not known leaves none
    return np.isfinite(total)


def _mean(values: FloatArray | BoolArray) -> FloatArray:
    """Mean over the first axis; NaN, and not a warning, where there is nothing."""
    count = np.full(values.shape[1:], float(len(values)))
    return known_ratio(values.sum(axis=0, dtype=np.float64), count)


def _by_level(values: FloatArray) -> dict[float, float]:
    return {level: float(value) for level, value in zip(QUANTILE_LEVELS, values, strict=True)}
