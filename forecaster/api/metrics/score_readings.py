"""How forecasts have done, and how the nodes that were asked for."""

from collections.abc import Iterator, Mapping

from actuator.provisioning import p95_seconds
from features.pool import Pool
from forecaster.api.context import ApiContext
from forecaster.api.metrics.readings import Reading, known, one_of
from forecaster.database.cycle_memory import CycleMemory
from forecaster.database.kept_state import KeptInDatabase
from models.live_score import SpanScore
from models.verdict import Standing

STANDINGS = tuple(standing.value for standing in Standing)


def scores(context: ApiContext) -> Iterator[Reading]:
    """How each pool's forecasts have done."""
    for pool, kept in context.newest_scores().items():
        standing = kept.verdict.standing.value
        yield from one_of("tidecast_verdict", standing, STANDINGS, str(pool))
        for span, score in kept.score.spans.items():
            yield from _span(pool, span.replace(" ", ""), score)


def node_pools(context: ApiContext) -> Iterator[Reading]:
    """What became of nodes that were asked for."""
    now = context.clock()
    kept = KeptInDatabase(CycleMemory(context.database)).load()
    for name, memory in sorted(kept.memory.node_pools.items()):
        until = memory.backoff_until_seconds
        left_seconds = 0 if until is None else max(0, until - now)
        provisioning = p95_seconds(kept.provisioning, name)
        yield from known("tidecast_launch_failures_in_a_row", memory.failures, name)
        yield from known("tidecast_backoff_seconds", left_seconds, name)
        yield from known("tidecast_ordered_nodes", memory.ordered_nodes, name)
        yield from known("tidecast_provisioning_p95_seconds", provisioning, name)


def _span(pool: Pool, span: str, score: SpanScore) -> Iterator[Reading]:
    by_level: dict[str, Mapping[float, float]] = {
        "tidecast_score_coverage": score.coverage,
        "tidecast_score_coverage_error": score.coverage_error,
        "tidecast_score_pinball_gpus": score.pinball_gpus,
        "tidecast_score_persistence_pinball_gpus": score.persistence_pinball_gpus,
        "tidecast_score_pinball_ratio": score.pinball_ratio,
    }
    for name, values in by_level.items():
        for level, value in values.items():
            yield from known(name, value, str(pool), span, f"p{level * 100:g}")
    yield from known("tidecast_score_bias_gpus", score.bias_gpus, str(pool), span)
