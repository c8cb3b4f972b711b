"""What `tidecast train` and the commands of `tidecast models` print."""

from forecaster.json_shapes.base import Shape, Span


class TrainedModel(Shape):
    """One model that has learned."""

    model_name: str
    """Which model."""

    model_version: str
    """The version it was saved as."""

    loss_ratio: dict[str, float | None]
    """Loss on the judged days over that of persistence, by measure (`peak 0.9`, `peak 0.95`,
    `path WQL`); empty where the history is too short to judge."""


class ComparedMeasure(Shape):
    """How much more the challenger lost than the champion, or than persistence without one."""

    measure: str
    """What was compared: `peak 0.9`, `peak 0.95` or `path WQL`."""

    difference: float
    """Relative difference of the losses, mean over pools; below 0 the challenger is better."""

    low: float
    """Lower end of its bootstrap interval."""

    high: float
    """Upper end; the truth is below it with 95 % certainty."""


class TrainAnswer(Shape):
    """Printed by `tidecast train`."""

    models: list[TrainedModel]
    """The models that were trained and saved, in the order of preference."""

    pools: list[str]
    """The pools they learned from."""

    trained: Span
    """The history they learned from."""

    judged: Span | None
    """The days they were judged on, unseen by them; null where the history is too short."""

    challenger: str
    """The model that was put forward to be champion."""

    promoted: bool
    """Whether it is champion now."""

    reasons: list[str]
    """Why, one line each."""

    comparisons: list[ComparedMeasure]
    """The figures behind it."""

    champion_version: str | None
    """The version that forecasts are made with now."""

    removed_versions: list[str]
    """Old versions that were removed."""

    warnings: list[str]
    """What else to know, one line each."""


class ModelVersion(Shape):
    """One trained version of a model."""

    model_version: str
    """The version."""

    model_name: str
    """Which model."""

    is_champion: bool
    """Whether forecasts are made with it."""

    rollbacks_away: int | None
    """How many rollbacks would make it champion; null where none does."""

    step_seconds: int
    """Step of the series it learned from."""

    first_seconds: int
    """When the history it learned from began."""

    last_seconds: int
    """When that history ended."""

    loss_ratio: dict[str, float | None]
    """Loss on the judged days over that of persistence, by measure; empty where not judged."""


class ModelsAnswer(Shape):
    """Printed by `tidecast models list`."""

    models_directory: str
    """Where the versions lie."""

    champion_version: str | None
    """The champion; null before the first promotion."""

    versions: list[ModelVersion]
    """All versions, newest first."""

    problems: list[str]
    """Versions that cannot be read, one line each."""


class ModelAnswer(ModelVersion):
    """Printed by `tidecast models show`; every file was read and is what was saved."""

    pools: list[str]
    """The pools it learned from."""

    data_sha256: str
    """Digest of the history it learned from."""

    code_version: str
    """Version of Tidecast that trained it."""

    files_sha256: dict[str, str]
    """Digest of each of its files."""

    bytes: int
    """Size of its files together."""

    reasons: list[str]
    """Why it was made champion when it was trained, or was not."""


class PromotionAnswer(Shape):
    """Printed by `tidecast models promote` and `tidecast models rollback`."""

    champion_version: str
    """The version that forecasts are made with from now on."""

    model_name: str
    """Which model it is."""

    warnings: list[str]
    """What else to know, one line each."""
