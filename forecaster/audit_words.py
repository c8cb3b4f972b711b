"""A decision told in plain words: what was seen, by which policy, why, and what became of it.

It only tells what is on record, and says so where something is not known.
"""

from zoneinfo import ZoneInfo

from actuator.audit import AuditEvent, EventStanding, Figures
from actuator.plan import Mode
from forecaster.cli.times import moment_text
from forecaster.database.policy_versions import PolicyVersion
from forecaster.json_shapes import ExplanationAnswer

UNITS = {"gpus": "GPUs", "nodes": "nodes", "jobs": "jobs", "seconds": "s"}

TOLD_THRESHOLDS = (
    "strategy",
    "quantile",
    "buffer_factor",
    "trigger_share",
    "floor_nodes",
    "ceiling_nodes",
    "lead_seconds",
)
"""Those of the pool itself; the guards' numbers stand in the reasons that name them."""

LED_TO_IT = {
    Mode.PREDICTIVE: "the forecast led to it",
    Mode.REACTIVE: "the queue as it was led to it, without a forecast",
    Mode.ANNOUNCED: "an announcement led to it",
    Mode.HELD: "what there was was held",
}


def explained(event: AuditEvent, policy: PolicyVersion | None, zone: ZoneInfo) -> ExplanationAnswer:
    """The whole story of a decision.

    Args:
        event: the decision as it is on record.
        policy: the version it followed; None where that is not in the database.
        zone: the cluster's time zone.
    """
    return ExplanationAnswer(
        identifier=event.identifier,
        decided=_decided(event, zone),
        seen=_seen(event),
        policy=_policy(event, policy, zone),
        why=[f"{LED_TO_IT[event.plan.mode]}:", *(one.text for one in event.plan.reasons)],
        happened=_happened(event, zone),
    )


def figures_text(figures: Figures) -> str:
    """Figures by name as people read them: `demand 38 GPUs, lead 1200 s`."""
    return ", ".join(
        f"{_words(name)} {_value_text(name, value)}"
        for name, value in figures.items()
        if value is not None
    )


def _words(name: str) -> str:
    """A figure's name without its unit."""
    first, _, unit = name.rpartition("_")
    return (first if unit in UNITS else name).replace("_", " ")


def _value_text(name: str, value: float | str | None) -> str:
    unit = UNITS.get(name.rpartition("_")[2], "")
    shown = f"{value:g}" if isinstance(value, float | int) else f"{value}"
    return f"{shown} {unit}".rstrip()


def _decided(event: AuditEvent, zone: ZoneInfo) -> str:
    plan, when = event.plan, moment_text(event.made_seconds, zone)
    change = (
        f"{plan.desired_nodes} nodes, as there were"
        if plan.desired_nodes == plan.current_nodes
        else f"{plan.desired_nodes} nodes where there were {plan.current_nodes}"
    )
    until = (
        ""
        if plan.needed_by_seconds is None
        else f", needed by {moment_text(plan.needed_by_seconds, zone)}"
    )
    return f"{when}: {event.pool} should have {change}{until}"


def _seen(event: AuditEvent) -> list[str]:
    figures = {name: value for name, value in event.seen.items() if name != "forecast"}
    known = figures_text(figures)
    missing = [_words(name) for name, value in figures.items() if value is None]
    lines = [known] if known else []
    lines += [f"not known: {', '.join(missing)}"] if missing else []
    reference = event.forecast_reference
    return [*lines, "no forecast" if reference is None else f"forecast: {reference}"]


def _policy(event: AuditEvent, policy: PolicyVersion | None, zone: ZoneInfo) -> list[str]:
    if policy is None:
        head = f"version {event.policy_version}, which is not in this database"
    else:
        by = policy.authorship
        note = f": {by.note}" if by.note else ""
        head = (
            f"version {policy.version} by {by.author}, {moment_text(by.made_seconds, zone)}{note}"
        )
    tried = ["it is only tried beside the one in force"] if event.shadow else []
    told = {name: event.thresholds.get(name) for name in TOLD_THRESHOLDS}
    return [head, *tried, figures_text(told)]


def _happened(event: AuditEvent, zone: ZoneInfo) -> list[str]:
    if event.shadow:
        return ["nothing was done: a shadow policy is only recorded"]
    if not event.actions:
        return ["nothing was asked for"]
    asked = [
        f"{one.node_pool.name} ({one.node_pool.back_end}): {one.desired_nodes} nodes where there "
        f"were {one.current_nodes}"
        for one in event.actions
    ]
    if event.standing is EventStanding.OPEN:
        return [*asked, "what became of it is not on record yet"]
    if event.standing is EventStanding.ABANDONED:
        return [*asked, "what became of it is not known: the process ended before it could say"]
    lines = [
        f"{line}: {outcome.standing.value}, {outcome.detail}"
        for line, outcome in zip(asked, event.outcomes, strict=False)
    ]
    closed = event.closed_seconds
    return [*lines, *([] if closed is None else [f"known at {moment_text(closed, zone)}"])]
