"""The live score against naive loops, and in scenes made by hand."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from features.errors import BadInput
from features.series import DemandSeries
from models.forecast import QUANTILE_LEVELS
from models.live_score import DAY, HOUR, SPANS_SECONDS, WEEK, LiveScore, live_score
from models.live_score import persistence_peaks as peaks_of_persistence
from tests.fakes.demand import FRAGMENT
from tests.fakes.live_scores import HORIZON, LEVELS, STEP_SECONDS, bursty_demand, stored

STEPS = HORIZON.peak_steps
PER_DAY = 86_400 // STEP_SECONDS


def unknown_first(value: float) -> tuple[bool, float]:
    """Sorts NaN above everything."""
    return math.isnan(value), value


def came_after(demand: DemandSeries, row: int, known_rows: int) -> float:
    """The highest demand of the window, NaN where any of it is not known by then."""
    window = range(row, row + STEPS)
    if window.stop > known_rows or any(demand.capped[i] for i in window):
        return math.nan
    return max(demand.demand_gpus[window.start : window.stop].tolist(), key=unknown_first)


def naive_rises(demand: DemandSeries) -> list[float]:
    """The rise whose window closes with each row."""
    return [
        came_after(demand, end + 1 - STEPS, len(demand)) - demand.demand_gpus[end - STEPS]
        if end >= STEPS
        else math.nan
        for end in range(len(demand))
    ]


def naive_persistence(demand: DemandSeries, rises: list[float], row: int) -> list[float]:
    """Level now and the ranked rises of the fortnight before the day of the row."""
    day = row // PER_DAY * PER_DAY
    closed = rises[max(0, day - 14 * PER_DAY) : day]
    ordered = sorted(rise for rise in closed if not math.isnan(rise))
    now = float(demand.demand_gpus[row - 1])
    if not ordered or math.isnan(now):
        return [math.nan] * 7
    ranks = [min(len(ordered), math.ceil((len(ordered) + 1) * p - 1e-9)) for p in QUANTILE_LEVELS]
    return [max(0.0, now + ordered[rank - 1]) for rank in ranks]


def pinball(level: float, quantile: float, came: float) -> float:
    return level * (came - quantile) if came >= quantile else (1 - level) * (quantile - came)


def mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else math.nan


def from_persistence(demand: DemandSeries, rows: np.ndarray, stretch: float = 1.0) -> np.ndarray:
    """Quantiles like persistence's, with rises stretched."""
    now = demand.closing_gpus[rows - 1][:, None]
    return np.maximum(now + stretch * (peaks_of_persistence(demand, rows, STEPS) - now), 0)


def score_of(demand: DemandSeries, peak_gpus: np.ndarray, first: int) -> LiveScore:
    """As of the demand's end, with a forecast from each row since the first."""
    rows = np.arange(first, len(demand))
    return live_score(stored(demand, rows, peak_gpus), demand, demand.end_seconds)


@pytest.mark.parametrize(("seed", "rows_ago"), [(1, 0), (2, 0), (3, 1), (4, 7), (5, 29), (6, 80)])
def test_the_score_equals_naive_loops(seed: int, rows_ago: int) -> None:
    """Counts, coverage, pinball, ratio and bias, with gaps, capped steps and silent origins."""
    random = np.random.default_rng(seed)
    demand = bursty_demand(days=20, seed=seed, gap_share=0.05)
    demand = dataclasses.replace(demand, capped=random.random(len(demand)) < 0.03)
    rows = np.sort(random.choice(np.arange(600, len(demand)), size=300, replace=False))
    peaks = np.sort(random.integers(30, 90, (300, 7)).astype(float), axis=1)
    peaks[random.random(300) < 0.1] = np.nan
    known_rows = len(demand) - rows_ago
    now = demand.start_seconds + known_rows * STEP_SECONDS
    found = live_score(stored(demand, rows, peaks, since_row=600), demand, now)
    rises = naive_rises(demand)
    persistence = [naive_persistence(demand, rises, row) for row in rows]
    for name, seconds in SPANS_SECONDS.items():
        one, after = found.spans[name], known_rows - seconds // STEP_SECONDS
        closed = [i for i, row in enumerate(rows) if after < row + STEPS <= known_rows]
        made = [i for i in closed if not np.isnan(peaks[i]).any()]
        came = {i: came_after(demand, rows[i], known_rows) for i in made}
        scored = [i for i in made if not math.isnan(came[i])]
        compared = [i for i in scored if not math.isnan(persistence[i][0])]
        due = sum(after < row + STEPS <= known_rows for row in range(600, known_rows))
        assert (due, len(made), len(scored)) == (one.due, one.made, one.scored)
        bias = mean([peaks[i, 2] - came[i] for i in scored])
        np.testing.assert_allclose(one.bias_gpus, bias)
        for index, level in enumerate(QUANTILE_LEVELS):
            at_or_below = mean([came[i] <= peaks[i, index] for i in scored])
            below = mean([came[i] < peaks[i, index] for i in scored])
            own = mean([pinball(level, peaks[i, index], came[i]) for i in compared])
            theirs = mean([pinball(level, persistence[i][index], came[i]) for i in compared])
            np.testing.assert_allclose(one.coverage[level], at_or_below)
            np.testing.assert_allclose(one.coverage_below[level], below)
            np.testing.assert_allclose(one.pinball_gpus[level], own)
            np.testing.assert_allclose(one.persistence_pinball_gpus[level], theirs)
            expected = own / theirs if theirs > 0 else math.nan
            np.testing.assert_allclose(one.pinball_ratio[level], expected)


@given(st.integers(0, 10_000), st.integers(1, 100))
@settings(max_examples=15, deadline=None)
def test_nothing_leaks_from_the_future(seed: int, rows_ago: int) -> None:
    """Whatever demand comes after now, the score is the same."""
    demand = bursty_demand(days=18, seed=seed)
    known_rows = len(demand) - rows_ago
    other = demand.demand_gpus.copy()
    other[known_rows:] = np.random.default_rng(seed).integers(0, 500, rows_ago)
    changed = dataclasses.replace(demand, demand_gpus=other)
    rows = np.arange(200, len(demand))
    said = stored(demand, rows, np.tile(40 + 30 * LEVELS, (len(rows), 1)))
    now = demand.start_seconds + known_rows * STEP_SECONDS
    cut = demand.between(demand.start_seconds, now)
    # as text, since a ratio to a loss of zero is NaN, which equals nothing, itself included
    expected = repr(live_score(said, cut, now))
    assert expected == repr(live_score(said, demand, now))
    assert expected == repr(live_score(said, changed, now))


@given(st.integers(0, 10_000), st.integers(PER_DAY, 17 * PER_DAY))
@settings(max_examples=25, deadline=None)
def test_persistence_knows_only_what_came_before_its_origin(seed: int, row: int) -> None:
    """Changing demand from the origin on changes no quantile; the demand before it does."""
    demand = bursty_demand(days=18, seed=seed)
    origin = np.array([row])
    before = peaks_of_persistence(demand, origin, STEPS)
    later, level = demand.demand_gpus.copy(), demand.demand_gpus.copy()
    later[row:] += 100
    level[row - 1] += 100
    after = dataclasses.replace(demand, demand_gpus=later)
    raised = dataclasses.replace(demand, demand_gpus=level)
    np.testing.assert_array_equal(peaks_of_persistence(after, origin, STEPS), before)
    assert (peaks_of_persistence(raised, origin, STEPS) > before).any()


def test_a_perfect_forecast_loses_nothing() -> None:
    """It covers all, lies above nothing, and its ratio is zero."""
    demand = bursty_demand()
    came = np.array([came_after(demand, row, len(demand)) for row in range(900, len(demand))])
    week = score_of(demand, np.repeat(np.nan_to_num(came)[:, None], 7, axis=1), 900).spans[WEEK]
    assert (336, 112) == (week.scored, week.windows)
    assert (1.0, 0.0, 0.0, 0.0) == (
        week.coverage[0.9],
        week.coverage_below[0.9],
        week.pinball_ratio[0.9],
        week.bias_gpus,
    )


def test_persistence_itself_has_a_ratio_of_one() -> None:
    """With no error, since there is no difference to be uncertain about."""
    demand = bursty_demand()
    rows = np.arange(900, len(demand))
    day = score_of(demand, from_persistence(demand, rows), 900).spans[DAY]
    np.testing.assert_allclose(list(day.pinball_ratio.values()), 1)
    np.testing.assert_allclose(list(day.ratio_error.values()), 0, atol=1e-9)


def test_forecasts_that_are_too_low_show_it() -> None:
    """Coverage falls short by many of its errors, and the bias says by how many GPUs."""
    demand = bursty_demand()
    rows = np.arange(900, len(demand))
    fair = score_of(demand, from_persistence(demand, rows), 900).spans[WEEK]
    low = score_of(demand, from_persistence(demand, rows) - 10, 900).spans[WEEK]
    np.testing.assert_allclose(low.bias_gpus, fair.bias_gpus - 10)
    assert low.coverage[0.9] < 0.9 - 5 * low.coverage_error[0.9]
    assert low.pinball_ratio[0.9] > 1 + 5 * low.ratio_error[0.9]


def test_a_calm_day_is_given_the_spread_of_its_week() -> None:
    """A day without a burst does not make a narrower quantile certainly better."""
    demand = bursty_demand()
    calm = demand.demand_gpus.copy()
    calm[-2 * PER_DAY :] = 40
    demand = dataclasses.replace(demand, demand_gpus=calm)
    rows = np.arange(900, len(demand))
    spans = score_of(demand, from_persistence(demand, rows, stretch=1.1), 900).spans
    day, week = spans[DAY], spans[WEEK]
    scale = week.persistence_pinball_gpus[0.9] / day.persistence_pinball_gpus[0.9]
    assert day.pinball_ratio[0.9] > 1.05
    assert week.ratio_error[0.9] > 0
    np.testing.assert_allclose(day.ratio_error[0.9], math.sqrt(7) * scale * week.ratio_error[0.9])


def test_errors_count_windows_and_not_forecasts() -> None:
    """The error of a coverage is that of as many draws as there are separate windows."""
    demand = bursty_demand()
    rows = np.arange(900, len(demand))
    day = score_of(demand, from_persistence(demand, rows), 900).spans[DAY]
    assert (48, 16) == (day.scored, day.windows)
    np.testing.assert_allclose(day.coverage_error[0.9], math.sqrt(0.9 * 0.1 / 16))


@pytest.mark.parametrize("column", ["demand_gpus", "capped"])
def test_a_gap_or_a_capped_step_leaves_its_windows_out(column: str) -> None:
    """One step that is not known hides the peak of each window it lies in."""
    demand = bursty_demand()
    values = getattr(demand, column).copy()
    values[-20] = np.nan if column == "demand_gpus" else True
    broken = dataclasses.replace(demand, **{column: values})
    rows = np.arange(900, len(demand))
    day = score_of(broken, from_persistence(demand, rows), 900).spans[DAY]
    assert (48, 48, 48 - STEPS) == (day.due, day.made, day.scored)


@pytest.mark.parametrize("rows", [0, 10])
def test_with_nothing_scored_nothing_is_known(rows: int) -> None:
    """No forecast, or only silent ones: NaN throughout, and the due ones are counted."""
    demand = bursty_demand()
    silent = stored(
        demand, np.arange(1300, 1300 + rows), np.full((rows, 7), np.nan), since_row=1300
    )
    week = live_score(silent, demand, demand.end_seconds).spans[WEEK]
    assert (138, 0, 0, 0) == (week.due, week.made, week.scored, week.windows)
    for name in ("coverage", "coverage_below", "pinball_ratio", "ratio_error", "coverage_error"):
        assert np.isnan(list(getattr(week, name).values())).all()
    assert math.isnan(week.bias_gpus)


def test_without_demand_nothing_is_scored() -> None:
    """Forecasts were made, but no demand is known at all."""
    demand = bursty_demand()
    rows = np.arange(900, len(demand))
    said = stored(demand, rows, np.ones((len(rows), 7)))
    hour = live_score(said, demand.between(0, 1), demand.end_seconds).spans[HOUR]
    assert (2, 2, 0) == (hour.due, hour.made, hour.scored)


def test_on_the_first_day_there_is_no_yardstick() -> None:
    """Coverage is known, the ratio is not."""
    demand = bursty_demand(days=1)
    day = score_of(demand, np.full((PER_DAY - 1, 7), 50.0), first=1).spans[DAY]
    assert (45, 0) == (day.scored, day.compared_windows)
    assert math.isfinite(day.coverage[0.9])
    assert math.isnan(day.pinball_ratio[0.9])


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"pool": FRAGMENT}, "cannot be scored on a100/whole-node's demand"),
        ({"horizon": dataclasses.replace(HORIZON, step_seconds=300)}, "in steps of 300 s"),
        ({"origins_seconds": bursty_demand().end_seconds + np.array([7])}, "is off the grid"),
    ],
)
def test_forecasts_of_something_else_are_refused(change: dict[str, object], problem: str) -> None:
    """Pool, step and grid have to agree."""
    demand = bursty_demand()
    said = stored(demand, np.array([1300]), np.ones((1, 7)))
    with pytest.raises(BadInput, match=problem):
        live_score(dataclasses.replace(said, **change), demand, demand.end_seconds)  # type: ignore[arg-type]
