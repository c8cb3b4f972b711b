"""Trees grown on other clusters, which serve a new one from its second day.

Everything trees see is relative to the pool's own level and scale, so what was learned on one
cluster helps on another. What is a cluster's own (its clock, its calendar) is hidden from these
trees. Small trees travel better than large ones.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from features.calendar import DayFlag
from features.errors import BadInput
from features.panel import DemandPanel
from models.hazard import Hazard, HazardTrees
from models.lightgbm_quantiles import LightGBMQuantiles, QuantileTrees, TreeGrowth
from models.protocol import Context
from models.trees import BY_ROW

INPUTS_FILE = "inputs.json"
OWN_OF_A_CLUSTER = frozenset(
    {"time_of_day_sine", "time_of_day_cosine", "is_working_day"}
    | {f"is_{flag.name.lower()}" for flag in DayFlag}
)
SMALL = TreeGrowth(leaves=6, learning_rate=0.12, rounds=28)
ALL_HISTORY_DAYS = 36_500
ROWS = 60_000


@dataclass(frozen=True, eq=False)
class TreePair:
    """Quantile trees and hazard trees of the same clusters; empty ones say nothing."""

    quantiles: QuantileTrees = field(default_factory=QuantileTrees)
    hazard: HazardTrees = field(default_factory=HazardTrees)

    def artifact(self) -> Mapping[str, bytes]:
        """LightGBM texts, and the names of the inputs."""
        inputs = {"quantiles": self.quantiles.inputs, "hazard": self.hazard.inputs}
        return {
            **self.quantiles.artifact(),
            **self.hazard.artifact(),
            INPUTS_FILE: json.dumps(inputs, indent=1).encode(),
        }

    @classmethod
    def restored(cls, artifact: Mapping[str, bytes]) -> "TreePair":
        """The inverse of `artifact`.

        Raises:
            BadInput: the files are not a pair of trees.
        """
        try:
            inputs = json.loads(artifact[INPUTS_FILE])
            return cls(
                QuantileTrees.restored(artifact, tuple(inputs["quantiles"])),
                HazardTrees.restored(artifact, tuple(inputs["hazard"])),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise BadInput(f"the pre-trained trees cannot be read ({error})") from error


def pretrained_trees(panels: Sequence[DemandPanel], context: Context) -> TreePair:
    """Trees grown on all history of several clusters; all panels have the same step."""
    quantiles = LightGBMQuantiles(
        row_budget=ROWS,
        history_days=ALL_HISTORY_DAYS,
        hidden=OWN_OF_A_CLUSTER,
        peak_growth=SMALL,
        low_growth=SMALL,
        path_growth=SMALL,
        layout=BY_ROW,
    )
    hazard = Hazard(
        row_budget=ROWS,
        history_days=ALL_HISTORY_DAYS,
        hidden=OWN_OF_A_CLUSTER,
        leaves=6,
        layout=BY_ROW,
    )
    return TreePair(quantiles.trees(panels, context), hazard.trees(panels, context))
