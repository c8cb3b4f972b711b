"""What the members of the combination say, side by side, as rises above now.

The two forms of persistence come first: they are what the others must beat. A member that cannot
say anything of a pool is NaN there, never zero.
"""

from dataclasses import dataclass

import numpy as np

from features.panel import DemandPanel
from features.series import FloatArray, IntArray
from models.hazard import HazardTrees
from models.lightgbm_quantiles import QuantileTrees
from models.own_rises import RiseProfiles
from models.protocol import Context
from models.trees import profiled_inputs

PEAK_MEMBERS = ("persistence", "persistence-all", "lightgbm", "hazard")
PATH_MEMBERS = PEAK_MEMBERS[:3]
PEAK_PRIOR = np.array([0.15, 0.15, 0.4, 0.3])
PATH_PRIOR = np.array([0.2, 0.2, 0.6])


@dataclass(frozen=True, eq=False)
class Members:
    """What every member says from some origins, in GPUs above the level now.

    Attributes:
        origins: row indices, ascending, shape (origins,).
        now_gpus: demand at the origin, shape (pools, origins).
        peak: rise of the window's peak, shape (pools, origins, members, levels).
        path: rise of each step, shape (pools, origins, steps, members, levels).
    """

    origins: IntArray
    now_gpus: FloatArray
    peak: FloatArray
    path: FloatArray

    def at(self, origins: IntArray) -> "Members":
        """The same from some of the origins."""
        chosen = np.searchsorted(self.origins, origins)
        return Members(
            origins, self.now_gpus[:, chosen], self.peak[:, chosen], self.path[:, chosen]
        )


@dataclass(frozen=True, eq=False)
class Roster:
    """The members that are asked.

    Attributes:
        trees: quantile trees.
        hazard: hazard trees.
        profiles: what each pool's own rises say.
    """

    trees: QuantileTrees
    hazard: HazardTrees
    profiles: RiseProfiles


def members_of(roster: Roster, panel: DemandPanel, origins: IntArray, context: Context) -> Members:
    """Ask every member.

    Args:
        roster: the members, with profiles of the panel's pools, in its order.
        panel: history; only rows before each origin are read.
        origins: row indices, ascending, shape (origins,).
        context: horizon, calendar and events.
    """
    profiles = roster.profiles
    inputs = profiled_inputs(panel, origins, context, profiles)
    now = inputs.now_gpus
    learned = roster.trees.predict(inputs, panel, origins, context)
    simple = np.repeat(profiles.quantiles[:, None], len(origins), axis=1)
    peak = np.concatenate(
        [
            simple[:, :, 0],
            (learned.peak - now[..., None])[:, :, None],
            (roster.hazard.peak_quantiles(inputs, profiles) - now[..., None])[:, :, None],
        ],
        axis=2,
    )
    path = np.concatenate(
        [simple[:, :, 1:], (learned.path - now[..., None, None])[:, :, :, None]], axis=3
    )
    lost = np.isnan(now) | np.isnan(profiles.quantiles[:, 0, 0, :1])
    peak[lost] = np.nan
    path[lost] = np.nan
    return Members(origins, now, peak, path)
