"""Every model a user can choose by name: one row here, one file, one test file, one docs page.

This table is the only place that lists models; nothing may be chosen by importing a name from
text.
"""

from collections.abc import Callable, Mapping, Sequence

from features.errors import BadInput
from models.combined import Combined
from models.lightgbm_quantiles import LightGBMQuantiles
from models.periodic_regression import PeriodicRegression
from models.persistence import Persistence, persistence_over_all_history
from models.prophet import ProphetCarried
from models.protocol import Model
from models.seasonal_naive import SeasonalNaive
from models.shipped import shipped_trees


def combined_with_shipped_trees() -> Combined:
    """The champion, with the pre-trained trees that come with the package."""
    return Combined(pretrained=shipped_trees())


MODELS: Mapping[str, Callable[[], Model]] = {
    "persistence": Persistence,
    "persistence-all": persistence_over_all_history,
    "seasonal-naive": SeasonalNaive,
    "periodic-regression": PeriodicRegression,
    "combined": combined_with_shipped_trees,
    "lightgbm": LightGBMQuantiles,
    "prophet": ProphetCarried,
}


def models_named(names: Sequence[str]) -> list[Model]:
    """The models of these names, in this order.

    Raises:
        BadInput: a name is not in the zoo.
    """
    unknown = [name for name in names if name not in MODELS]
    if unknown:
        raise BadInput(f"there is no model '{unknown[0]}'; choose from {', '.join(MODELS)}")
    return [MODELS[name]() for name in names]
