"""What the commands of `tidecast history` print."""

from typing import Literal

from forecaster.json_shapes.base import Shape, Span


class HeldPool(Shape):
    """What the store holds of one pool."""

    pool: str
    """The pool."""

    start: str | None
    """When its history begins, ISO 8601 in UTC; null where times are no dates."""

    end: str | None
    """When its newest step closes."""

    start_seconds: int
    """When its history begins, in seconds."""

    end_seconds: int
    """When its newest step closes, in seconds."""

    step_seconds: int
    """Spacing of its series."""

    observed_share: float
    """Share of steps that were observed, 0 to 1."""

    zero_share: float
    """Share of observed steps without any demand, 0 to 1."""

    gaps: list[Span]
    """Stretches that were not observed."""

    capped_steps: int
    """Steps in which a full cluster or a quota may have hidden demand."""


class HistoryAnswer(Shape):
    """Printed by `tidecast history show`."""

    data_directory: str
    """Where the history lies."""

    pools: list[HeldPool]
    """One entry per pool, in the order of their names."""

    problems: list[str]
    """Files that cannot be read, one line each."""


class PullAnswer(Shape):
    """Printed by `tidecast history pull`."""

    source: str
    """Which source was asked."""

    asked_spans: list[Span]
    """The stretches that were missing and were asked for; empty when nothing was."""

    pools: list[str]
    """The pools in the answer."""

    observed_steps: int
    """Observed steps in the answer, all pools together."""

    warnings: list[str]
    """What the source said beside its answer, one line each."""


class ImportedPool(Shape):
    """What a file said about one pool."""

    pool: str
    """The pool."""

    start_seconds: int
    """When what it said begins."""

    end_seconds: int
    """When it is over."""

    observed_steps: int
    """Steps whose demand it gave."""


class ImportedFile(Shape):
    """What was taken from one file."""

    file: str
    """The file, as it was given."""

    kind: Literal["jobs", "demand"]
    """Whether it lists jobs or demand."""

    step_seconds: int
    """Spacing of the series made from it."""

    pools: list[ImportedPool]
    """One entry per pool."""

    warnings: list[str]
    """What to know about it, one line each."""


class ImportAnswer(Shape):
    """Printed by `tidecast history import`."""

    files: list[ImportedFile]
    """One entry per file, in the order given."""
