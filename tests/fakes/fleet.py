"""Two made-up clusters, and models that learn quickly, for tests of work on many at once."""

from features.calendar import CalendarSettings, ClusterCalendar
from features.events import NoKnownEvents
from features.panel import DemandPanel
from forecaster.tasks.fleets import Cluster
from models.combined import Combined
from models.forecast import Horizon
from models.hazard import Hazard
from models.lightgbm_quantiles import LightGBMQuantiles, TreeGrowth
from models.protocol import Context, Model
from tests.fakes.demand import FRAGMENT, WHOLE, tidal_series

CONTEXT = Context(Horizon.of(300), ClusterCalendar(CalendarSettings()), NoKnownEvents())


def cluster(seed: int, days: int = 4) -> Cluster:
    """Two pools of a cluster of its own."""
    panel = DemandPanel.of(
        [tidal_series(WHOLE, days, seed), tidal_series(FRAGMENT, days, seed + 1)]
    )
    return Cluster(panel, CONTEXT)


def quick_lightgbm() -> LightGBMQuantiles:
    """`lightgbm`, from few rows and with few trees."""
    few = TreeGrowth(leaves=5, learning_rate=0.2, rounds=6)
    return LightGBMQuantiles(row_budget=1_000, peak_growth=few, low_growth=few, path_growth=few)


QUICK_MODELS: tuple[Model, ...] = (
    quick_lightgbm(),
    Combined(
        quantiles=quick_lightgbm(), hazard=Hazard(row_budget=1_000, rounds=6), warm_up_days=(1,)
    ),
)
