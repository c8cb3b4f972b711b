"""Features of one live origin, for a few pools and for many."""

import numpy as np

from benchmarks.clusters import context, panel
from benchmarks.measuring import Row, milliseconds, timed
from features.pipeline import feature_table


def rows() -> list[Row]:
    """Time of one tick's features; the cost per pool should stay flat."""
    made = []
    situation = context()
    for pools, goal in ((8, ""), (64, "<= 15 ms"), (256, ""), (1000, "")):
        history = panel(pools)
        origin = np.array([len(history)])

        def tick(history=history, origin=origin) -> object:
            return feature_table(
                history,
                origin,
                situation.calendar,
                situation.events,
                peak_steps=situation.horizon.peak_steps,
                horizon_steps=situation.horizon.steps,
            )

        timing = timed(tick, runs=15, warm_ups=3)
        each = timing.cpu_seconds / pools * 1e6
        made.append(
            Row(
                f"one origin, {pools} pools x 30 days",
                f"{milliseconds(timing)}, {each:.0f} us a pool",
                goal,
            )
        )
    return made
