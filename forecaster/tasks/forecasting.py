"""From the store to forecasts: the newest history, a fit that may be used for it, and the answer.

A fit is used only where it learned from nothing that came after the forecast's origin. Where there
is no such fit, one is made for this forecast alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from features.baselines import DAY_SECONDS
from features.errors import BadInput, Unavailable
from features.panel import DemandPanel
from features.pool import Pool
from forecaster.json_shapes import (
    ForecastAnswer,
    ForecastOfPool,
    NoForecastOfPool,
    PathStep,
    Quantiles,
)
from forecaster.tasks.moments import iso_text, version_text
from forecaster.tasks.pulling import pull_history
from forecaster.wiring import Workspace
from models.forecast import QUANTILE_LEVELS, Forecast
from models.forecasting import NamedFit, forecast
from models.persistence import Persistence
from models.zoo import MODELS, models_named

STALE_AFTER_SECONDS = 900
OLD_FIT_SECONDS = 3 * DAY_SECONDS


@dataclass(frozen=True)
class ForecastOptions:
    """What to forecast, from when, with what.

    Attributes:
        pool: this pool alone; every pool if None.
        at_seconds: from this moment, on what was known then; from the newest step if None.
        model: name of the model; the settings' if None.
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


def make_forecasts(workspace: Workspace, options: ForecastOptions, now_seconds: int) -> Forecasts:
    """Forecast from what the store holds.

    Raises:
        BadInput: an unknown pool or model, or no history before the moment.
    """
    name = options.model or workspace.settings.forecast.model
    models_named([name])
    panel = _known_by(workspace, options)
    context = workspace.context(panel.step_seconds)
    simplest = Persistence()
    fits = [NamedFit(simplest.name, version_text(now_seconds), simplest.fit(panel, context))]
    warnings: list[str] = []
    if name != simplest.name:
        fit, warnings = _usable_fit(workspace, name, panel, now_seconds)
        fits.insert(0, fit)
    return Forecasts(
        panel=panel,
        by_pool=forecast(panel, fits, context, len(panel)),
        warnings=(*warnings, *workspace.calendar_warnings(panel)),
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


def _usable_fit(
    workspace: Workspace, name: str, panel: DemandPanel, now_seconds: int
) -> tuple[NamedFit, list[str]]:
    """The saved fit where it may be used, else a new one; and what to know about it."""
    try:
        fit, age_seconds = _saved_fit(workspace, name, panel)
    except BadInput as error:
        known = workspace.training_panel(panel.step_seconds, panel.end_seconds)
        fitted = MODELS[name]().fit(known, workspace.context(panel.step_seconds))
        fit = NamedFit(name, f"{version_text(now_seconds)}-unsaved", fitted)
        return fit, [f"{error}; {name} was fitted for this forecast alone"]
    if age_seconds <= OLD_FIT_SECONDS:
        return fit, []
    days = age_seconds // DAY_SECONDS
    return fit, [f"{name} was trained {days} days before; 'tidecast train' renews it"]


def _saved_fit(workspace: Workspace, name: str, panel: DemandPanel) -> tuple[NamedFit, int]:
    """The saved fit, and how many seconds before the origin its history ended.

    Raises:
        BadInput: there is none, it is damaged, or it may not be used for this panel.
    """
    registry = workspace.registry(name)
    version = registry.champion()
    if version is None:
        raise BadInput(f"{name} has not been trained")
    manifest, artifact = registry.load(version)
    if manifest.step_seconds != panel.step_seconds:
        raise BadInput(f"the trained {name} has a step of {manifest.step_seconds} s")
    if manifest.last_seconds > panel.end_seconds:
        raise BadInput(f"the trained {name} has seen what came later")
    fitted = MODELS[name]().restore(artifact)
    return NamedFit(name, version, fitted), panel.end_seconds - manifest.last_seconds


def _by_level(quantiles: list[float]) -> Quantiles:
    return {f"{level:g}": value for level, value in zip(QUANTILE_LEVELS, quantiles, strict=True)}
