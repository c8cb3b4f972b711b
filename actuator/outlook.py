"""What is foreseen of a pool, as plain numbers at the one quantile that its strategy plans for.

It stands between models and sizing, so that sizing needs no arrays and no model. Where there is no
forecast there is no outlook but the reason for none; nothing is made up in its place. No model and
no feature is imported.
"""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Outlook:
    """Demand ahead at one quantile.

    Attributes:
        origin_seconds: Unix time of the forecast's origin.
        step_seconds: spacing of the path.
        quantile: which quantile this is.
        path_gpus: highest demand of each future step, in order.
        peak_gpus: highest demand of the window.
        peak_seconds: length of the window.
        reference: pool, origin, model and version, for the record.
    """

    origin_seconds: int
    step_seconds: int
    quantile: float
    path_gpus: tuple[float, ...]
    peak_gpus: float
    peak_seconds: int
    reference: str


class Trust(StrEnum):
    """How far a pool's forecasts have earned to be acted on."""

    TRUST = "trust"
    CAUTION = "caution"
    DEMOTE = "demote"


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What may be known of a pool's demand ahead.

    Attributes:
        outlook: the forecast at the strategy's quantile; None where there is none.
        missing: why there is none, empty where there is one.
        trust: what its live score has earned.
        trust_reason: why, empty at full trust.
    """

    outlook: Outlook | None
    missing: str = ""
    trust: Trust = Trust.TRUST
    trust_reason: str = ""
