"""'The same as now', with the quantiles of its own past errors: the yardstick of all others.

It must stay this simple. Whatever is not better than this has no place in production.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from features.panel import DemandPanel
from features.series import FloatArray, IntArray
from models.change import ERROR_DAYS, ChangeWithErrors, restored_errors, with_errors
from models.protocol import Context

ALL_HISTORY_DAYS = 36_500


@dataclass(frozen=True)
class NoChange:
    """Expects demand to stay where it is."""

    def expected_change(
        self, panel: DemandPanel, origins: IntArray, context: Context
    ) -> FloatArray:
        """Zero throughout; shape (pools, origins, steps)."""
        return np.zeros((len(panel.pools), len(origins), context.horizon.steps))

    def artifact(self) -> Mapping[str, bytes]:
        """Nothing is learned."""
        return {}


@dataclass(frozen=True)
class Persistence:
    """Persistence with error quantiles over a stretch of history.

    Attributes:
        name: what users call it by.
        error_days: how far back errors are taken from.
        refit_seconds: error quantiles are renewed this often.
    """

    name: str = "persistence"
    error_days: float = ERROR_DAYS
    refit_seconds: int = 3_600

    def fit(self, panel: DemandPanel, context: Context) -> ChangeWithErrors:
        """Take the error quantiles from the panel's last days."""
        return with_errors(NoChange(), panel, context, self.error_days)

    def restore(self, artifact: Mapping[str, bytes]) -> ChangeWithErrors:
        """Read back what was saved."""
        return ChangeWithErrors(NoChange(), restored_errors(artifact))


def persistence_over_all_history() -> Persistence:
    """The same with errors over everything known; the other half of the yardstick."""
    return Persistence(name="persistence-all", error_days=ALL_HISTORY_DAYS)
