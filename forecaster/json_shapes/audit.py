"""What the commands of `tidecast audit` print."""

from typing import Literal

from forecaster.json_shapes.base import Shape


class RecordedDecision(Shape):
    """One decision about one pool."""

    identifier: str
    """What it is found by."""

    pool: str
    """The pool."""

    made_seconds: int
    """Unix time of the cycle that decided it."""

    policy_version: int
    """The policy that it follows."""

    is_shadow: bool
    """Whether that policy is only tried, so that nothing was done."""

    mode: Literal["predictive", "reactive", "announced", "held"]
    """What led to it."""

    current_nodes: int
    """Nodes there were, or that were on their way."""

    desired_nodes: int
    """Nodes there should be."""

    bound_by: str
    """Code of the size, floor or guard that set the number."""

    held_back: bool
    """Whether a guard kept it from what was asked for."""

    standing: Literal["open", "closed", "abandoned"]
    """Whether it is known what became of it; `abandoned` where nobody will know."""


class DecisionsAnswer(Shape):
    """Printed by `tidecast audit list`."""

    decisions: list[RecordedDecision]
    """Some decisions, newest first."""

    cursor: str | None
    """What to give as `--cursor` for the next ones; null where there are none."""


class DecisionReason(Shape):
    """One step of a decision."""

    code: str
    """Stable name, such as `step-limit`."""

    text: str
    """One sentence with the numbers in it."""


class RecordedAction(Shape):
    """What one node pool was asked to have, and what became of it."""

    node_pool: str
    """The node pool."""

    back_end: str
    """Who was asked."""

    current_nodes: int
    """Nodes it was believed to have."""

    desired_nodes: int
    """Nodes it should have."""

    removable_nodes: list[str]
    """Nodes that were allowed to go."""

    outcome: Literal["done", "unchanged", "unverified", "refused", "failed"] | None
    """How far it came; null while nobody has said."""

    detail: str | None
    """What was asked for, seen or refused."""

    asked_for: int | None
    """The number that was written; null if none was."""


class DecisionAnswer(RecordedDecision):
    """Printed by `tidecast audit show`."""

    closed_seconds: int | None
    """When it was known what became of it."""

    needed_by_seconds: int | None
    """When the nodes were needed; null if none were asked for."""

    forecast: str | None
    """The forecast that it was decided on; null where there was none."""

    seen: dict[str, float | str | None]
    """The figures that it was decided on; null where one was not known."""

    thresholds: dict[str, float | str | None]
    """The policy's numbers that it was held against."""

    reasons: list[DecisionReason]
    """Why, in the order in which it was decided."""

    advice: list[str]
    """What an operator should know or do."""

    actions: list[RecordedAction]
    """What was asked for; empty where nothing was."""


class ExplanationAnswer(Shape):
    """Printed by `tidecast audit explain`; sentences, a line each."""

    identifier: str
    """The decision."""

    decided: str
    """What was decided, when and for which pool."""

    seen: list[str]
    """What was seen."""

    policy: list[str]
    """Which policy was followed, and its numbers."""

    why: list[str]
    """What led to it."""

    happened: list[str]
    """What became of it."""
