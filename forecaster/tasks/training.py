"""From the store to saved fits: what models learned from the newest days."""

from collections.abc import Sequence

from features.panel import DemandPanel
from forecaster.json_shapes import Span, TrainAnswer, TrainedModel
from forecaster.tasks.moments import version_text
from forecaster.wiring import Workspace
from models.backtest import Progress
from models.protocol import FittedModel, Model
from models.registry import Manifest
from models.zoo import models_named


def train_models(
    workspace: Workspace, names: Sequence[str], now_seconds: int, progress: Progress
) -> TrainAnswer:
    """Fit models on the newest days of all pools, and save them.

    Args:
        workspace: settings and store.
        names: of the models; the settings' model if empty.
        now_seconds: Unix time, for the version.
        progress: told before and after each model.

    Raises:
        BadInput: an unknown model, no history, or a fit that cannot be saved.
    """
    models = models_named(names or [workspace.settings.forecast.model])
    newest = workspace.panel()
    panel = workspace.training_panel(newest.step_seconds, newest.end_seconds)
    context = workspace.context(panel.step_seconds)
    version = version_text(now_seconds)
    for done, model in enumerate(models):
        progress(model.name, done, len(models))
        _save(workspace, model, model.fit(panel, context), panel, version)
    progress(models[-1].name, len(models), len(models))
    return TrainAnswer(
        models=[TrainedModel(model_name=one.name, model_version=version) for one in models],
        pools=[str(pool) for pool in panel.pools],
        trained=Span(start_seconds=panel.start_seconds, end_seconds=panel.end_seconds),
        warnings=workspace.calendar_warnings(panel),
    )


def _save(
    workspace: Workspace, model: Model, fitted: FittedModel, panel: DemandPanel, version: str
) -> None:
    manifest = Manifest(
        model=model.name,
        version=version,
        step_seconds=panel.step_seconds,
        pools=tuple(str(pool) for pool in panel.pools),
        first_seconds=panel.start_seconds,
        last_seconds=panel.end_seconds,
        digests={},
    )
    registry = workspace.registry(model.name)
    registry.save(manifest, fitted.artifact())
    registry.promote(version)
