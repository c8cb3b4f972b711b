"""The trained versions: which there are, what each was made from, and who is champion."""

from features.errors import BadInput, SourceUnavailable
from forecaster.json_shapes import ModelAnswer, ModelsAnswer, ModelVersion, PromotionAnswer
from forecaster.wiring import Workspace
from models.registry import Manifest
from models.succession import Promotion, standing


def list_versions(workspace: Workspace) -> ModelsAnswer:
    """All versions, newest first, and the champion among them.

    Raises:
        BadInput: the list of promotions is damaged.
    """
    registry = workspace.registry
    promotions = registry.promotions()
    versions, problems = [], []
    for version in reversed(registry.versions()):
        try:
            versions.append(_shape(registry.manifest(version), promotions))
        except BadInput as error:
            problems.append(str(error))
    return ModelsAnswer(
        models_directory=str(workspace.models_directory),
        champion_version=registry.champion(),
        versions=versions,
        problems=problems,
    )


def show_version(workspace: Workspace, version: str | None) -> ModelAnswer:
    """One version, its files checked; the champion if none is named.

    Raises:
        BadInput: there is no such version, no champion, or it is damaged.
    """
    registry = workspace.registry
    version = version or registry.champion()
    if version is None:
        raise BadInput("there is no champion yet; 'tidecast train' makes one")
    manifest, artifact = registry.load(version)
    return ModelAnswer(
        **dict(_shape(manifest, registry.promotions())),
        pools=list(manifest.pools),
        data_sha256=manifest.data_digest,
        code_version=manifest.code_version,
        files_sha256=dict(manifest.digests),
        bytes=sum(len(content) for content in artifact.values()),
        reasons=list(manifest.reasons),
    )


def promote_version(workspace: Workspace, version: str, now_seconds: int) -> PromotionAnswer:
    """Make a version champion because a person says so.

    Raises:
        BadInput: there is no such version, or it is damaged.
    """
    workspace.registry.promote(version, now_seconds, ("promoted by hand",))
    return _promotion(workspace, version)


def roll_back(workspace: Workspace) -> PromotionAnswer:
    """Make the champion before this one champion again.

    Raises:
        BadInput: there is none that is whole.
    """
    return _promotion(workspace, workspace.registry.roll_back())


def _promotion(workspace: Workspace, version: str) -> PromotionAnswer:
    warnings = []
    try:
        if workspace.tracker is not None:
            workspace.tracker.name_champion(version)
    except SourceUnavailable as error:
        warnings.append(str(error))
    manifest = workspace.registry.manifest(version)
    return PromotionAnswer(champion_version=version, model_name=manifest.model, warnings=warnings)


def _shape(manifest: Manifest, promotions: tuple[Promotion, ...]) -> ModelVersion:
    in_line = standing(promotions)
    place = in_line.index(manifest.version) if manifest.version in in_line else None
    return ModelVersion(
        model_version=manifest.version,
        model_name=manifest.model,
        is_champion=place == 0,
        rollbacks_away=place,
        step_seconds=manifest.step_seconds,
        first_seconds=manifest.first_seconds,
        last_seconds=manifest.last_seconds,
        loss_ratio=dict(manifest.scores),
    )
