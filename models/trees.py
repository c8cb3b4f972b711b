"""Boosted trees of the scaled rise: what the learned members of the combination have in common.

Inputs are the feature pipeline's columns, divided by the pool's scale, and the pool's own past
quantiles. Trees are small and few: 30 minutes ahead there is little to learn, and large trees
learn noise. No tree sees a pool's name, so trees travel from cluster to cluster.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from features.errors import BadInput
from features.panel import DemandPanel
from features.pipeline import feature_table
from features.rises import closed_rises
from features.series import FloatArray, IntArray
from models.boosting import load_lightgbm
from models.forecast import QUANTILE_LEVELS, Horizon
from models.own_rises import RiseProfiles, quantiles_by_day
from models.protocol import Context
from models.targets import closed_origins

if TYPE_CHECKING:
    import lightgbm

OWN_LEVELS = (0.75, 0.9, 0.95)
LINEAR_BELOW = 0.1
"""Rises are squeezed by asinh: about linear below a tenth of the scale, logarithmic above it."""
MINIMUM_ORIGINS = 250
HIDDEN = frozenset({"day_of_week"})
"""With a month of history a tree takes what four Tuesdays had in common for a law."""
Layout = tuple[tuple[str, object], ...]
BY_COLUMN: Layout = (("force_col_wise", True), ("is_enable_sparse", False))
"""How LightGBM keeps rows while it grows trees: fastest for as few as here, with the same trees."""
BY_ROW: Layout = (("force_row_wise", True),)
"""How the shipped trees were grown, which their texts say."""


@dataclass(frozen=True, eq=False)
class TreeInputs:
    """Inputs of the trees for several pools and origins.

    Attributes:
        names: of the inputs.
        values: shape (pools, origins, inputs).
        now_gpus: demand at the origin, shape (pools, origins).
        scale_gpus: how large the pool's rises are, shape (pools, origins).
    """

    names: tuple[str, ...]
    values: FloatArray
    now_gpus: FloatArray
    scale_gpus: FloatArray

    def chosen(self, names: tuple[str, ...]) -> "TreeInputs | None":
        """The inputs of these names, in this order; None where one of them is not there."""
        where = {name: index for index, name in enumerate(self.names)}
        if not set(names) <= set(where):
            return None
        values = self.values[..., [where[name] for name in names]]
        return TreeInputs(names, values, self.now_gpus, self.scale_gpus)

    def without(self, hidden: frozenset[str]) -> "TreeInputs":
        """The inputs but for these names."""
        kept = [index for index, name in enumerate(self.names) if name not in hidden]
        names = tuple(self.names[index] for index in kept)
        return TreeInputs(names, self.values[..., kept], self.now_gpus, self.scale_gpus)

    def squeezed(self, rise_gpus: FloatArray) -> FloatArray:
        """Rises as trees see them; the shape of the rises, pools and origins first."""
        scale = self.scale_gpus.reshape(self.scale_gpus.shape + (1,) * (rise_gpus.ndim - 2))
        squeezed: FloatArray = np.arcsinh(rise_gpus / scale / LINEAR_BELOW)
        return squeezed

    def stretched(self, squeezed: FloatArray) -> FloatArray:
        """The inverse of `squeezed`, in GPUs."""
        scale = self.scale_gpus.reshape(self.scale_gpus.shape + (1,) * (squeezed.ndim - 2))
        stretched: FloatArray = np.sinh(squeezed) * scale * LINEAR_BELOW
        return stretched


def tree_inputs(
    panel: DemandPanel, origins: IntArray, context: Context, own_gpus: FloatArray
) -> TreeInputs:
    """The inputs of every pool and origin.

    Args:
        panel: history; only rows before each origin are read.
        origins: row indices, shape (origins,).
        context: horizon, calendar and events.
        own_gpus: the pools' own quantiles at `OWN_LEVELS`, shape (pools, origins, 2, 3).
    """
    table = feature_table(
        panel,
        origins,
        context.calendar,
        context.events,
        peak_steps=context.horizon.peak_steps,
        horizon_steps=context.horizon.steps,
    )
    own = own_gpus.reshape(*own_gpus.shape[:2], -1) / table.scale_gpus[..., None]
    own_names = [
        f"own_{window}_{level}" for window in ("fortnight", "ever") for level in OWN_LEVELS
    ]
    return TreeInputs(
        names=(*table.names, *own_names),
        values=np.concatenate([table.scaled(), own], axis=-1).astype(np.float32),
        now_gpus=table.now_gpus,
        scale_gpus=table.scale_gpus,
    ).without(HIDDEN)


def profiled_inputs(
    panel: DemandPanel, origins: IntArray, context: Context, profiles: RiseProfiles
) -> TreeInputs:
    """The inputs for a forecast: the own quantiles are those of the profiles."""
    chosen = [QUANTILE_LEVELS.index(level) for level in OWN_LEVELS]
    own = profiles.of_pools(panel.pools).quantiles[:, 0][..., chosen]
    shape = (len(panel.pools), len(origins), *own.shape[1:])
    return tree_inputs(panel, origins, context, np.broadcast_to(own[:, None], shape))


def training_inputs(
    panel: DemandPanel,
    context: Context,
    history_days: float,
    rows_per_pool: float,
    random: np.random.Generator,
) -> tuple[IntArray, TreeInputs] | None:
    """Origins to learn from, drawn from the last days, and their inputs.

    Args:
        panel: history; its end is the moment of fitting.
        context: horizon, calendar and events.
        history_days: how far back origins are drawn from.
        rows_per_pool: how many origins to draw.
        random: where chance comes from.

    Returns:
        Row indices and inputs, or None where there are too few closed origins.
    """
    candidates = closed_origins(panel, context.horizon, history_days)
    candidates = candidates[candidates > _settled_rows(panel)]
    if len(candidates) < MINIMUM_ORIGINS:
        return None
    wanted = min(max(1, round(rows_per_pool)), len(candidates))
    origins = np.sort(random.choice(candidates, wanted, replace=False))
    rises = closed_rises(
        panel.demand_gpus, panel.closing_gpus, panel.capped, context.horizon.peak_steps
    )
    own = quantiles_by_day(rises, origins, panel.step_seconds, OWN_LEVELS)
    return origins, tree_inputs(panel, origins, context, own)


def _settled_rows(panel: DemandPanel) -> int:
    """Rows to leave out at the start, where a pool's own quantiles still say little."""
    return min(len(panel) // 4, 3 * 86_400 // panel.step_seconds)


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows to grow trees on.

    Attributes:
        inputs: shape (rows, inputs).
        target: shape (rows,).
        start: raw score each row starts from, shape (rows,); zero if None.
    """

    inputs: FloatArray
    target: FloatArray
    start: FloatArray | None = None

    @classmethod
    def together(cls, parts: Sequence["Rows"]) -> "Rows":
        """The rows of several clusters as one."""
        starts = [part.start for part in parts if part.start is not None]
        return cls(
            np.concatenate([part.inputs for part in parts]),
            np.concatenate([part.target for part in parts]),
            np.concatenate(starts) if starts else None,
        )


def known_rows(inputs: FloatArray, target: FloatArray) -> Rows:
    """The rows whose target is known; inputs (..., inputs) and target (...)."""
    known = np.isfinite(target)
    return Rows(inputs[known], target[known])


def grown(
    rows: Rows, growth: Sequence[tuple[Mapping[str, object], int]], layout: Layout
) -> tuple["lightgbm.Booster", ...]:
    """Boosters on the same rows, the same to the last digit for the same rows.

    Args:
        rows: what to learn from.
        growth: parameters and number of trees, one pair per booster.
        layout: how LightGBM keeps the rows meanwhile.
    """
    load_lightgbm()
    import lightgbm

    fixed = {"deterministic": True, "seed": 1, "verbose": -1, **dict(layout)}
    # binning the rows costs as much as growing a few trees, so all boosters share it
    data = lightgbm.Dataset(
        rows.inputs,
        rows.target,
        init_score=rows.start,
        params={**growth[0][0], **fixed},
        free_raw_data=False,
    )
    return tuple(lightgbm.train({**one, **fixed}, data, rounds) for one, rounds in growth)


def booster_of(text: bytes) -> "lightgbm.Booster":
    """A booster from its LightGBM text.

    Raises:
        BadInput: the text is not one.
    """
    load_lightgbm()
    import lightgbm

    try:
        return lightgbm.Booster(model_str=text.decode())
    except (lightgbm.basic.LightGBMError, UnicodeDecodeError) as error:
        raise BadInput(f"a booster cannot be read ({error}); train the model again") from error


@cache
def path_knots(horizon: Horizon, knots: int = 6) -> IntArray:
    """The steps of the path that trees are asked for; closer together near the origin."""
    spaced = np.geomspace(1, horizon.steps, min(knots, horizon.steps))
    steps = np.unique(np.concatenate([np.round(spaced), [horizon.peak_steps]]).astype(np.int64))
    steps.flags.writeable = False
    return steps


def between_knots(at_knots: FloatArray, horizon: Horizon) -> FloatArray:
    """Values of every step from those at the knots, by a straight line.

    Args:
        at_knots: shape (pools, origins, knots, levels).
        horizon: whose knots they are.

    Returns:
        Shape (pools, origins, steps, levels).
    """
    knots = path_knots(horizon)
    steps = np.arange(1, horizon.steps + 1)
    right = np.searchsorted(knots, steps)
    left = np.maximum(right - 1, 0)
    gap = np.maximum(knots[right] - knots[left], 1)
    share = ((steps - knots[left]) / gap)[:, None]
    between: FloatArray = at_knots[:, :, left] * (1 - share) + at_knots[:, :, right] * share
    return between
