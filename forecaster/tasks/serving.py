"""Which fit answers a forecast: the champion, or what stands in for it.

A fit is used only where its files are what was saved, and where it learned from nothing that came
after the forecast's origin. A damaged champion is refused, and the one before it answers in the
same call, or persistence; every forecast then says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from features.baselines import DAY_SECONDS
from features.errors import BadInput
from features.panel import DemandPanel
from forecaster.tasks.moments import version_text
from forecaster.wiring import Workspace
from models.forecasting import NamedFit
from models.persistence import Persistence
from models.protocol import FittedModel
from models.registry import Manifest, ModelRegistry
from models.succession import standing
from models.zoo import MODELS, models_named

OLD_FIT_SECONDS = 3 * DAY_SECONDS
SIMPLEST = Persistence().name


@dataclass(frozen=True)
class SavedFit:
    """A fit as it was saved, and what it was made from."""

    manifest: Manifest
    fitted: FittedModel

    def named(self) -> NamedFit:
        """The fit with the name and version that forecasts carry."""
        return NamedFit(self.manifest.model, self.manifest.version, self.fitted)


@dataclass(frozen=True)
class Found:
    """The first version that is whole, and what is wrong with those before it.

    Attributes:
        fit: None where there is no version, or none that is whole.
        refused: one line for each that was refused.
    """

    fit: SavedFit | None
    refused: tuple[str, ...]


@dataclass(frozen=True)
class Serving:
    """What answers a forecast.

    Attributes:
        fits: the chosen one first, then persistence for pools on which it is silent.
        notes: what a reader of any of the forecasts must know, one line each.
        warnings: what else to know, one line each.
    """

    fits: tuple[NamedFit, ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def serving(
    workspace: Workspace, name: str | None, panel: DemandPanel, now_seconds: int
) -> Serving:
    """What answers a forecast from the end of a panel.

    Args:
        workspace: settings and registry.
        name: this model, in its newest version; the champion if None.
        panel: history up to the origin.
        now_seconds: Unix time, for the version of what is fitted here.

    Raises:
        BadInput: there is no model of that name.
    """
    simplest = _fitted_here(workspace, SIMPLEST, panel, now_seconds)
    if name == SIMPLEST:
        return Serving((simplest,))
    if name is not None:
        models_named([name])
    found = _found(workspace.registry, name)
    if found.fit is None and found.refused:
        notes = (*found.refused, f"{SIMPLEST} answers in its place")
        return Serving((simplest,), notes=notes, warnings=notes)
    unusable = _unusable(found.fit, name or workspace.settings.forecast.model, panel)
    if found.fit is None or unusable:
        wanted = found.fit.manifest.model if found.fit else name
        wanted = wanted or workspace.settings.forecast.model
        fresh = _fitted_here(workspace, wanted, panel, now_seconds)
        told = f"{unusable}; {wanted} was fitted for this forecast alone"
        return Serving((fresh, simplest), warnings=(told,))
    chosen = found.fit.named()
    notes = found.refused and (*found.refused, f"{chosen.name} {chosen.version} answers instead")
    return Serving((chosen, simplest), notes, warnings=(*notes, *_age_warnings(found.fit, panel)))


def first_whole(registry: ModelRegistry, versions: Sequence[str]) -> Found:
    """The first of these versions that is whole and can be read."""
    refused: list[str] = []
    for version in versions:
        try:
            return Found(_restored(registry, version), tuple(refused))
        except BadInput as error:
            refused.append(f"model version {version} was refused: {error}")
    return Found(None, tuple(refused))


def _found(registry: ModelRegistry, name: str | None) -> Found:
    try:
        if name is None:
            return first_whole(registry, standing(registry.promotions()))
    except BadInput as error:
        return Found(None, (str(error),))
    return first_whole(registry, _versions_of(registry, name))


def _versions_of(registry: ModelRegistry, name: str) -> list[str]:
    """The versions of one model, newest first."""
    found = []
    for version in reversed(registry.versions()):
        try:
            if registry.manifest(version).model == name:
                found.append(version)
        except BadInput:  # whose version it is cannot be told, so it is nobody's
            continue
    return found


def _restored(registry: ModelRegistry, version: str) -> SavedFit:
    manifest, artifact = registry.load(version)
    (model,) = models_named([manifest.model])
    return SavedFit(manifest, model.restore(artifact))


def _unusable(fit: SavedFit | None, wanted: str, panel: DemandPanel) -> str | None:
    """Why there is nothing to be used for this panel; None if there is."""
    if fit is None:
        return f"{wanted} has not been trained"
    if fit.manifest.step_seconds != panel.step_seconds:
        return f"the trained {fit.manifest.model} has a step of {fit.manifest.step_seconds} s"
    if fit.manifest.last_seconds > panel.end_seconds:
        return f"the trained {fit.manifest.model} has seen what came later"
    return None


def _fitted_here(workspace: Workspace, name: str, panel: DemandPanel, now_seconds: int) -> NamedFit:
    context = workspace.context(panel.step_seconds)
    if name == SIMPLEST:
        return NamedFit(name, version_text(now_seconds), MODELS[name]().fit(panel, context))
    known = workspace.training_panel(panel.step_seconds, panel.end_seconds)
    version = f"{version_text(now_seconds)}-unsaved"
    return NamedFit(name, version, MODELS[name]().fit(known, context))


def _age_warnings(fit: SavedFit, panel: DemandPanel) -> tuple[str, ...]:
    age_seconds = panel.end_seconds - fit.manifest.last_seconds
    if age_seconds <= OLD_FIT_SECONDS:
        return ()
    days = age_seconds // DAY_SECONDS
    return (f"{fit.manifest.model} was trained {days} days before; 'tidecast train' renews it",)
