"""From the store to a champion: judge, fit, save, promote, and tell MLflow.

In this order, so that whatever ends it early leaves the old champion in its place. What is saved
has learned from all history, the judged days too; judged was the same model without them.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, astuple
from importlib.metadata import version as installed_version

import numpy as np

from features.errors import BadInput, SourceUnavailable
from features.panel import DemandPanel
from forecaster.json_shapes import ComparedMeasure, Span, TrainAnswer, TrainedModel
from forecaster.tasks.judging import Contest, hold_contest
from forecaster.tasks.moments import version_text
from forecaster.tasks.serving import SavedFit, first_whole
from forecaster.wiring import Workspace
from models.backtest import Progress
from models.protocol import Context, ContinuingModel, FittedModel, Model, with_threads
from models.registry import Manifest
from models.succession import standing
from models.tracking import TrainingRecord, settings_text
from models.zoo import MODELS, models_named


def train_models(
    workspace: Workspace, names: Sequence[str], now_seconds: int, progress: Progress
) -> TrainAnswer:
    """Train models on the newest days of all pools, and make the best champion if it earns it.

    Args:
        workspace: settings, store and registry.
        names: of the candidates, best liked first; the settings' if empty.
        now_seconds: Unix time, for the version.
        progress: told before each model is judged and fitted.

    Raises:
        BadInput: an unknown model, no history, or a fit that cannot be saved.
    """
    settings = workspace.settings
    wanted = names or settings.training.candidates or [settings.forecast.model]
    models = models_named(list(dict.fromkeys(wanted)))
    newest = workspace.panel()
    incumbent, warnings = _incumbent(workspace, newest.step_seconds)
    contest = hold_contest(workspace, models, incumbent, newest, progress)
    if contest.verdict.promote and contest.challenger not in {one.name for one in models}:
        models.append(MODELS[contest.challenger]())
    panel = workspace.training_panel(newest.step_seconds, newest.end_seconds)
    saved = []
    for done, model in enumerate(models):
        progress(f"fitting {model.name}", len(models) + done, 2 * len(models))
        manifest = _manifest(model, panel, contest, now_seconds)
        saved.append(_fit_and_save(workspace, model, incumbent, panel, manifest))
    if contest.verdict.promote:
        (version,) = (one.version for one in saved if one.model == contest.challenger)
        workspace.registry.promote(version, now_seconds, contest.verdict.reasons)
    removed = workspace.registry.prune(settings.training.keep_versions)
    warnings += _recorded_in_mlflow(workspace, models, saved, progress)
    warnings += workspace.calendar_warnings(panel)
    return TrainAnswer(
        models=[_trained_shape(one, contest) for one in saved],
        pools=[str(pool) for pool in panel.pools],
        trained=Span(start_seconds=panel.start_seconds, end_seconds=panel.end_seconds),
        judged=_span(contest.judged),
        challenger=contest.challenger,
        promoted=contest.verdict.promote,
        reasons=list(contest.verdict.reasons),
        comparisons=[ComparedMeasure(**asdict(one)) for one in contest.verdict.comparisons],
        champion_version=workspace.registry.champion(),
        removed_versions=list(removed),
        warnings=warnings,
    )


def _recorded_in_mlflow(
    workspace: Workspace, models: Sequence[Model], saved: Sequence[Manifest], progress: Progress
) -> list[str]:
    """Tell MLflow what was trained and who is champion; what fails is a warning, never an error."""
    tracker = workspace.tracker
    champion = workspace.registry.champion()
    if tracker is None:
        return []
    progress("recording in MLflow", 2 * len(models), 2 * len(models))
    try:
        for model, manifest in zip(models, saved, strict=True):
            directory = workspace.models_directory / manifest.version
            if directory.is_dir():  # the newest of very many may be gone already
                tracker.record(TrainingRecord(manifest, directory, settings_text(model)))
        if champion is not None and champion in {one.version for one in saved}:
            tracker.name_champion(champion)
    except SourceUnavailable as error:
        return [f"{error}; the models are saved, and forecasts need no MLflow"]
    return []


def _incumbent(workspace: Workspace, step_seconds: int) -> tuple[SavedFit | None, list[str]]:
    """The champion that a challenger has to beat, and what is wrong with those that are damaged."""
    registry = workspace.registry
    found = first_whole(registry, standing(registry.promotions()))
    if found.fit is not None and found.fit.manifest.step_seconds != step_seconds:
        return None, list(found.refused)
    return found.fit, list(found.refused)


def _fit_and_save(
    workspace: Workspace,
    model: Model,
    incumbent: SavedFit | None,
    panel: DemandPanel,
    manifest: Manifest,
) -> Manifest:
    """Fit a model on everything, going on from the champion where it can, and save it.

    Raises:
        BadInput: it cannot be saved, or would not be read back as what it is.
    """
    context = workspace.context(panel.step_seconds)
    threads = workspace.fan_out.threads_each(1)
    fitted = with_threads(_continuing(model, incumbent, panel), threads).fit(panel, context)
    artifact = fitted.artifact()
    if not _say_the_same(fitted, model.restore(artifact), panel, context):
        raise BadInput(
            f"{model.name} does not forecast the same once it is read back; nothing was promoted. "
            "Please report this"
        )
    return workspace.registry.save(manifest, artifact)


def _continuing(model: Model, incumbent: SavedFit | None, panel: DemandPanel) -> Model:
    """The model that goes on from the champion, where that is its own and not from the future."""
    if (
        incumbent is None
        or incumbent.manifest.model != model.name
        or incumbent.manifest.last_seconds > panel.end_seconds
        or not isinstance(model, ContinuingModel)
    ):
        return model
    return model.continued_from(incumbent.fitted)


def _say_the_same(
    one: FittedModel, other: FittedModel, panel: DemandPanel, context: Context
) -> bool:
    newest = np.array([len(panel)])
    ours, theirs = (fitted.predict(panel, newest, context) for fitted in (one, other))
    return np.allclose(ours.peak, theirs.peak, rtol=1e-9, equal_nan=True) and np.allclose(
        ours.path, theirs.path, rtol=1e-9, equal_nan=True
    )


def _manifest(model: Model, panel: DemandPanel, contest: Contest, now_seconds: int) -> Manifest:
    was_put_forward = model.name == contest.challenger
    return Manifest(
        model=model.name,
        version=version_text(now_seconds),
        step_seconds=panel.step_seconds,
        pools=tuple(str(pool) for pool in panel.pools),
        first_seconds=panel.start_seconds,
        last_seconds=panel.end_seconds,
        data_digest=panel_digest(panel),
        code_version=installed_version("tidecast"),
        scores={one.measure: one.ratio for one in contest.to_persistence.get(model.name, ())},
        reasons=contest.verdict.reasons
        if was_put_forward
        else (f"{contest.challenger} was put forward",),
    )


def panel_digest(panel: DemandPanel) -> str:
    """SHA-256 of all that a panel holds; the same for the same history on any machine."""
    hashed = hashlib.sha256()
    head = ([str(pool) for pool in panel.pools], panel.start_seconds, panel.step_seconds)
    hashed.update(json.dumps(head).encode())
    for values in (one for one in astuple(panel) if isinstance(one, np.ndarray)):
        hashed.update(np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<")).tobytes())
    return hashed.hexdigest()


def _trained_shape(manifest: Manifest, contest: Contest) -> TrainedModel:
    compared = contest.to_persistence.get(manifest.model, ())
    return TrainedModel(
        model_name=manifest.model,
        model_version=manifest.version,
        loss_ratio={one.measure: one.ratio for one in compared},
    )


def _span(between: tuple[int, int] | None) -> Span | None:
    return None if between is None else Span(start_seconds=between[0], end_seconds=between[1])
