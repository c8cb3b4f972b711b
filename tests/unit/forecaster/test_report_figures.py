"""The report's plots hold the numbers that were forecast and that came, and no names."""

import numpy as np
import pytest

from forecaster.report_clock import ReportClock
from forecaster.report_figures import bands_figure, coverage_figure, runs, worst_figure
from models.backtest import scores
from models.forecast import QUANTILE_LEVELS
from tests.fakes.backtests import GAP, ORIGINS, ROWS, sample_result

CLOCK = ReportClock("Europe/Berlin")


def test_the_bands_hold_the_quantiles_and_what_came() -> None:
    """The median and what came are drawn at their own places, to a hundredth of a GPU."""
    result = sample_result()
    figure = bands_figure(result, 1, "good", CLOCK)
    drawn = {trace.name: trace for trace in figure.data}
    median = result.forecasts["good"].peak[1, :, QUANTILE_LEVELS.index(0.5)]
    np.testing.assert_allclose(median, drawn["median"].y, atol=0.006)
    np.testing.assert_allclose(result.actual_peak[1], drawn["what came"].y, atol=0.006)
    np.testing.assert_array_equal(
        CLOCK.places(result.panel.seconds_at(result.origins)), drawn["median"].x
    )
    wide = drawn["0.1 to 0.9 quantile"].y
    said = result.forecasts["good"].peak[1]
    assert np.nanmax(said[:, QUANTILE_LEVELS.index(0.9)]) == pytest.approx(np.nanmax(wide), abs=0.1)
    assert np.nanmin(said[:, QUANTILE_LEVELS.index(0.1)]) == pytest.approx(np.nanmin(wide), abs=0.1)


def test_gaps_are_shaded_where_demand_was_not_observed() -> None:
    """One grey rectangle spans the one gap of the replayed days."""
    result = sample_result()
    (shape,) = bands_figure(result, 0, "good", CLOCK).layout.shapes
    first = ROWS - ORIGINS
    edges = result.panel.seconds_at(result.origins[[GAP.start - first, GAP.stop - first]])
    np.testing.assert_array_equal(CLOCK.places(edges), [shape.x0, shape.x1])


def test_a_band_is_one_outline_per_stretch_that_was_forecast() -> None:
    """A stretch without forecasts is left open, and not bridged."""
    result = sample_result()
    result.forecasts["good"].peak[0, 100:200] = np.nan
    band = next(
        trace for trace in bands_figure(result, 0, "good", CLOCK).data if trace.fill == "toself"
    )
    outlines = runs(np.isfinite(np.asarray(band.y, dtype=float)))
    unforecast = int((~np.isfinite(result.forecasts["good"].peak[0, :, 0])).sum())
    assert 2 * (ORIGINS - unforecast) == sum(stop - start for start, stop in outlines)
    assert len(outlines) == len(runs(np.isfinite(result.forecasts["good"].peak[0, :, 0])))


def test_a_close_up_begins_three_hours_before_and_ends_with_the_path() -> None:
    """What came runs through the origin to the end of the horizon."""
    result = sample_result()
    came = worst_figure(result, 0, "good", 50, CLOCK).data[-1]
    row = int(result.origins[50])
    np.testing.assert_allclose(result.panel.demand_gpus[0, row - 36 : row + 12], came.y)


def test_a_close_up_at_the_end_shows_what_is_there() -> None:
    """The newest origin has no future yet, and the oldest little past."""
    result = sample_result()
    last = worst_figure(result, 0, "good", ORIGINS - 1, CLOCK).data[-1]
    assert 37 == len(last.y)


def test_coverage_marks_each_level_with_its_ties() -> None:
    """A mark lies at the share at or below, and its bar reaches down to the share below."""
    result = sample_result()
    now = next(one for one in scores(result) if one.model == "persistence")
    marks = coverage_figure([now]).data[1]
    assert list(now.coverage.values()) == list(marks.y)
    below = np.array(marks.y) - np.array(marks.error_y.arrayminus)
    np.testing.assert_allclose(list(now.coverage_below.values()), below)


def test_runs_are_the_stretches_of_true() -> None:
    """Empty, at both ends, and in between."""
    assert [] == runs(np.zeros(3, dtype=np.bool_))
    assert [(0, 2), (3, 4)] == runs(np.array([True, True, False, True]))


def test_the_clock_tells_wall_time_and_days() -> None:
    """In April noon UTC is two in the afternoon in Berlin; a trace has days instead."""
    noon = 1_775_476_800
    assert "Mon 6 Apr 2026, 14:00" == CLOCK.text(noon)
    assert (noon + 7200) * 1000.0 == CLOCK.places(noon)
    assert "day 1, 12:05" == ReportClock(None).text(86_400 + 43_500)
    assert 1.5 == ReportClock(None).places(86_400 + 43_200)
