"""What sizing may use of a forecast: one quantile of it, and how far it is trusted."""

from datetime import UTC, datetime

import numpy as np
import pytest

from actuator.foreseeing import foreseen, foreseen_pools, outlook_at
from actuator.outlook import Trust
from actuator.policy import NodePoolPolicy, Policy, PoolPolicy
from features.errors import Unavailable
from features.pool import Pool
from models.forecast import QUANTILE_LEVELS, Forecast, Horizon, Knowledge
from models.verdict import Standing, Verdict

HORIZON = Horizon.of(300)
ORIGIN = datetime(2026, 3, 2, 9, tzinfo=UTC)
WHOLE = Pool.parse("a100/whole-node")
FRAGMENT = Pool.parse("a100/fragment")


def forecast_of(pool: Pool, scale: float = 1.0) -> Forecast:
    """A forecast whose quantile at level q is 100 q, and twice that for the peak."""
    quantiles = 100 * scale * np.array(QUANTILE_LEVELS)
    return Forecast(
        pool=pool,
        origin=ORIGIN,
        horizon=HORIZON,
        levels=QUANTILE_LEVELS,
        now_gpus=10.0,
        path_gpus=np.tile(quantiles, (HORIZON.steps, 1)),
        peak_gpus=2 * quantiles,
        model_name="combined",
        model_version="7",
        knowledge=Knowledge(86_400, 1.0, 0),
        explanation={},
    )


def verdict_of(pool: Pool, standing: Standing) -> Verdict:
    """A verdict with a reason."""
    return Verdict(pool, standing, ("poor coverage",), since_seconds=0, given_seconds=0)


def policy_of(*names: str) -> Policy:
    """A policy of these pools."""
    pools = tuple(PoolPolicy(name, 8, (NodePoolPolicy(f"np-{name}"),)) for name in names)
    return Policy(1, pools)


@pytest.mark.parametrize(
    ("quantile", "expected"), [(0.9, 90), (0.5, 50), (0.6, 60), (0.999, 99), (0.01, 10)]
)
def test_an_outlook_lies_on_the_line_between_levels(quantile: float, expected: float) -> None:
    """And stays level beyond the outermost."""
    outlook = outlook_at(forecast_of(WHOLE), quantile)
    assert pytest.approx(expected) == outlook.path_gpus[3]
    assert pytest.approx(2 * expected) == outlook.peak_gpus


def test_an_outlook_says_where_it_is_from() -> None:
    """The record can find the forecast again."""
    outlook = outlook_at(forecast_of(WHOLE), 0.9)
    assert int(ORIGIN.timestamp()) == outlook.origin_seconds
    assert f"a100/whole-node from {outlook.origin_seconds} by combined 7" == outlook.reference


def test_no_forecast_is_no_outlook() -> None:
    """Only the reason for none."""
    nothing = foreseen(Unavailable("no history"), None, 0.9)
    assert (None, "no history", Trust.TRUST) == (nothing.outlook, nothing.missing, nothing.trust)


def test_a_verdict_is_passed_on() -> None:
    """With its reasons."""
    doubted = foreseen(forecast_of(WHOLE), verdict_of(WHOLE, Standing.DEMOTE), 0.9)
    assert (Trust.DEMOTE, "poor coverage") == (doubted.trust, doubted.trust_reason)


def test_a_pool_of_both_shapes_adds_what_history_keeps_apart() -> None:
    """Quantiles are added, and the worse verdict counts."""
    forecasts = {WHOLE: forecast_of(WHOLE), FRAGMENT: forecast_of(FRAGMENT, 0.5)}
    verdicts = {FRAGMENT: verdict_of(FRAGMENT, Standing.CAUTION)}
    both = foreseen_pools(policy_of("a100"), forecasts, verdicts)["a100"]
    assert both.outlook is not None
    assert pytest.approx(135) == both.outlook.path_gpus[0]
    assert pytest.approx(270) == both.outlook.peak_gpus
    assert Trust.CAUTION is both.trust


def test_a_pool_of_both_shapes_needs_both_forecasts() -> None:
    """Half of what is needed is not known, so the whole is not."""
    forecasts = {WHOLE: forecast_of(WHOLE), FRAGMENT: Unavailable("a gap")}
    both = foreseen_pools(policy_of("a100"), forecasts, {})["a100"]
    assert (None, "a gap") == (both.outlook, both.missing)


def test_a_pool_that_history_lacks_is_named() -> None:
    """And has no outlook."""
    lost = foreseen_pools(policy_of("h100/fragment"), {WHOLE: forecast_of(WHOLE)}, {})
    assert "the history has no pool h100/fragment" == lost["h100/fragment"].missing
