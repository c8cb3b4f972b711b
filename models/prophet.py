"""Prophet, with its last residual carried forward.

Alone it forecasts a level, and at 30 minutes that is some times worse than 'the same as now'; the
change it expects, added to the level now, is on a par. Its own intervals are too narrow and are
not used. Prophet takes seconds to import and to fit, so a fitted model is a curve laid out
beforehand: a forecast only looks it up, and never imports the library.
"""

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from features.baselines import BASELINE_DAYS, DAY_SECONDS
from features.calendar import ClusterCalendar, DayFlag
from features.errors import BadInput
from features.panel import DemandPanel
from features.pool import Pool
from features.series import FloatArray, IntArray
from models.change import ERROR_DAYS, ChangeWithErrors, restored_errors, with_errors
from models.protocol import Context

if TYPE_CHECKING:
    import pandas as pd

CURVES_FILE = "curves.json"
CURVE_AHEAD_DAYS = 3
MINIMUM_DAYS = 3.0


@dataclass(frozen=True, eq=False)
class Curve:
    """The level Prophet expects of one pool, laid out on the grid.

    Attributes:
        start_seconds: Unix time at which the first row begins.
        step_seconds: the grid's step.
        level_gpus: expected demand of each row, shape (rows,).
    """

    start_seconds: int
    step_seconds: int
    level_gpus: FloatArray

    def level_at(self, times_seconds: IntArray) -> FloatArray:
        """Expected demand of the rows that begin at these times; NaN beyond the curve."""
        row = (times_seconds - self.start_seconds) // self.step_seconds
        inside = (row >= 0) & (row < len(self.level_gpus))
        level: FloatArray = np.where(inside, self.level_gpus[np.where(inside, row, 0)], np.nan)
        return level


@dataclass(frozen=True, eq=False)
class FittedProphet:
    """The curves of all pools that had enough history."""

    curves: Mapping[Pool, Curve]

    def expected_change(
        self, panel: DemandPanel, origins: IntArray, context: Context
    ) -> FloatArray:
        """Curve then minus curve now; GPUs, NaN beyond the curve and for unknown pools."""
        steps = context.horizon.steps
        out = np.full((len(panel.pools), len(origins), steps), np.nan)
        now = panel.seconds_at(origins - 1)
        then = now[:, None] + panel.step_seconds * np.arange(1, steps + 1)
        for index, pool in enumerate(panel.pools):
            if pool in self.curves:
                curve = self.curves[pool]
                out[index] = curve.level_at(then) - curve.level_at(now)[:, None]
        return out

    def artifact(self) -> Mapping[str, bytes]:
        """The curves as JSON."""
        plain = {
            str(pool): {
                "start_seconds": curve.start_seconds,
                "step_seconds": curve.step_seconds,
                "level_gpus": curve.level_gpus.tolist(),
            }
            for pool, curve in self.curves.items()
        }
        return {CURVES_FILE: json.dumps(plain, sort_keys=True).encode()}


@dataclass(frozen=True)
class ProphetCarried:
    """Settings of Prophet with carried residual.

    Attributes:
        fit_minutes: Prophet is fitted to the mean of stretches of this length.
        name: what users call it by.
        refit_seconds: how old a fit may become.
    """

    fit_minutes: int = 15
    name: str = "prophet"
    refit_seconds: int = DAY_SECONDS

    def fit(self, panel: DemandPanel, context: Context) -> ChangeWithErrors:
        """Fit each pool's last 30 days."""
        curves = {
            pool: curve
            for index, pool in enumerate(panel.pools)
            if (curve := self._curve(panel, index, context.calendar)) is not None
        }
        return with_errors(FittedProphet(curves), panel, context)

    def _curve(self, panel: DemandPanel, index: int, calendar: ClusterCalendar) -> Curve | None:
        import pandas as pd

        first = max(0, len(panel) - BASELINE_DAYS * DAY_SECONDS // panel.step_seconds)
        rows = np.arange(first, len(panel))
        demand = np.where(panel.capped[index], np.nan, panel.closing_gpus[index])[first:]
        known_days = np.sum(np.isfinite(demand)) * panel.step_seconds / DAY_SECONDS
        if known_days < MINIMUM_DAYS:
            return None
        frame = pd.DataFrame({"ds": pd.to_datetime(panel.seconds_at(rows), unit="s"), "y": demand})
        every = max(self.fit_minutes * 60, panel.step_seconds)
        coarse = frame.set_index("ds").resample(f"{every}s").mean().dropna().reset_index()
        past = ERROR_DAYS * DAY_SECONDS // panel.step_seconds
        ahead = CURVE_AHEAD_DAYS * DAY_SECONDS // panel.step_seconds
        wanted = panel.seconds_at(np.arange(max(0, len(panel) - past - 1), len(panel) + ahead))
        holidays = _holidays(panel, first, ahead, calendar)
        return Curve(
            start_seconds=int(wanted[0]),
            step_seconds=panel.step_seconds,
            level_gpus=_fitted_level(coarse, pd.to_datetime(wanted, unit="s"), holidays),
        )

    def restore(self, artifact: Mapping[str, bytes]) -> ChangeWithErrors:
        """Read back what was saved.

        Raises:
            BadInput: the files are not Prophet curves.
        """
        try:
            curves = {
                Pool.parse(name): Curve(
                    start_seconds=int(one["start_seconds"]),
                    step_seconds=int(one["step_seconds"]),
                    level_gpus=np.array(one["level_gpus"], dtype=np.float64),
                )
                for name, one in json.loads(artifact[CURVES_FILE]).items()
            }
        except (KeyError, TypeError, ValueError) as error:
            raise BadInput(
                f"the model's {CURVES_FILE} cannot be read ({error}); train the model again"
            ) from error
        return ChangeWithErrors(FittedProphet(curves), restored_errors(artifact))


def _fitted_level(
    history: "pd.DataFrame", wanted: "pd.DatetimeIndex", holidays: "pd.DataFrame | None"
) -> FloatArray:
    """Fit Prophet and lay out the level it expects at the wanted times."""
    import pandas as pd
    from cmdstanpy import disable_logging
    from prophet import Prophet

    with disable_logging(), warnings.catch_warnings():
        # prophet 1.5 still calls pandas in ways that pandas 3 announces the end of
        warnings.simplefilter("ignore", category=FutureWarning)
        warnings.simplefilter("ignore", category=DeprecationWarning)
        model = Prophet(
            daily_seasonality=True,
            weekly_seasonality=True,
            yearly_seasonality=False,
            uncertainty_samples=0,
            holidays=holidays,
        )
        model.fit(history)
        level = model.predict(pd.DataFrame({"ds": wanted}))["yhat"]
    return np.asarray(level, dtype=np.float64)


def _holidays(
    panel: DemandPanel, first: int, ahead: int, calendar: ClusterCalendar
) -> "pd.DataFrame | None":
    """The flagged days of the span as Prophet wants them, or None where there are none."""
    import pandas as pd

    if not panel.has_calendar:
        return None
    days = panel.seconds_at(
        np.arange(first, len(panel) + ahead, max(1, DAY_SECONDS // panel.step_seconds))
    )
    flags = calendar.flags(days)
    rows = [
        (flag.value, pd.Timestamp(int(day), unit="s").normalize())
        for flag in DayFlag
        for day in days[flags[flag]]
    ]
    return pd.DataFrame(rows, columns=["holiday", "ds"]) if rows else None
