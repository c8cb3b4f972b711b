"""From forecasts and verdicts to what sizing may use: the one place where it meets the models.

It must not judge by itself: whether a forecast is trusted is the verdict's, which quantile is used
is the strategy's.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from actuator.outlook import Foreseen, Outlook, Trust
from actuator.policy import Policy, PoolPolicy
from features.errors import Unavailable
from features.pool import Pool, Shape
from models.forecast import Forecast
from models.verdict import Verdict

_WORST_LAST = tuple(Trust)


def foreseen_pools(
    policy: Policy,
    forecasts: Mapping[Pool, Forecast | Unavailable],
    verdicts: Mapping[Pool, Verdict],
) -> dict[str, Foreseen]:
    """What is foreseen of each pool of a policy, by the pool's name.

    A pool that a policy names by its GPU type alone takes both shapes of it. Where history knows
    them apart, their quantiles are added, as if both peaked at once: never too little.

    Args:
        policy: whose pools, and at which quantiles.
        forecasts: by pool as history names it.
        verdicts: on past forecasts, where there are any yet.
    """
    return {pool.pool: _foreseen_pool(pool, forecasts, verdicts) for pool in policy.pools}


def _foreseen_pool(
    pool: PoolPolicy,
    forecasts: Mapping[Pool, Forecast | Unavailable],
    verdicts: Mapping[Pool, Verdict],
) -> Foreseen:
    named = Pool.parse(pool.pool)
    parts = [named]
    if named not in forecasts and pool.shape == "mixed":
        shapes = (Pool(named.gpu_type, shape) for shape in (Shape.WHOLE_NODE, Shape.FRAGMENT))
        parts = [part for part in shapes if part in forecasts] or parts
    missing = Unavailable(f"the history has no pool {pool.pool}")
    return _together(
        [
            foreseen(forecasts.get(part, missing), verdicts.get(part), pool.strategy.quantile)
            for part in parts
        ]
    )


def foreseen(
    forecast: Forecast | Unavailable, verdict: Verdict | None, quantile: float
) -> Foreseen:
    """What a pool's forecast and the verdict on its model say at one quantile.

    Args:
        forecast: the pool's forecast, or why there is none.
        verdict: the verdict on past forecasts; None before there was a first.
        quantile: between 0 and 1.
    """
    trust = Trust.TRUST if verdict is None else Trust(verdict.standing.value)
    trust_reason = "" if verdict is None else "; ".join(verdict.reasons)
    if isinstance(forecast, Unavailable):
        return Foreseen(None, forecast.reason, trust, trust_reason)
    return Foreseen(outlook_at(forecast, quantile), "", trust, trust_reason)


def outlook_at(forecast: Forecast, quantile: float) -> Outlook:
    """The forecast at one quantile, drawn straight between its levels and level beyond them.

    Args:
        forecast: quantiles of path and peak.
        quantile: between 0 and 1.
    """
    levels = np.asarray(forecast.levels)
    above = min(int(np.searchsorted(levels, quantile)), len(levels) - 1)
    below = max(above - 1, 0)
    span = levels[above] - levels[below]
    share = float(np.clip((quantile - levels[below]) / span, 0.0, 1.0)) if span else 1.0
    path = forecast.path_gpus[:, below] * (1 - share) + forecast.path_gpus[:, above] * share
    peak = forecast.peak_gpus[below] * (1 - share) + forecast.peak_gpus[above] * share
    origin_seconds = int(forecast.origin.timestamp())
    return Outlook(
        origin_seconds=origin_seconds,
        step_seconds=forecast.horizon.step_seconds,
        quantile=quantile,
        path_gpus=tuple(path.tolist()),
        peak_gpus=float(peak),
        peak_seconds=forecast.horizon.peak_seconds,
        reference=(
            f"{forecast.pool} from {origin_seconds} by "
            f"{forecast.model_name} {forecast.model_version}"
        ),
    )


def _together(parts: Sequence[Foreseen]) -> Foreseen:
    """Several pools' outlooks as one; nothing is foreseen unless each of them is."""
    if len(parts) == 1:
        return parts[0]
    trust = max((part.trust for part in parts), key=_WORST_LAST.index)
    trust_reason = "; ".join(part.trust_reason for part in parts if part.trust_reason)
    outlooks = [part.outlook for part in parts if part.outlook is not None]
    if len(outlooks) < len(parts):
        missing = "; ".join(part.missing for part in parts if part.missing)
        return Foreseen(None, missing, trust, trust_reason)
    first = outlooks[0]
    summed = Outlook(
        origin_seconds=min(one.origin_seconds for one in outlooks),
        step_seconds=first.step_seconds,
        quantile=first.quantile,
        path_gpus=tuple(map(sum, zip(*(one.path_gpus for one in outlooks), strict=True))),
        peak_gpus=sum(one.peak_gpus for one in outlooks),
        peak_seconds=first.peak_seconds,
        reference="; ".join(one.reference for one in outlooks),
    )
    return Foreseen(summed, "", trust, trust_reason)
