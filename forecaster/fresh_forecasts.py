"""Forecasts made on the spot from the history store, where no service has made any.

History is pulled first where a Prometheus is set. What cannot be pulled is a warning: the forecast
is then made from what the store holds, and says how old that is.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from features.errors import SourceUnavailable
from features.events import KnownEvents
from features.pool import Pool
from forecaster.surroundings import Forecasts
from forecaster.tasks.forecasting import ForecastOptions, make_forecasts
from forecaster.tasks.pulling import pull_history
from forecaster.wiring import Workspace
from models.verdict import Verdict


@dataclass
class FreshForecasts:
    """Makes forecasts anew once the history has a newer step.

    Attributes:
        workspace: history, registry and settings.
        events: what is announced, as it is known at a moment.
        warnings: what went wrong on the way, one line each.
    """

    workspace: Workspace
    events: Callable[[int], KnownEvents]
    warnings: list[str] = field(default_factory=list)
    _made: Forecasts = field(default_factory=dict, init=False)
    _due_seconds: int = field(default=0, init=False)

    def forecasts(self, now_seconds: int) -> Forecasts:
        """The newest forecasts.

        Raises:
            BadInput: the store holds no history.
        """
        if now_seconds >= self._due_seconds:
            self.warnings.clear()
            self._pull(now_seconds)
            made = make_forecasts(
                self.workspace, ForecastOptions(), now_seconds, self.events(now_seconds)
            )
            self.warnings += made.warnings
            step_seconds = made.panel.step_seconds
            self._made = made.by_pool
            self._due_seconds = now_seconds // step_seconds * step_seconds + step_seconds
        return self._made

    def verdicts(self, now_seconds: int) -> Mapping[Pool, Verdict]:
        """None: only a service scores forecasts as they come true."""
        return {}

    def _pull(self, now_seconds: int) -> None:
        if self.workspace.settings.prometheus.url is None:
            return
        try:
            self.warnings += pull_history(self.workspace, now_seconds).warnings
        except SourceUnavailable as error:
            self.warnings.append(str(error))
