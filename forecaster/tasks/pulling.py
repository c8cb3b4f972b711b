"""From Prometheus to the store: only what the store lacks."""

from forecaster.json_shapes import PullAnswer, Span
from forecaster.wiring import Workspace


def pull_history(workspace: Workspace, now_seconds: int, days: int | None = None) -> PullAnswer:
    """Ask Prometheus for what is missing of the last days, and keep it.

    Args:
        workspace: settings and store.
        now_seconds: Unix time up to which history is wanted.
        days: how far back; as far as the store keeps, if left out.

    Raises:
        BadInput: no Prometheus is set, or the store cannot be written.
        SourceUnavailable: Prometheus did not answer, or only in part.
    """
    source = workspace.prometheus
    settings = workspace.settings.history
    report = workspace.store.pull(
        source, now_seconds, days or settings.keep_days, settings.step_seconds
    )
    return PullAnswer(
        source=source.name,
        asked_spans=[
            Span(start_seconds=start, end_seconds=end) for start, end in report.asked_spans
        ],
        pools=[str(pool) for pool in report.pools],
        observed_steps=report.observed_steps,
        warnings=list(report.warnings),
    )
