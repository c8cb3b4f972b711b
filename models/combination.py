"""Combining models online: each gets the weight its own record on this pool and level has earned.

Exponential weights on discounted regret, in units of the regret's own standard error, so that a
model loses its say only for what is more than chance (after Cesa-Bianchi and Lugosi, 'Prediction,
Learning, and Games', 2006; second-order form after Wintenberger, 2017). No model is ever shut out,
and a model that has nothing to say takes no part.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from features.series import BoolArray, FloatArray, IntArray

HALF_LIFE_DAYS = 10.0
EAGERNESS = 0.7
FLEET_SHARE = 0.5
"""How much of the fleet's mean record counts beside the pool's own."""
KEPT_SHARE = 0.02
RECORDED = ("prior", "regret", "variance", "loss", "rounds")


@dataclass(frozen=True, eq=False)
class Record:
    """What the members of a combination have lost so far, against the combination itself.

    Attributes:
        prior: the weights to start from, shape (pools, members).
        regret: discounted loss beyond the combination's, shape (pools, members, levels).
        variance: discounted squared spread of the losses, shape (pools, 1, levels).
        loss: discounted loss of the combination, shape (pools, 1, levels).
        rounds: discounted number of rounds, shape (pools, 1, 1).
    """

    prior: FloatArray
    regret: FloatArray
    variance: FloatArray
    loss: FloatArray
    rounds: FloatArray

    @classmethod
    def blank(cls, pools: int, levels: int, prior: FloatArray) -> "Record":
        """Nothing has been lost yet; the prior is each pool's or everyone's."""
        members = prior.shape[-1]
        return cls(
            prior=np.broadcast_to(prior, (pools, members)),
            regret=np.zeros((pools, members, levels)),
            variance=np.zeros((pools, 1, levels)),
            loss=np.zeros((pools, 1, levels)),
            rounds=np.zeros((pools, 1, 1)),
        )

    def weights(self, speaks: BoolArray) -> FloatArray:
        """The weight of each member, shape (pools, members, levels); they add up to one.

        Args:
            speaks: which members say something, shape (pools, members).
        """
        merit = self.regret / np.sqrt(self.variance + 1e-9)
        known = self.rounds > 0
        if len(self.regret) > 1 and known.any():
            relative = np.where(known, self.regret / np.maximum(self.loss, 1e-9), 0.0)
            fleet = relative.sum(axis=0) / known.sum()
            merit = merit + FLEET_SHARE * fleet * np.sqrt(self.rounds)
        odds = np.log(self.prior)[..., None] - EAGERNESS * merit
        odds = np.where(speaks[..., None], odds, -np.inf)
        raised = np.exp(odds - odds.max(axis=1, keepdims=True, initial=-1e300))
        kept = np.where(speaks, self.prior, 0.0)[..., None]
        return (1 - KEPT_SHARE) * _normalised(raised) + KEPT_SHARE * _normalised(kept)

    def updated(
        self, losses: FloatArray, own_loss: FloatArray, weights: FloatArray, rounds_per_day: float
    ) -> "Record":
        """The record after one more round.

        Args:
            losses: of each member, shape (pools, members, levels); NaN where it said nothing.
            own_loss: of the combination, shape (pools, levels); NaN where the outcome is unknown,
                and the pool's record then stays as it is.
            weights: the members' weights in that round.
            rounds_per_day: how many rounds a day has, for the discount.
        """
        known = np.isfinite(own_loss).all(axis=-1).reshape(-1, 1, 1)
        keep = np.where(known, 0.5 ** (1.0 / (HALF_LIFE_DAYS * rounds_per_day)), 1.0)
        spoke = np.isfinite(losses)
        mean = np.where(spoke, losses * weights, 0.0).sum(axis=1, keepdims=True)
        beyond = np.where(spoke & known, losses - mean, 0.0)
        return replace(
            self,
            regret=keep * self.regret + beyond,
            variance=keep * self.variance + (weights * beyond**2).sum(axis=1, keepdims=True),
            loss=keep * self.loss + np.where(known, np.nan_to_num(own_loss)[:, None], 0.0),
            rounds=keep * self.rounds + known,
        )

    def of_pools(self, rows: IntArray) -> "Record":
        """The record of some pools by position; -1 stands for a pool without a record."""
        blank = Record.blank(1, self.regret.shape[2], self.prior.mean(axis=0))

        def taken(name: str) -> FloatArray:
            values: FloatArray = np.concatenate([getattr(self, name), getattr(blank, name)])[rows]
            return values

        return Record(*(taken(name) for name in RECORDED))

    def plain(self) -> dict[str, object]:
        """As JSON can hold it."""
        return {name: getattr(self, name).tolist() for name in RECORDED}

    @classmethod
    def from_plain(cls, plain: Mapping[str, object]) -> "Record":
        """The inverse of `plain`; KeyError, TypeError or ValueError for anything else."""
        return cls(*(np.array(plain[name], dtype=np.float64) for name in RECORDED))


def combined(members: FloatArray, weights: FloatArray) -> FloatArray:
    """The weighted mean of the members' quantiles; NaN where none says anything.

    Args:
        members: shape (pools, ..., members, levels), NaN where one says nothing.
        weights: shape broadcastable to it, zero where a member says nothing.
    """
    spoke = np.isfinite(members)
    mean: FloatArray = np.where(spoke, members * weights, 0.0).sum(axis=-2)
    return np.where(spoke.any(axis=-2), mean, np.nan)


def _normalised(values: FloatArray) -> FloatArray:
    total = values.sum(axis=1, keepdims=True)
    normalised = np.zeros_like(values)
    np.divide(values, total, out=normalised, where=total > 0)
    return normalised
