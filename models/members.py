"""What the members of the combination say, side by side, as rises above now.

The two forms of persistence come first: they are what the others must beat. A member that cannot
say anything of a pool is NaN there, never zero.
"""

from dataclasses import dataclass

import numpy as np

from features.baselines import DAY_SECONDS
from features.panel import DemandPanel
from features.series import FloatArray, IntArray
from models.calibration import QUARTERS
from models.own_rises import RiseProfiles
from models.pretrained import TreePair
from models.protocol import Context
from models.trees import profiled_inputs

PEAK_MEMBERS = (
    "persistence",
    "persistence-all",
    "lightgbm",
    "hazard",
    "pretrained",
    "pretrained-hazard",
)
PATH_MEMBERS = ("persistence", "persistence-all", "lightgbm", "pretrained")
PEAK_TRUST = np.array([0.1, 0.1, 0.22, 0.2, 0.2, 0.18])
PATH_TRUST = np.array([0.2, 0.2, 0.35, 0.25])
SELDOM = 0.03
"""A pool that moves in this share of its windows gives half of the trees' trust to persistence."""


@dataclass(frozen=True, eq=False)
class Trust:
    """How far trees are believed before they have a record; 0 to 1 each.

    Attributes:
        in_pretrained: in trees of other clusters, beside the rest.
        in_trees: in trees at all, beside persistence, shape (pools,).
    """

    in_pretrained: float
    in_trees: FloatArray

    @classmethod
    def full(cls, pools: int) -> "Trust":
        """The first trust in everyone."""
        return cls(1.0, np.ones(pools))


def trust_in_trees(rises_gpus: FloatArray) -> FloatArray:
    """Less on pools that hardly ever move: trees learn from rises, and there they saw none.

    Args:
        rises_gpus: past rises, shape (pools, rises); NaN where not known.

    Returns:
        Between 0 and 1, shape (pools,); never 0, so that a record can still speak for trees.
    """
    moved = (np.isfinite(rises_gpus) & (rises_gpus != 0)).sum(axis=-1)
    share = (moved + 1) / (np.isfinite(rises_gpus).sum(axis=-1) + 1)
    trust: FloatArray = share / (share + SELDOM)
    return trust


def peak_prior(trust: Trust) -> FloatArray:
    """Weights of the peak's members before any record, (pools, members); each pool's add to one."""
    return _prior(PEAK_MEMBERS, PEAK_TRUST, trust)


def path_prior(trust: Trust) -> FloatArray:
    """The same for the path."""
    return _prior(PATH_MEMBERS, PATH_TRUST, trust)


def _prior(names: tuple[str, ...], first_trust: FloatArray, trust: Trust) -> FloatArray:
    travelled = np.array([name.startswith("pretrained") for name in names])
    simple = np.array([name.startswith("persistence") for name in names])
    everyone = np.where(travelled, first_trust * trust.in_pretrained, first_trust)
    alone = np.where(simple, first_trust, 0.0)
    in_trees = trust.in_trees[:, None]
    prior: FloatArray = in_trees * everyone / everyone.sum() + (1 - in_trees) * alone / alone.sum()
    return prior


@dataclass(frozen=True, eq=False)
class Members:
    """What every member says from some origins, in GPUs above the level now.

    Attributes:
        origins: row indices, ascending, shape (origins,).
        now_gpus: demand at the origin, shape (pools, origins).
        peak: rise of the window's peak, shape (pools, origins, members, levels).
        path: rise of each step, shape (pools, origins, steps, members, levels).
        quarters: quarter of the cluster's day that each origin lies in, shape (origins,).
    """

    origins: IntArray
    now_gpus: FloatArray
    peak: FloatArray
    path: FloatArray
    quarters: IntArray

    def at(self, origins: IntArray) -> "Members":
        """The same from some of the origins."""
        chosen = np.searchsorted(self.origins, origins)
        return Members(
            origins,
            self.now_gpus[:, chosen],
            self.peak[:, chosen],
            self.path[:, chosen],
            self.quarters[chosen],
        )


@dataclass(frozen=True, eq=False)
class Roster:
    """The members that are asked.

    Attributes:
        own: trees grown on these pools' own history.
        pretrained: trees grown on other clusters.
        profiles: what each pool's own rises say.
    """

    own: TreePair
    pretrained: TreePair
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
    simple = np.repeat(profiles.quantiles[:, None], len(origins), axis=1)
    peaks, paths = [simple[:, :, 0]], [simple[:, :, 1:]]
    for pair in (roster.own, roster.pretrained):
        learned = pair.quantiles.predict(inputs, panel, origins, context)
        hazard = pair.hazard.peak_quantiles(inputs, profiles)
        peaks += [
            (learned.peak - now[..., None])[:, :, None],
            (hazard - now[..., None])[:, :, None],
        ]
        paths.append((learned.path - now[..., None, None])[:, :, :, None])
    peak, path = np.concatenate(peaks, axis=2), np.concatenate(paths, axis=3)
    lost = np.isnan(now) | np.isnan(profiles.quantiles[:, 0, 0, :1])
    peak[lost] = np.nan
    path[lost] = np.nan
    of_day = context.calendar.local_seconds_of_day(panel.seconds_at(origins))
    return Members(origins, now, peak, path, of_day * QUARTERS // DAY_SECONDS)
