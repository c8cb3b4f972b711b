"""The plots of a report, as plotly figures.

Colours are names of the page's own (`var(--ink)`), which the page resolves for light and dark. A
figure must hold no text from outside: plotly reads markup in its labels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from features.calendar import ClusterCalendar
from features.series import BoolArray, DemandSeries, FloatArray, IntArray
from forecaster.report_clock import ReportClock
from models.backtest import BacktestResult
from models.forecast import QUANTILE_LEVELS, Forecast
from models.scores import PoolScore

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_BEFORE_ORIGIN_SECONDS = 3 * 3600
_WIDE, _NARROW, _MEDIAN = (0.1, 0.9), (0.25, 0.75), 0.5
_TALL_PIXELS, _SMALL_PIXELS = 380, 250
_UPRIGHT = {"xref": "x", "yref": "paper", "y0": 0, "y1": 1}  # a shape from bottom to top
_LEGEND = {"orientation": "h", "x": 1, "xanchor": "right", "y": 1.02, "yanchor": "bottom"}
_SHOWN_MS = 3 * 86_400_000  # more days than these at once are a hedge of spikes
_NUDGE = 0.012  # so that the bars of two models stand side by side
_DECIMALS = 2  # a hundredth of a GPU is below what a screen shows


@dataclass(frozen=True, eq=False)
class _Fan:
    """Quantiles along a time axis; `gpus` has shape (instants, levels), NaN where unknown."""

    places: FloatArray
    gpus: FloatArray

    def at(self, level: float) -> FloatArray:
        column: FloatArray = self.gpus[:, QUANTILE_LEVELS.index(level)]
        return column

    def traces(self) -> list[dict[str, Any]]:
        """Light band, dark band and dashed median, which also tells the quantiles on hovering."""
        said = np.round(np.stack([self.at(level) for level in (*_WIDE, *_NARROW)], axis=1), 1)
        return [
            self._band(_WIDE, "var(--band-wide)"),
            self._band(_NARROW, "var(--band-narrow)"),
            {
                **_line(self.places, self.at(_MEDIAN), "median", "var(--median)"),
                "line": {"color": "var(--median)", "width": 1.5, "dash": "dash"},
                "customdata": said.astype(np.float32),
                "hovertemplate": (
                    "median %{y:.0f}<br>0.25 to 0.75: %{customdata[2]:.0f} to %{customdata[3]:.0f}"
                    "<br>0.1 to 0.9: %{customdata[0]:.0f} to %{customdata[1]:.0f}<extra></extra>"
                ),
            },
        ]

    def _band(self, levels: tuple[float, float], colour: str) -> dict[str, Any]:
        """One closed outline per stretch without gaps."""
        low, high = (self.at(level) for level in levels)
        gap = np.array([np.nan])
        x, y = [gap], [gap]
        for start, stop in runs(np.isfinite(low) & np.isfinite(high)):
            there = self.places[start:stop]
            x += [there, there[::-1], gap]
            y += [high[start:stop], low[start:stop][::-1], gap]
        return {
            "type": "scatter",
            "x": np.concatenate(x),
            "y": _small(np.concatenate(y)),
            "fill": "toself",
            "fillcolor": colour,
            "line": {"width": 0},
            "mode": "lines",
            "name": f"{levels[0]:g} to {levels[1]:g} quantile",
            "hoverinfo": "skip",
        }


def bands_figure(result: BacktestResult, pool: int, model: str, clock: ReportClock) -> "Figure":
    """Forecast bands of the peak over what came, along all origins; gaps are shaded.

    Args:
        result: the backtest.
        pool: index of the pool.
        model: name of the model whose forecasts are drawn.
        clock: how to tell the time.
    """
    places = clock.places(result.panel.seconds_at(result.origins))
    fan = _Fan(places, result.forecasts[model].peak[pool])
    came = _line(places, result.actual_peak[pool], "what came", "var(--ink)")
    lost = ~np.isfinite(result.panel.demand_gpus[pool, result.origins])
    axis = clock.axis()
    if axis["type"] == "date":
        axis["rangeselector"] = _range_selector()
        axis["range"] = [max(float(places[0]), float(places[-1]) - _SHOWN_MS), float(places[-1])]
    return _figure(
        [*fan.traces(), {**came, "hovertemplate": "came: %{y:.0f}<extra></extra>"}],
        height=_TALL_PIXELS,
        xaxis=axis,
        shapes=_gap_shapes(places, lost),
    )


def worst_figure(
    result: BacktestResult, pool: int, model: str, origin: int, clock: ReportClock
) -> "Figure":
    """One origin close up: three hours before it, what was forecast, and what came.

    Args:
        result: the backtest.
        pool: index of the pool.
        model: name of the model.
        origin: index into the result's origins.
        clock: how to tell the time.
    """
    panel, horizon = result.panel, result.context.horizon
    row = int(result.origins[origin])
    first = max(0, row - _BEFORE_ORIGIN_SECONDS // panel.step_seconds)
    rows = np.arange(first, min(len(panel), row + horizon.steps))
    seen = panel.demand_gpus[pool, rows]
    return _close_up(
        clock=clock,
        seen_seconds=panel.seconds_at(rows),
        seen_gpus=seen,
        path_seconds=panel.seconds_at(row + np.arange(horizon.steps)),
        path_gpus=result.forecasts[model].path[pool, origin],
        origin_seconds=int(panel.seconds_at(row)),
    )


def forecast_figure(
    series: DemandSeries, forecast: Forecast, calendar: ClusterCalendar
) -> "Figure":
    """A forecast after the three hours that led to it.

    Args:
        series: the pool's history.
        forecast: the pool's forecast, at the levels of `QUANTILE_LEVELS`.
        calendar: whose clock the plot shows.
    """
    origin_seconds = int(forecast.origin.timestamp())
    recent = series.between(origin_seconds - _BEFORE_ORIGIN_SECONDS, origin_seconds)
    steps = np.arange(forecast.horizon.steps)
    return _close_up(
        clock=ReportClock.of(series.has_calendar, calendar),
        seen_seconds=recent.times_seconds,
        seen_gpus=recent.demand_gpus,
        path_seconds=origin_seconds + steps * forecast.horizon.step_seconds,
        path_gpus=forecast.path_gpus,
        origin_seconds=origin_seconds,
    )


def coverage_figure(scores: Sequence[PoolScore]) -> "Figure":
    """Nominal level against the share of peaks at or below the quantile, a mark per level.

    Many peaks equal a quantile to the GPU, so each mark has a bar down to the share strictly
    below: an honest quantile's level lies on the bar.

    Args:
        scores: one pool's scores, the model of interest first, at most two.
    """
    looks = (
        ("this model", "var(--median)", "circle", 0.0),
        ("the same as now", "var(--other)", "diamond", _NUDGE),
    )
    marks = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": name,
            "x": [level + nudge for level in score.coverage],
            "customdata": list(score.coverage),
            "y": list(score.coverage.values()),
            "error_y": {
                "type": "data",
                "symmetric": False,
                "array": [0.0] * len(score.coverage),
                "arrayminus": [
                    at_or_below - score.coverage_below[level]
                    for level, at_or_below in score.coverage.items()
                ],
                "color": colour,
                "thickness": 1.5,
                "width": 0,
            },
            "marker": {"color": colour, "symbol": symbol, "size": 9},
            "hovertemplate": "level %{customdata}: %{y:.1%} of peaks<extra></extra>",
        }
        for score, (name, colour, symbol, nudge) in zip(scores, looks, strict=False)
    ]
    ideal = _line(np.array([0.0, 1.0]), np.array([0.0, 1.0]), "as promised", "var(--muted)")
    ideal["line"] = {"color": "var(--muted)", "width": 1, "dash": "dot"}
    return _figure(
        [{**ideal, "hoverinfo": "skip"}, *marks],
        height=_TALL_PIXELS,
        hovermode="closest",
        legend={**_LEGEND, "x": 0, "xanchor": "left"},
        xaxis={"title": {"text": "quantile level"}, "range": [0, 1.04], "tickformat": ".0%"},
        yaxis={
            "title": {"text": "peaks at or below"},
            "range": [0, 1.03],
            "tickformat": ".0%",
            "gridcolor": "var(--line)",
        },
    )


def runs(where: BoolArray) -> list[tuple[int, int]]:
    """Start and stop of each stretch of True, in order."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], where, [False]]).astype(np.int8)))
    return [(int(start), int(stop)) for start, stop in edges.reshape(-1, 2)]


def _close_up(
    *,
    clock: ReportClock,
    seen_seconds: IntArray,
    seen_gpus: FloatArray,
    path_seconds: IntArray,
    path_gpus: FloatArray,
    origin_seconds: int,
) -> "Figure":
    fan = _Fan(clock.places(path_seconds), path_gpus)
    seen = _line(clock.places(seen_seconds), seen_gpus, "what came", "var(--ink)")
    origin = {
        **_UPRIGHT,
        **dict.fromkeys(("x0", "x1"), float(clock.places(origin_seconds))),
        "type": "line",
        "line": {"color": "var(--muted)", "width": 1, "dash": "dot"},
    }
    return _figure(
        [*fan.traces(), {**seen, "hovertemplate": "came: %{y:.0f}<extra></extra>"}],
        height=_SMALL_PIXELS,
        xaxis={**clock.axis(), "nticks": 5},
        shapes=[origin],
        showlegend=False,
    )


def _line(x: FloatArray, y: FloatArray, name: str, colour: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": x,
        "y": _small(y),
        "name": name,
        "line": {"color": colour, "width": 1.6},
    }


def _small(values: FloatArray) -> "np.ndarray[tuple[int], np.dtype[np.float32]]":
    """Half the bytes for what no screen can show anyway."""
    return np.round(values, _DECIMALS).astype(np.float32)


def _gap_shapes(places: FloatArray, lost: BoolArray) -> list[dict[str, Any]]:
    return [
        {
            **_UPRIGHT,
            "type": "rect",
            "layer": "below",
            "x0": float(places[start]),
            "x1": float(places[min(stop, len(places) - 1)]),
            "fillcolor": "var(--gap)",
            "line": {"width": 0},
        }
        for start, stop in runs(lost)
    ]


def _range_selector() -> dict[str, Any]:
    spans = ((1, "day", "1 day"), (3, "day", "3 days"), (7, "day", "7 days"))
    buttons = [
        {"count": count, "step": step, "label": label, "stepmode": "backward"}
        for count, step, label in spans
    ]
    return {
        "buttons": [*buttons, {"step": "all", "label": "all"}],
        "bgcolor": "var(--card)",
        "activecolor": "var(--line)",
        "x": 0,
        "y": 1.02,
        "yanchor": "bottom",
    }


def _figure(traces: list[dict[str, Any]], height: int, **layout: Any) -> "Figure":
    from plotly.graph_objects import Figure

    axis = {"gridcolor": "var(--line)", "zeroline": False, "linecolor": "var(--line)"}
    return Figure(
        data=traces,
        layout={
            "template": "none",
            "height": height,
            "margin": {"l": 48, "r": 12, "t": 48 if height == _TALL_PIXELS else 12, "b": 40},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": {"color": "var(--ink)", "family": "system-ui, sans-serif", "size": 12},
            "hoverlabel": {"bgcolor": "var(--card)", "bordercolor": "var(--line)"},
            "hovermode": "x unified",
            "legend": _LEGEND,
            "yaxis": {**axis, "title": {"text": "GPUs"}, "rangemode": "tozero"},
            **layout,
            "xaxis": {**axis, "showgrid": False, **layout.get("xaxis", {})},
        },
    )
