"""Answers of Prometheus laid on the rows of pools, before anyone says what an absent sample means.

Two kinds of answers come here: samples of a column, and counts of pods by what they ask for, from
which several columns are made. Nothing here talks to anyone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from features.pool import Pool
from features.series import BoolArray, FloatArray
from features.sources.prometheus_http import RangeSeries
from features.sources.query_plan import NodeSizes, PodCount, PodState


@dataclass(frozen=True, eq=False)
class PoolColumn:
    """Samples of one pool and column by row; where none is present the value means nothing.

    Attributes:
        values: the samples, NaN where Prometheus says NaN, shape (rows,).
        present: whether there is a sample, shape (rows,).
    """

    values: FloatArray
    present: BoolArray

    @classmethod
    def empty(cls, rows: int) -> "PoolColumn":
        """No sample yet."""
        return cls(np.full(rows, np.nan), np.zeros(rows, dtype=np.bool_))

    def lay(self, copy: RangeSeries) -> None:
        """Put samples in their rows; where copies differ, one of them missed something."""
        rows = copy.positions
        self.values[rows] = np.fmax(self.values[rows], copy.values)
        self.present[rows] = True

    def fill(self, rows: slice, values: FloatArray) -> None:
        """Put known values in some rows."""
        self.values[rows] = values
        self.present[rows] = True


class PodTally:
    """Pods of some steps and the GPUs they ask for, summed over their sizes."""

    def __init__(self, steps: int, looks_per_step: int) -> None:
        """Nothing seen yet.

        Args:
            steps: how many steps.
            looks_per_step: how often running, pending and held pods are looked at from a step's
                opening to its close, the opening left out. Those that arrived are counted at its
                close.
        """
        self._looks = looks_per_step
        inside = steps * looks_per_step + 1
        self._instants = {
            state: steps if state is PodState.ARRIVED else inside for state in PodState
        }
        self._pods: dict[tuple[Pool, PodState], FloatArray] = {}
        self._gpus: dict[tuple[Pool, PodState], FloatArray] = {}

    def add(self, count: PodCount, sizes: NodeSizes, answer: RangeSeries) -> None:
        """Take in the pods of one GPU type and size; positions count from the first look."""
        gpu_type, asked_gpus = answer.labels["gpu_type"], float(answer.labels["gpus"])
        key = Pool(gpu_type, sizes.shape(gpu_type, asked_gpus, count.unit)), count.state
        nothing = np.zeros(self._instants[count.state])
        self._pods.setdefault(key, nothing.copy())[answer.positions] += answer.values
        self._gpus.setdefault(key, nothing)[answer.positions] += answer.values * asked_gpus

    def columns(self) -> Iterator[tuple[Pool, str, FloatArray]]:
        """Each column of each pool that had a pod, shape (steps,); `capped` tells of held pods."""
        for pool in {pool for pool, _ in self._pods}:
            yield pool, "capped", self._highest(self._told(self._pods, pool, PodState.HELD))
        for pool in {pool for pool, state in self._pods if state is not PodState.HELD}:
            running, pending = (
                self._told(self._gpus, pool, state)
                for state in (PodState.RUNNING, PodState.PENDING)
            )
            yield pool, "demand_gpus", self._highest(running + pending)
            yield pool, "running_gpus", self._at_close(running)
            yield pool, "pending_gpus", self._at_close(pending)
            queued = self._told(self._pods, pool, PodState.PENDING)
            yield pool, "queued_jobs", self._at_close(queued)
            yield pool, "submitted_jobs", self._told(self._pods, pool, PodState.ARRIVED)
            yield pool, "submitted_gpus", self._told(self._gpus, pool, PodState.ARRIVED)

    def _told(
        self, what: Mapping[tuple[Pool, PodState], FloatArray], pool: Pool, state: PodState
    ) -> FloatArray:
        return what.get((pool, state), np.zeros(self._instants[state]))

    def _highest(self, levels: FloatArray) -> FloatArray:
        inside = np.lib.stride_tricks.sliding_window_view(levels, self._looks + 1)
        highest: FloatArray = inside[:: self._looks].max(axis=1)
        return highest

    def _at_close(self, levels: FloatArray) -> FloatArray:
        return levels[self._looks :: self._looks]
