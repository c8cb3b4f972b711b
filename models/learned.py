"""What the combination has learned of its members: weights, calibration, and until when.

It learns a window only when the window has closed, and each window once. Learning returns a new
value; the old one stays what it was.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from features.series import BoolArray, FloatArray, IntArray
from models.calibration import Calibration, Habits, Outcome, snapped
from models.combination import Record, combined
from models.forecast import QUANTILE_LEVELS, QuantileArrays
from models.members import Members, Trust, path_prior, peak_prior
from models.scores import pinball_loss


@dataclass(frozen=True, eq=False)
class Learned:
    """Weights and calibration of some pools.

    Attributes:
        until_seconds: Unix time of the last mark that was learned.
        peak: the members' record on the peak.
        path: the members' record on the path.
        calibration: how the peak's quantiles are stretched.
    """

    until_seconds: int
    peak: Record
    path: Record
    calibration: Calibration

    @classmethod
    def blank(cls, pools: int, until_seconds: int) -> "Learned":
        """Nothing is learned before this moment."""
        levels = len(QUANTILE_LEVELS)
        return cls(
            until_seconds=until_seconds,
            peak=Record.blank(pools, levels, peak_prior(Trust.full(pools))),
            path=Record.blank(pools, levels, path_prior(Trust.full(pools))),
            calibration=Calibration.blank(pools),
        )

    def of_pools(self, rows: IntArray) -> "Learned":
        """The same for some pools by position; -1 stands for a pool that is new."""
        return Learned(
            self.until_seconds,
            self.peak.of_pools(rows),
            self.path.of_pools(rows),
            self.calibration.of_pools(rows),
        )

    def with_trust(self, trust: Trust) -> "Learned":
        """The same, with so much prior trust in trees, of these pools in this order."""
        return replace(
            self,
            peak=replace(self.peak, prior=peak_prior(trust)),
            path=replace(self.path, prior=path_prior(trust)),
        )

    def published(self, members: Members, habits: Habits) -> QuantileArrays:
        """What the combination says from the members' origins, in GPUs.

        Args:
            members: of the same pools.
            habits: how demand moves on these pools.
        """
        peak, path = self._combined(members)
        rise = self.calibration.applied(peak, habits, members.quarters)
        return QuantileArrays(
            path=members.now_gpus[..., None, None] + snapped(path, habits.blocks_gpus),
            peak=members.now_gpus[..., None] + rise,
        ).made_valid()

    def after_peak(
        self, members: Members, came_gpus: FloatArray, habits: Habits, per_day: float
    ) -> "Learned":
        """What is known after one more window has closed.

        Args:
            members: what they said from that window's origin, one origin.
            came_gpus: the window's peak, shape (pools,); NaN where it is not known.
            habits: of these pools.
            per_day: how many windows a day has.
        """
        rise = came_gpus - members.now_gpus[:, 0]
        said, _ = self._combined(members)
        weights = self.peak.weights(_speaks(members.peak[:, 0]))
        record = self.peak.updated(
            pinball_loss(members.peak[:, 0], rise[:, None]),
            pinball_loss(said[:, 0], rise),
            weights,
            per_day,
        )
        outcome = Outcome(said[:, 0], rise, int(members.quarters[0]))
        calibration = self.calibration.updated(outcome, habits, per_day)
        return Learned(self.until_seconds, record, self.path, calibration)

    def after_path(self, members: Members, came_gpus: FloatArray, per_day: float) -> "Learned":
        """What is known after one more horizon has closed.

        Args:
            members: what they said from that horizon's origin, one origin.
            came_gpus: demand of each step, shape (pools, steps); NaN where it is not known.
            per_day: how many windows a day has.
        """
        rise = came_gpus - members.now_gpus
        _, said = self._combined(members)
        weights = self.path.weights(_speaks(members.path[:, 0, 0]))
        losses = pinball_loss(members.path[:, 0], rise[..., None]).mean(axis=1)
        own = pinball_loss(said[:, 0], rise).mean(axis=1)
        record = self.path.updated(losses, own, weights, per_day)
        return Learned(self.until_seconds, self.peak, record, self.calibration)

    def _combined(self, members: Members) -> tuple[FloatArray, FloatArray]:
        """Combined rises of the peak and of the path, before calibration."""
        peak_weights = self.peak.weights(_speaks(members.peak[:, 0]))
        path_weights = self.path.weights(_speaks(members.path[:, 0, 0]))
        return (
            np.sort(combined(members.peak, peak_weights[:, None]), axis=-1),
            np.sort(combined(members.path, path_weights[:, None, None]), axis=-1),
        )

    def plain(self) -> dict[str, object]:
        """As JSON can hold it."""
        return {
            "until_seconds": self.until_seconds,
            "peak": self.peak.plain(),
            "path": self.path.plain(),
            "calibration": self.calibration.plain(),
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "Learned":
        """The inverse of `plain`."""
        return cls(
            int(plain["until_seconds"]),
            Record.from_plain(plain["peak"]),
            Record.from_plain(plain["path"]),
            Calibration.from_plain(plain["calibration"]),
        )


def _speaks(said: FloatArray) -> BoolArray:
    """Which members say something; (pools, members) from (pools, members, levels)."""
    return np.asarray(np.isfinite(said).all(axis=-1), dtype=np.bool_)
