"""From jobs to the demand of each pool: what was asked for, step by step.

A row describes [t, t + step) and holds what is known when the step closes: a job counts as pending
from its submission, as running from its start, and not at all from its end. It must never count a
job before it was submitted, nor lose one that began before the span that is asked for.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from features.packing import full_nodes, nodes_for_counts
from features.pool import Pool, Shape
from features.series import BoolArray, DemandSeries, FloatArray, IntArray

_DECIMALS = 6  # sums of fractions leave dust behind the last job; it is no demand


@dataclass(frozen=True, eq=False)
class Jobs:
    """Jobs as arrays, shape (jobs,) each, in any order.

    Attributes:
        submit_seconds: when the job was asked for.
        start_seconds: when it began to run; its end if it never did.
        end_seconds: when it was over.
        gpus: GPUs of the whole job; below 1 for a shared GPU.
        node_gpus: GPUs of a full node of the kind it ran on.
        gpu_type: name of the GPU type.
    """

    submit_seconds: FloatArray
    start_seconds: FloatArray
    end_seconds: FloatArray
    gpus: FloatArray
    node_gpus: FloatArray
    gpu_type: NDArray[np.object_]

    def __len__(self) -> int:
        return len(self.gpus)

    def where(self, chosen: BoolArray) -> "Jobs":
        """The chosen jobs alone; `chosen` has shape (jobs,)."""
        return Jobs(
            self.submit_seconds[chosen],
            self.start_seconds[chosen],
            self.end_seconds[chosen],
            self.gpus[chosen],
            self.node_gpus[chosen],
            self.gpu_type[chosen],
        )


def starts_of_jobs(
    submit_seconds: FloatArray,
    start_seconds: FloatArray,
    end_seconds: FloatArray,
    duration_seconds: FloatArray,
) -> FloatArray:
    """When jobs began to run, where a log does not say; NaN marks what it does not say.

    A job without a start began when it was submitted; if it has no duration either, it never ran
    and waited until its end. A start outside of the job's life is brought to its nearer edge.

    Args:
        submit_seconds: shape (jobs,).
        start_seconds: shape (jobs,), may be NaN.
        end_seconds: shape (jobs,).
        duration_seconds: shape (jobs,), may be NaN.
    """
    assumed = np.where(np.isnan(duration_seconds), end_seconds, submit_seconds)
    started = np.where(np.isnan(start_seconds), assumed, start_seconds)
    return np.clip(started, submit_seconds, end_seconds)


def demand_of_jobs(
    jobs: Jobs, start_seconds: int, end_seconds: int, step_seconds: int
) -> tuple[DemandSeries, ...]:
    """Demand of every pool that has a job, on the grid rows that lie wholly inside [start, end).

    A job belongs to the whole-node pool of its GPU type when it needs at least a full node, else
    to the fragment pool. Of the columns, `demand_gpus` and `demand_nodes` are the highest of the
    step (counting the level at which it opens), jobs submitted are counted over the step, and all
    others are levels at its close. Of events in the same second ends come first.

    Args:
        jobs: all jobs, those before the span too.
        start_seconds: where the series begin, rounded up to the grid.
        end_seconds: where they end, rounded down to the grid.
        step_seconds: the grid's step.

    Returns:
        One series per pool, ordered by pool; empty when no row fits.
    """
    first = -(-start_seconds // step_seconds) * step_seconds
    rows = end_seconds // step_seconds - first // step_seconds
    if rows <= 0:
        return ()
    edges = first + step_seconds * np.arange(rows + 1, dtype=np.int64)
    return tuple(_series(pool, of_pool, edges) for pool, of_pool in _by_pool(jobs))


def _by_pool(jobs: Jobs) -> Iterator[tuple[Pool, Jobs]]:
    whole = jobs.gpus >= jobs.node_gpus
    for gpu_type in np.unique(jobs.gpu_type):
        of_type = jobs.gpu_type == gpu_type
        for shape, chosen in (
            (Shape.FRAGMENT, of_type & ~whole),
            (Shape.WHOLE_NODE, of_type & whole),
        ):
            if chosen.any():
                yield Pool(str(gpu_type), shape), jobs.where(chosen)


def _series(pool: Pool, jobs: Jobs, edges: IntArray) -> DemandSeries:
    submit, start, end = jobs.submit_seconds, jobs.start_seconds, jobs.end_seconds
    one = np.ones(len(jobs))
    return DemandSeries(
        pool=pool,
        start_seconds=int(edges[0]),
        step_seconds=int(edges[1] - edges[0]),
        demand_gpus=_Level.of(submit, end, jobs.gpus).highest(edges),
        running_gpus=_Level.of(start, end, jobs.gpus).closing(edges),
        pending_gpus=_Level.of(submit, start, jobs.gpus).closing(edges),
        queued_jobs=_Level.of(submit, start, one).closing(edges),
        submitted_jobs=_sum_per_step(submit, one, edges),
        submitted_gpus=_sum_per_step(submit, jobs.gpus, edges),
        demand_nodes=_nodes(pool.shape, jobs, edges).highest(edges),
    )


@dataclass(frozen=True, eq=False)
class _Level:
    """A quantity that changes at instants and stays between them.

    Attributes:
        instants: when it changes, ascending, shape (instants,).
        values: what it is before the first, and then after each; shape (instants + 1,).
    """

    instants: FloatArray
    values: FloatArray

    @classmethod
    def of(cls, begins: FloatArray, ends: FloatArray, weights: FloatArray) -> "_Level":
        """The sum of the weights over the jobs that are in [begin, end) at a time."""
        instants, which = np.unique(np.concatenate([begins, ends]), return_inverse=True)
        changes = np.bincount(which, np.concatenate([weights, -weights]), len(instants))
        values = np.concatenate([[0.0], np.cumsum(changes)])
        return cls(instants, np.round(values, _DECIMALS) + 0.0)

    def at(self, edges: IntArray) -> FloatArray:
        """The value just before each edge."""
        return self.values[np.searchsorted(self.instants, edges, side="left")]

    def closing(self, edges: IntArray) -> FloatArray:
        """The value when each step closes, shape (steps,)."""
        return self.at(edges[1:])

    def highest(self, edges: IntArray) -> FloatArray:
        """The highest value of each step, the one at which it opens included; shape (steps,)."""
        highest = self.at(edges[:-1])
        inside = slice(*np.searchsorted(self.instants, edges[[0, -1]], side="left"))
        step_of = np.searchsorted(edges, self.instants[inside], side="right") - 1
        np.maximum.at(highest, step_of, self.values[1:][inside])
        return highest


def _sum_per_step(times: FloatArray, weights: FloatArray, edges: IntArray) -> FloatArray:
    step_of = np.searchsorted(edges, times, side="right")  # 0 is before the first, the last beyond
    sums = np.bincount(step_of, weights, len(edges) + 1)[1:-1]
    return np.asarray(sums, dtype=np.float64)


def _nodes(shape: Shape, jobs: Jobs, edges: IntArray) -> _Level:
    if shape is Shape.WHOLE_NODE:
        nodes = full_nodes(jobs.gpus, jobs.node_gpus)
        return _Level.of(jobs.submit_seconds, jobs.end_seconds, nodes)
    return _nodes_of_fragments(jobs, edges)


def _nodes_of_fragments(jobs: Jobs, edges: IntArray) -> _Level:
    """Nodes that the fragments need once packed; known between the edges alone."""
    instants = np.unique(np.concatenate([jobs.submit_seconds, jobs.end_seconds]))
    first, stop = np.searchsorted(instants, edges[[0, -1]], side="left")
    packed = np.zeros(stop - first + 1)
    for node_gpus in np.unique(jobs.node_gpus):
        alike = jobs.where(jobs.node_gpus == node_gpus)
        sizes, size_of = np.unique(alike.gpus, return_inverse=True)
        changes = np.zeros((len(instants) + 1, len(sizes)), dtype=np.int32)
        np.add.at(changes, (np.searchsorted(instants, alike.submit_seconds) + 1, size_of), 1)
        np.add.at(changes, (np.searchsorted(instants, alike.end_seconds) + 1, size_of), -1)
        counts = np.cumsum(changes, axis=0)[first : stop + 1]
        packed += nodes_for_counts(sizes, counts, float(node_gpus))
    return _Level(instants[first:stop], packed)
