"""Stored forecasts and scores made by hand, for tests of the live score and the verdict."""

from collections.abc import Mapping

import numpy as np

from features.series import DemandSeries, FloatArray, IntArray
from models.forecast import QUANTILE_LEVELS, Horizon
from models.live_score import DAY, HOUR, WEEK, LiveScore, SpanScore
from models.stored_forecasts import StoredForecasts
from tests.fakes.demand import MONDAY, WHOLE

STEP_SECONDS = 1_800
HORIZON = Horizon.of(STEP_SECONDS, horizon_seconds=7_200, peak_seconds=5_400)
LEVELS = np.array(QUANTILE_LEVELS)


def bursty_demand(days: int = 30, seed: int = 1, gap_share: float = 0.0) -> DemandSeries:
    """Demand that jumps up and decays, in half-hour steps, with gaps where asked."""
    random = np.random.default_rng(seed)
    rows = days * 86_400 // STEP_SECONDS
    bursts = 8.0 * random.poisson(0.4, rows)
    demand = 40 + np.round(np.convolve(bursts, 0.7 ** np.arange(12))[:rows])
    demand[random.random(rows) < gap_share] = np.nan
    return DemandSeries(WHOLE, MONDAY, STEP_SECONDS, demand)


def stored(
    demand: DemandSeries, rows: IntArray, peak_gpus: FloatArray, since_row: int | None = None
) -> StoredForecasts:
    """Forecasts of the demand's pool from these rows on, due at every step."""
    first = int(rows[0]) if since_row is None else since_row
    return StoredForecasts(
        pool=demand.pool,
        horizon=HORIZON,
        since_seconds=int(demand.start_seconds + first * STEP_SECONDS),
        every_seconds=STEP_SECONDS,
        origins_seconds=demand.start_seconds + rows * STEP_SECONDS,
        peak_gpus=peak_gpus,
        models=(("combined", "7"),) * len(rows),
    )


def span(
    *,
    due: int = 288,
    scored: int = 288,
    windows: int = 48,
    coverage: Mapping[float, float] | None = None,
    own_gpus: float = 0.9,
    persistence_gpus: float = 1.0,
    ratio_error: float = 0.05,
) -> SpanScore:
    """A span whose forecasts are true and better than persistence, but for what is given."""
    truth = {level: level for level in QUANTILE_LEVELS}
    ratio = own_gpus / persistence_gpus if persistence_gpus else np.nan
    known = scored > 0
    return SpanScore(
        due=due,
        made=scored,
        scored=scored,
        windows=windows,
        compared_windows=windows,
        coverage={**truth, **(coverage or {})} if known else dict.fromkeys(truth, np.nan),
        coverage_below=truth if known else dict.fromkeys(truth, np.nan),
        coverage_error=dict.fromkeys(truth, 0.04),
        pinball_gpus=dict.fromkeys(truth, own_gpus if known else np.nan),
        persistence_pinball_gpus=dict.fromkeys(truth, persistence_gpus if known else np.nan),
        pinball_ratio=dict.fromkeys(truth, ratio if known else np.nan),
        ratio_error=dict.fromkeys(truth, ratio_error if known else np.nan),
        bias_gpus=0.0 if known else np.nan,
    )


def unscored(due: int) -> SpanScore:
    """A span in which nothing could be scored."""
    return span(due=due, scored=0, windows=0)


def score(
    now_seconds: int = 0,
    hour: SpanScore | None = None,
    day: SpanScore | None = None,
    week: SpanScore | None = None,
) -> LiveScore:
    """A good record, but for the spans given."""
    spans = {
        HOUR: hour or span(due=12, scored=12, windows=2),
        DAY: day or span(),
        WEEK: week or span(due=2016, scored=2016, windows=336, ratio_error=0.02),
    }
    return LiveScore(WHOLE, now_seconds, ("combined 7",), spans)
