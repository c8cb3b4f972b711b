"""A forecast in the manner of gocrane's DSP predictor: the last cycle, smoothed in its spectrum.

After `pkg/prediction/dsp` of github.com/gocrane/crane (Apache-2.0), whose defaults stand here. It
differs where that makes it stronger: a pool without a clear cycle is still forecast from its last
day, where gocrane says nothing, and the spectrum is cut evenly on both of its halves.

It knows a level and a margin, and no quantiles: all levels are alike.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from benchmarks.peers.peer import NotKept, filled, with_window_peak
from features.baselines import DAY_SECONDS
from features.panel import DemandPanel
from features.pool import Pool
from features.series import FloatArray, IntArray
from models.forecast import QUANTILE_LEVELS, QuantileArrays
from models.protocol import Context
from models.targets import now_gpus

HISTORY_DAYS = 14
"""Two of its longest cycle, a week; gocrane's default is 7 days, its least two cycles."""
CYCLE_DAYS = (1, 7)
ALWAYS_KEPT_BELOW_HZ = 1 / 3_600
MOST_ITEMS = 100
LEAST_LEVEL_GPUS = 0.01
OUTLIERS_BEYOND = (0.001, 0.999)
NEAR_ZERO_GPUS = 1e-3
SAME_PERIOD = 1e-3


@dataclass(frozen=True)
class Estimator:
    """How a spectrum is cut, and what is added.

    Attributes:
        least_items: so many of the strongest frequencies stay, however weak.
        least_amplitude_gpus: what is weaker goes, beyond those.
        margin: share added to the level.
    """

    least_items: int
    least_amplitude_gpus: float
    margin: float

    def next_cycle(self, demand_gpus: FloatArray, cycle: int, step_seconds: int) -> FloatArray:
        """The level of the next cycle: the last one, without what is fast and weak.

        Args:
            demand_gpus: whole cycles, shape (rows,).
            cycle: rows of a cycle.
            step_seconds: spacing of the rows.

        Returns:
            GPUs, shape (cycle,).
        """
        rows = len(demand_gpus)
        spectrum = np.fft.rfft(demand_gpus)
        amplitude = np.abs(spectrum) / rows
        fast = np.fft.rfftfreq(rows, step_seconds) > ALWAYS_KEPT_BELOW_HZ
        spectrum[fast & (amplitude < self._threshold(amplitude[1 : rows // 2]))] = 0
        level = np.fft.irfft(spectrum, rows)[-cycle:]
        return np.maximum(level, LEAST_LEVEL_GPUS) * (1 + self.margin)

    def _threshold(self, amplitude: FloatArray) -> float:
        strongest = np.sort(amplitude)[::-1]
        threshold = max(self.least_amplitude_gpus, float(strongest[:MOST_ITEMS][-1]))
        if len(strongest) >= self.least_items:
            threshold = min(threshold, float(strongest[self.least_items - 1]))
        return threshold


ESTIMATORS = tuple(
    Estimator(items, amplitude, margin)
    for items, amplitude in ((3, 1.0), (50, 0.05))
    for margin in (0.01, 0.10, 0.15, 0.20)
)


def prediction_error(came_gpus: FloatArray, said_gpus: FloatArray) -> float:
    """Mean relative error, too little counting more than too much; absolute near zero demand."""
    if np.any(came_gpus < NEAR_ZERO_GPUS):
        return float(np.mean(np.abs(came_gpus - said_gpus)))
    missed = (came_gpus - said_gpus) / came_gpus
    too_little = -np.log1p(-np.clip(missed, 0, None)) / np.log(1.25)
    return float(np.mean(np.where(missed > 0, too_little, -missed)))


def is_periodic(demand_gpus: FloatArray, cycle: int) -> bool:
    """Whether no longer period is stronger in the spectrum than that of the cycle.

    Args:
        demand_gpus: shape (rows,).
        cycle: rows of a cycle.
    """
    rows = len(demand_gpus) // cycle * cycle
    if rows < 2 * cycle:
        return False
    amplitude = np.abs(np.fft.rfft(demand_gpus[-rows:]))[: rows // 2]
    period = rows / np.arange(1, len(amplitude))
    own = np.abs(period - cycle) < SAME_PERIOD * period
    longer = (period > cycle) & ~own
    return bool(amplitude[1:][own].max() > amplitude[1:][longer].max(initial=0.0))


def without_outliers(demand_gpus: FloatArray) -> FloatArray:
    """Each row beyond the outermost thousandths as the row before it."""
    low, high = np.quantile(demand_gpus, OUTLIERS_BEYOND)
    sound = (demand_gpus >= low) & (demand_gpus <= high)
    sound[0] = True
    return filled(np.where(sound, demand_gpus, np.nan))


def forecast_cycle(demand_gpus: FloatArray, step_seconds: int) -> FloatArray:
    """The next cycle by the estimator that would have forecast the last one best.

    Args:
        demand_gpus: shape (rows,), at least two days.
        step_seconds: spacing of the rows.

    Returns:
        GPUs, shape (rows of a day or a week,).
    """
    day = DAY_SECONDS // step_seconds
    sound = without_outliers(demand_gpus)
    found = [days * day for days in CYCLE_DAYS if is_periodic(sound, days * day)]
    cycle = found[0] if found else day
    whole = sound[-(len(sound) // cycle * cycle) :]
    before, last = whole[:-cycle], whole[-cycle:]
    best = min(
        ESTIMATORS,
        key=lambda one: prediction_error(last, one.next_cycle(before, cycle, step_seconds)),
    )
    return best.next_cycle(whole, cycle, step_seconds)


@dataclass(frozen=True, eq=False)
class FittedFFT(NotKept):
    """The next cycle of each pool.

    Attributes:
        cycles: GPUs, shape (rows of the cycle,); it repeats.
        end_seconds: when the cycles begin.
    """

    cycles: Mapping[Pool, FloatArray]
    end_seconds: int

    def predict(self, panel: DemandPanel, origins: IntArray, context: Context) -> QuantileArrays:
        """The level of the cycle, at every quantile level."""
        return _at_every_level(self.levels(panel, origins, context), context)

    def levels(self, panel: DemandPanel, origins: IntArray, context: Context) -> FloatArray:
        """The cycle's row before each origin and those of the path; (pools, origins, 1 + steps)."""
        rows = origins[:, None] + np.arange(-1, context.horizon.steps)
        rows -= panel.row_at(self.end_seconds)
        out = np.full((len(panel.pools), *rows.shape), np.nan)
        for index, pool in enumerate(panel.pools):
            if pool in self.cycles:
                out[index] = self.cycles[pool][rows % len(self.cycles[pool])]
        return out


@dataclass(frozen=True, eq=False)
class FittedCarriedFFT(NotKept):
    """The same cycles, of which only the change is used."""

    fft: FittedFFT

    def predict(self, panel: DemandPanel, origins: IntArray, context: Context) -> QuantileArrays:
        """The level now and the change that the cycle expects, at every quantile level."""
        levels = self.fft.levels(panel, origins, context)
        carried = now_gpus(panel, origins)[..., None] + levels - levels[..., :1]
        return _at_every_level(carried, context)


@dataclass(frozen=True)
class GocraneFFT(NotKept):
    """Settings of the FFT peer.

    Attributes:
        name: what the table calls it.
        refit_seconds: how old a fit may become; gocrane's own interval.
    """

    name: str = "gocrane-style FFT"
    refit_seconds: int = DAY_SECONDS // 2

    def fit(self, panel: DemandPanel, context: Context) -> FittedFFT:
        """Forecast the next cycle of each pool with two known days or more."""
        day = DAY_SECONDS // panel.step_seconds
        recent = panel.demand_gpus[:, max(0, len(panel) - HISTORY_DAYS * day) :]
        cycles = {
            pool: forecast_cycle(filled(demand), panel.step_seconds)
            for pool, demand in zip(panel.pools, recent, strict=True)
            if np.isfinite(demand).sum() >= 2 * day
        }
        return FittedFFT(cycles, panel.end_seconds)


@dataclass(frozen=True)
class CarriedFFT(NotKept):
    """The FFT with its residual carried, which gocrane does not do, as Prophet's is.

    Attributes:
        plain: the settings of the FFT.
        name: what the table calls it.
    """

    plain: GocraneFFT = GocraneFFT()
    name: str = "the same, residual carried"

    @property
    def refit_seconds(self) -> int:
        """How old a fit may become."""
        return self.plain.refit_seconds

    def fit(self, panel: DemandPanel, context: Context) -> FittedCarriedFFT:
        """Forecast the next cycle of each pool."""
        return FittedCarriedFFT(self.plain.fit(panel, context))


def _at_every_level(levels: FloatArray, context: Context) -> QuantileArrays:
    """The rows of the path, alike at all quantile levels, from what `FittedFFT.levels` gives."""
    path = np.repeat(levels[..., 1:, None], len(QUANTILE_LEVELS), axis=-1)
    return with_window_peak(path, context.horizon)
