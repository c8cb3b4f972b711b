"""From the store to forecasts: the newest history, what answers for it, and the answer."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from features.errors import BadInput, Unavailable
from features.events import KnownEvents, NoKnownEvents
from features.panel import DemandPanel
from features.pool import Pool
from forecaster.json_shapes import (
    ForecastAnswer,
    ForecastOfPool,
    NoForecastOfPool,
    PathStep,
    Quantiles,
)
from forecaster.tasks.moments import iso_text
from forecaster.tasks.pulling import pull_history
from forecaster.tasks.serving import serving
from forecaster.wiring import Workspace
from models.forecast import QUANTILE_LEVELS, Forecast
from models.forecasting import forecast

STALE_AFTER_SECONDS = 900
NOTHING_KNOWN = NoKnownEvents()


@dataclass(frozen=True)
class ForecastOptions:
    """What to forecast, from when, with what.

    Attributes:
        pool: this pool alone; every pool if None.
        at_seconds: from this moment, on what was known then; from the newest step if None.
        model: name of the model; the champion if None.
    """

    pool: str | None = None
    at_seconds: int | None = None
    model: str | None = None


@dataclass(frozen=True)
class Forecasts:
    """The forecasts of a panel, and what else there is to know.

    Attributes:
        panel: the history up to the origin.
        by_pool: a forecast or the reason for none.
        warnings: one line each.
    """

    panel: DemandPanel
    by_pool: Mapping[Pool, Forecast | Unavailable]
    warnings: tuple[str, ...]


def forecast_pools(
    workspace: Workspace, options: ForecastOptions, now_seconds: int
) -> ForecastAnswer:
    """Pull what is missing where a Prometheus is set, and forecast.

    Raises:
        BadInput: an unknown pool or model, or no history before the moment.
        SourceUnavailable: Prometheus did not answer, or only in part.
    """
    warnings: list[str] = []
    live = options.at_seconds is None and workspace.settings.prometheus.url is not None
    if live:
        warnings += pull_history(workspace, now_seconds).warnings
    made = make_forecasts(workspace, options, now_seconds)
    late = now_seconds - made.panel.end_seconds
    if live and late > STALE_AFTER_SECONDS:
        warnings.append(f"the newest step that Prometheus knows closed {late // 60} min ago")
    return ForecastAnswer(
        forecasts=[shape_of(pool, made.by_pool[pool]) for pool in sorted(made.by_pool)],
        warnings=[*warnings, *made.warnings],
    )


def make_forecasts(
    workspace: Workspace,
    options: ForecastOptions,
    now_seconds: int,
    events: KnownEvents = NOTHING_KNOWN,
) -> Forecasts:
    """Forecast from what the store holds.

    Args:
        workspace: settings, store and registry.
        options: what, from when, with what.
        now_seconds: Unix time, for the version of what is fitted here.
        events: demand that is known beforehand.

    Raises:
        BadInput: an unknown pool or model, or no history before the moment.
    """
    panel = _known_by(workspace, options)
    chosen = serving(workspace, options.model, panel, now_seconds)
    context = replace(workspace.context(panel.step_seconds), events=events)
    return Forecasts(
        panel=panel,
        by_pool=forecast(panel, chosen.fits, context, len(panel), chosen.notes),
        warnings=(*chosen.warnings, *workspace.calendar_warnings(panel)),
    )


def shape_of(pool: Pool, made: Forecast | Unavailable) -> ForecastOfPool | NoForecastOfPool:
    """A forecast as it is printed."""
    if isinstance(made, Unavailable):
        return NoForecastOfPool(pool=str(pool), reason=made.reason)
    origin_seconds = int(made.origin.timestamp())
    step_seconds = made.horizon.step_seconds
    return ForecastOfPool(
        pool=str(pool),
        origin=iso_text(origin_seconds),
        origin_seconds=origin_seconds,
        now_gpus=made.now_gpus,
        peak_window_seconds=made.horizon.peak_seconds,
        peak_gpus=_by_level(made.peak_gpus.tolist()),
        path=[
            PathStep(seconds_ahead=step * step_seconds, demand_gpus=_by_level(quantiles))
            for step, quantiles in enumerate(made.path_gpus.tolist(), 1)
        ],
        model_name=made.model_name,
        model_version=made.model_version,
        history_seconds=made.knowledge.history_seconds,
        observed_share=made.knowledge.observed_share,
        last_observed_seconds=made.knowledge.last_observed_seconds,
        notes=list(made.knowledge.notes),
        explanation_gpus=dict(made.explanation),
        sentence=made.sentence,
    )


def _known_by(workspace: Workspace, options: ForecastOptions) -> DemandPanel:
    """The history that was known at the origin."""
    everything = workspace.panel(options.pool)
    if options.at_seconds is None:
        return everything
    origin = everything.row_at(options.at_seconds)
    if not 0 < origin <= len(everything):
        raise BadInput(
            f"--at: the history runs from {_moment(everything.start_seconds)} to "
            f"{_moment(everything.end_seconds)}; choose a moment within it"
        )
    return everything.before(origin)


def _moment(seconds: int) -> str:
    return iso_text(seconds) or f"{seconds} s"


def _by_level(quantiles: list[float]) -> Quantiles:
    return {f"{level:g}": value for level, value in zip(QUANTILE_LEVELS, quantiles, strict=True)}
