"""What the store holds, as it is printed."""

from forecaster.history import PoolHoldings
from forecaster.json_shapes import HeldPool, HistoryAnswer, Span
from forecaster.tasks.moments import iso_text
from forecaster.wiring import Workspace


def describe_history(workspace: Workspace) -> HistoryAnswer:
    """Every pool of the store, and what is damaged in it."""
    holdings = workspace.store.describe()
    return HistoryAnswer(
        data_directory=str(workspace.settings.data_directory),
        pools=[_held(pool) for pool in sorted(holdings.pools, key=lambda one: one.pool)],
        problems=list(holdings.problems),
    )


def _held(pool: PoolHoldings) -> HeldPool:
    return HeldPool(
        pool=str(pool.pool),
        start=iso_text(pool.start_seconds),
        end=iso_text(pool.end_seconds),
        start_seconds=pool.start_seconds,
        end_seconds=pool.end_seconds,
        step_seconds=pool.step_seconds,
        observed_share=pool.observed_share,
        zero_share=pool.zero_share,
        gaps=[Span(start_seconds=start, end_seconds=end) for start, end in pool.gaps],
        capped_steps=pool.capped_steps,
    )
