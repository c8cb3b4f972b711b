"""What the members of the combination say, side by side, as rises above now.

The two forms of persistence come first: they are what the others must beat. A member that cannot
say anything of a pool is NaN there, never zero.
"""

from dataclasses import dataclass

import numpy as np

from features.panel import DemandPanel
from features.series import FloatArray, IntArray
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


def peak_prior(trust_in_pretrained: float) -> FloatArray:
    """Weights of the peak's members before any record, shape (members,); they add up to one."""
    return _prior(PEAK_MEMBERS, PEAK_TRUST, trust_in_pretrained)


def path_prior(trust_in_pretrained: float) -> FloatArray:
    """The same for the path."""
    return _prior(PATH_MEMBERS, PATH_TRUST, trust_in_pretrained)


def _prior(names: tuple[str, ...], trust: FloatArray, trust_in_pretrained: float) -> FloatArray:
    travelled = np.array([name.startswith("pretrained") for name in names])
    prior = np.where(travelled, trust * trust_in_pretrained, trust)
    shares: FloatArray = prior / prior.sum()
    return shares


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
    return Members(origins, now, peak, path)
