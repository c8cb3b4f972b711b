"""The FFT peer, against loops that follow gocrane's description word by word."""

import cmath
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchmarks.peers.gocrane_fft import (
    ESTIMATORS,
    CarriedFFT,
    Estimator,
    GocraneFFT,
    forecast_cycle,
    is_periodic,
    prediction_error,
    without_outliers,
)
from features.calendar import CalendarSettings, ClusterCalendar
from features.events import NoKnownEvents
from features.panel import DemandPanel
from features.series import DemandSeries
from models.forecast import Horizon
from models.protocol import Context
from tests.fakes.demand import FRAGMENT, MONDAY, WHOLE, tidal_series

HOUR = 3_600
QUARTER = 900
DAY_ROWS = 96
CONTEXT = Context(Horizon.of(QUARTER), ClusterCalendar(CalendarSettings()), NoKnownEvents())


def wave(days: int, period_rows: int, seed: int | None = None) -> np.ndarray:
    """A sine around 50 GPUs in quarters of an hour, with noise if a seed is given."""
    rows = np.arange(days * DAY_ROWS)
    noise = (
        np.zeros(len(rows)) if seed is None else np.random.default_rng(seed).normal(size=len(rows))
    )
    return 50 + 20 * np.sin(2 * np.pi * rows / period_rows) + noise


def naive_next_cycle(demand: np.ndarray, cycle: int, one: Estimator) -> list[float]:
    """The estimator with the transform written out as sums over both halves of the spectrum."""
    rows = len(demand)
    turn = [cmath.exp(-2j * math.pi * k / rows) for k in range(rows)]
    spectrum = [sum(x * turn[k * t % rows] for t, x in enumerate(demand)) for k in range(rows)]
    strongest = sorted((abs(spectrum[k]) / rows for k in range(1, rows // 2)), reverse=True)
    threshold = max(strongest[:100][-1], one.least_amplitude_gpus)
    threshold = min(threshold, strongest[one.least_items - 1])
    kept = [
        k
        for k in range(rows)
        if min(k, rows - k) / rows / QUARTER <= 1 / HOUR or abs(spectrum[k]) / rows >= threshold
    ]
    level = [
        sum((spectrum[k] / turn[k * t % rows]).real for k in kept) / rows
        for t in range(rows - cycle, rows)
    ]
    return [max(x, 0.01) * (1 + one.margin) for x in level]


@pytest.mark.parametrize("one", ESTIMATORS[::3], ids=str)
def test_the_next_cycle_is_that_of_a_transform_written_out(one: Estimator) -> None:
    """Cutting the real spectrum equals cutting both halves of the complex one."""
    demand = np.maximum(wave(2, DAY_ROWS, seed=3) - 40, 0)
    said = one.next_cycle(demand, DAY_ROWS, QUARTER)
    np.testing.assert_allclose(said, naive_next_cycle(demand, DAY_ROWS, one), atol=1e-9)


def test_what_is_fast_and_weak_is_cut() -> None:
    """A ripple faster than an hour goes, a slow one of the same strength stays."""
    plain = wave(4, DAY_ROWS)
    rows = np.arange(len(plain))
    strongest = Estimator(least_items=1, least_amplitude_gpus=5.0, margin=0.0)
    fast = plain + np.sin(2 * np.pi * rows * 3 / 8)
    slow = plain + np.sin(2 * np.pi * rows / 12)
    np.testing.assert_allclose(strongest.next_cycle(fast, DAY_ROWS, QUARTER), plain[-DAY_ROWS:])
    np.testing.assert_allclose(strongest.next_cycle(slow, DAY_ROWS, QUARTER), slow[-DAY_ROWS:])


@settings(deadline=None)
@given(st.lists(st.floats(0, 500), min_size=2 * 24, max_size=5 * 24))
@example([0.0] * 24 + [1.0] * 24)
def test_a_forecast_is_above_zero(demand: list[float]) -> None:
    """Whatever came, the next cycle's level is a demand that can be."""
    said = forecast_cycle(np.array(demand), HOUR)
    assert len(said) == 24
    assert np.all(said > 0)


def test_the_strongest_stay_however_weak() -> None:
    """Of a spectrum that is fast and weak throughout, so many as are wanted are left."""
    rows = np.arange(2 * DAY_ROWS)
    strong, weak = np.sin(2 * np.pi * rows / 3), 0.5 * np.sin(2 * np.pi * rows * 5 / 12)
    one = Estimator(least_items=1, least_amplitude_gpus=9.0, margin=0.0)
    said = one.next_cycle(50 + strong + weak, DAY_ROWS, QUARTER)
    np.testing.assert_allclose(said, (50 + strong)[-DAY_ROWS:])


def test_a_tide_comes_again() -> None:
    """A pure daily wave is forecast as it was, with the least margin."""
    demand = wave(6, DAY_ROWS)
    np.testing.assert_allclose(forecast_cycle(demand, QUARTER), demand[-DAY_ROWS:] * 1.01, atol=0.2)


def test_a_week_is_found_where_days_differ() -> None:
    """A wave of a week is forecast for a whole week."""
    assert 7 * DAY_ROWS == len(forecast_cycle(wave(14, 7 * DAY_ROWS), QUARTER))


def test_periods_are_told_apart() -> None:
    """The day's wave has the day's period and the week's wave the week's, noise or not."""
    daily, weekly = wave(14, DAY_ROWS, seed=1), wave(14, 7 * DAY_ROWS, seed=1)
    assert is_periodic(daily, DAY_ROWS)
    assert not is_periodic(weekly, DAY_ROWS)
    assert is_periodic(weekly, 7 * DAY_ROWS)
    assert not is_periodic(wave(10, 7 * DAY_ROWS), 7 * DAY_ROWS), "two whole cycles are needed"


def test_a_stronger_shorter_period_does_not_hide_the_cycle() -> None:
    """Only longer periods speak against a cycle."""
    half_days = wave(14, DAY_ROWS // 2)
    assert is_periodic(half_days + 0.1 * wave(14, DAY_ROWS), DAY_ROWS)


@given(
    st.lists(st.tuples(st.floats(0, 100), st.floats(0.01, 100)), min_size=1, max_size=30),
)
def test_the_prediction_error_is_that_of_a_loop(pairs: list[tuple[float, float]]) -> None:
    """Relative and harsher on too little; absolute as soon as one demand is near zero."""
    came, said = (np.array(side) for side in zip(*pairs, strict=True))
    total = 0.0
    for one, other in pairs:
        if min(came) < 1e-3:
            total += abs(one - other)
        elif other < one:
            total += -math.log(1 - (one - other) / one) / math.log(1.25)
        else:
            total += (other - one) / one
    assert total / len(pairs) == pytest.approx(prediction_error(came, said))


def test_outliers_become_the_row_before() -> None:
    """Beyond the outermost thousandths each row is as the one before it, the first stays."""
    demand = np.random.default_rng(5).normal(50, 5, 3_000)
    demand[[0, 100, 101]] = 900, 800, 0
    low, high = np.quantile(demand, [0.001, 0.999])
    expected = list(demand)
    for row in range(1, len(expected)):
        if not low <= expected[row] <= high:
            expected[row] = expected[row - 1]
    np.testing.assert_array_equal(expected, without_outliers(demand))
    assert expected != list(demand)


def panel(days: float) -> DemandPanel:
    """A daily wave without noise."""
    demand = wave(8, DAY_ROWS)[: int(days * DAY_ROWS)]
    return DemandPanel.of([DemandSeries(WHOLE, MONDAY, QUARTER, demand)])


def test_the_path_goes_on_where_the_history_ends() -> None:
    """From a later origin the cycle's later rows are read, and the peak is their highest."""
    history = panel(6.5)
    fitted = GocraneFFT().fit(history.before(6 * DAY_ROWS), CONTEXT)
    origin = 6 * DAY_ROWS + 10
    said = fitted.predict(history, np.array([origin]), CONTEXT)
    expected = wave(7, DAY_ROWS)[origin : origin + 4] * 1.01
    np.testing.assert_allclose(said.path[0, 0], np.repeat(expected[:, None], 7, 1), atol=0.2)
    np.testing.assert_array_equal(said.path[0, 0, :2].max(axis=0), said.peak[0, 0])


def test_carried_it_begins_at_the_level_now() -> None:
    """Demand twice as high as a day ago stays so much higher."""
    history = panel(6.5)
    later = DemandPanel.of(
        [
            DemandSeries(
                WHOLE,
                MONDAY,
                QUARTER,
                history.demand_gpus[0] + 50.0 * (np.arange(len(history)) >= 6 * DAY_ROWS),
            )
        ]
    )
    fitted = CarriedFFT().fit(history.before(6 * DAY_ROWS), CONTEXT)
    origin = 6 * DAY_ROWS + 10
    said = fitted.predict(later, np.array([origin]), CONTEXT)
    expected = wave(7, DAY_ROWS)[origin : origin + 4] + 50
    np.testing.assert_allclose(said.path[0, 0, :, 0], expected, atol=0.2)


def test_nothing_after_an_origin_is_read() -> None:
    """What comes later changes no forecast."""
    whole = DemandPanel.of([tidal_series(days=5, step_seconds=QUARTER)])
    origins = np.array([4 * DAY_ROWS, 4 * DAY_ROWS + 7])
    for model in (GocraneFFT(), CarriedFFT()):
        fitted = model.fit(whole.before(4 * DAY_ROWS), CONTEXT)
        cut = whole.before(int(origins[-1]))
        np.testing.assert_array_equal(
            fitted.predict(whole, origins, CONTEXT).path, fitted.predict(cut, origins, CONTEXT).path
        )


def test_a_pool_of_less_than_two_days_is_not_forecast() -> None:
    """It has no cycle to go by; the others have."""
    long = tidal_series(WHOLE, days=4, step_seconds=QUARTER)
    young = tidal_series(FRAGMENT, 1, step_seconds=QUARTER, start_seconds=MONDAY + 3 * 86_400)
    both = DemandPanel.of([young, long])
    said = GocraneFFT().fit(both, CONTEXT).predict(both, np.array([len(both)]), CONTEXT)
    assert np.isnan(said.peak[0]).all()
    assert np.isfinite(said.peak[1]).all()
