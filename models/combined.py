"""The champion: persistence, trees and hazard combined online, and calibrated on the pool's errors.

Members are weighed per pool and level by their own record, so that the whole is never much worse
than the best simple one. Weights and calibration learn from a window only when it has closed, on
a grid of windows that do not overlap.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from features.baselines import DAY_SECONDS
from features.errors import BadInput
from features.panel import DemandPanel
from features.rises import closed_rises
from features.series import IntArray
from models.calibration import Habits
from models.forecast import QuantileArrays
from models.hazard import Hazard
from models.learned import Learned
from models.lightgbm_quantiles import LightGBMQuantiles
from models.members import Members, Roster, Trust, members_of, trust_in_trees
from models.own_rises import RiseProfiles, rise_profiles
from models.pretrained import TreePair
from models.protocol import Context, FittedModel
from models.targets import targets_of

STATE_FILE = "combined.json"
REFRESH_SECONDS = 6 * 3_600
OWN_AFTER_DAYS = 8.0
WARM_UP_DAYS = (10, 5)
"""A first fit lives through its last days first, so that its weights are not a novice's."""


@dataclass(frozen=True, eq=False)
class FittedCombined:
    """The members as they were fitted, and what was learned of them since.

    Attributes:
        own: trees grown on all pools' history.
        pretrained: trees grown on other clusters; not part of what is saved.
        grown_seconds: Unix time up to which the trees had seen history.
        profiles: what each pool's own rises say.
        habits: how demand moves on each pool, in the order of the profiles.
        learned: weights and calibration, in the order of the profiles.
    """

    own: TreePair
    pretrained: TreePair
    grown_seconds: int
    profiles: RiseProfiles
    habits: Habits
    learned: Learned

    def predict(self, panel: DemandPanel, origins: IntArray, context: Context) -> QuantileArrays:
        """The combined and calibrated quantiles; what closed before an origin is learned first."""
        here = self.of_pools(panel)
        marks = _marks(here.learned.until_seconds, panel, int(origins.max()), context)
        asked = np.union1d(origins, _judged_at(marks, context))
        members = here._members(panel, asked, context)
        out = QuantileArrays.unavailable(len(panel.pools), len(origins), context.horizon)
        span_of = np.searchsorted(marks, origins, side="right")
        lived = [here.learned, *here._lived(members, panel, marks, context)]
        for span in np.unique(span_of):
            some = np.flatnonzero(span_of == span)
            said = lived[span].published(members.at(origins[some]), here.habits)
            out.path[:, some] = said.path
            out.peak[:, some] = said.peak
        return out.made_valid()

    def advanced(self, panel: DemandPanel, context: Context) -> "FittedCombined":
        """The same members, with everything learned that has closed by the panel's end."""
        here = self.of_pools(panel)
        marks = _marks(here.learned.until_seconds, panel, len(panel), context)
        if not len(marks):
            return here
        members = here._members(panel, _judged_at(marks, context), context)
        *_, learned = here._lived(members, panel, marks, context)
        return replace(here, learned=learned)

    def of_pools(self, panel: DemandPanel) -> "FittedCombined":
        """The same for the panel's pools, in its order; a new pool starts with nothing learned."""
        where = {pool: index for index, pool in enumerate(self.profiles.pools)}
        rows = np.array([where.get(pool, -1) for pool in panel.pools])
        return replace(
            self,
            profiles=self.profiles.of_pools(panel.pools),
            habits=self.habits.of_pools(rows),
            learned=self.learned.of_pools(rows),
        )

    def _members(self, panel: DemandPanel, origins: IntArray, context: Context) -> Members:
        roster = Roster(self.own, self.pretrained, self.profiles)
        return members_of(roster, panel, origins, context)

    def _lived(
        self, members: Members, panel: DemandPanel, marks: IntArray, context: Context
    ) -> Iterator[Learned]:
        """What is learned at each mark, from the window and the horizon that close there."""
        peak_steps, steps = context.horizon.peak_steps, context.horizon.steps
        per_day = DAY_SECONDS / context.horizon.peak_seconds
        learned = self.learned
        for mark in marks:
            # nothing at or after the mark may be read
            for back, is_peak in ((peak_steps, True), (steps, False)):
                origin = np.array([mark - back])
                if origin[0] < 1:
                    continue
                came = targets_of(panel.rows(0, int(mark)), origin, context.horizon)
                said = members.at(origin)
                if is_peak:
                    learned = learned.after_peak(said, came.peak[:, 0], self.habits, per_day)
                else:
                    learned = learned.after_path(said, came.path[:, 0], per_day)
            learned = replace(learned, until_seconds=int(panel.seconds_at(int(mark))))
            yield learned

    def artifact(self) -> Mapping[str, bytes]:
        """The boosters as LightGBM text, everything else as JSON."""
        state = {
            "grown_seconds": self.grown_seconds,
            "profiles": self.profiles.plain(),
            "habits": self.habits.plain(),
            "learned": self.learned.plain(),
        }
        return {**self.own.artifact(), STATE_FILE: json.dumps(state).encode()}


@dataclass(frozen=True)
class Combined:
    """Settings of the combination.

    Attributes:
        quantiles: how quantile trees are grown.
        hazard: how hazard trees are grown.
        pretrained: trees grown on other clusters.
        own_after_days: history from which own trees join the pre-trained ones.
        regrow_seconds: how old the trees may become.
        warm_up_days: days before the end at which a first fit starts living through them.
        previous: the fit to go on from, if there is one.
        name: what users call it by.
        refit_seconds: how often profiles are renewed.
    """

    quantiles: LightGBMQuantiles = field(default_factory=LightGBMQuantiles)
    hazard: Hazard = field(default_factory=Hazard)
    pretrained: TreePair = field(default_factory=TreePair)
    own_after_days: float = OWN_AFTER_DAYS
    regrow_seconds: int = DAY_SECONDS
    warm_up_days: tuple[float, ...] = WARM_UP_DAYS
    previous: FittedCombined | None = None
    name: str = "combined"
    refit_seconds: int = REFRESH_SECONDS

    def fit(self, panel: DemandPanel, context: Context) -> FittedCombined:
        """Go on from the previous fit, or live through the last days first."""
        previous = self.previous or self._warmed_up(panel, context)
        if previous is not None:
            previous = previous.advanced(panel, context)
        end = panel.end_seconds
        if previous is None or end - previous.grown_seconds >= self.regrow_seconds:
            own, grown = self._own_trees(panel, context), end
        else:
            own, grown = previous.own, previous.grown_seconds
        horizon = context.horizon
        learned = previous.learned if previous else Learned.blank(len(panel.pools), end)
        rises = closed_rises(
            panel.demand_gpus, panel.closing_gpus, panel.capped, horizon.peak_steps
        )
        return FittedCombined(
            own=own,
            pretrained=self.pretrained,
            grown_seconds=grown,
            profiles=rise_profiles(panel, horizon),
            habits=Habits.of(rises),
            learned=learned.with_trust(
                Trust(self._trust_in_pretrained(panel), trust_in_trees(rises))
            ),
        )

    def _trust_in_pretrained(self, panel: DemandPanel) -> float:
        """Full until own trees join, and then less and less, as the pools' own history grows."""
        held_days = len(panel) * panel.step_seconds / DAY_SECONDS
        return min(1.0, self.own_after_days / max(held_days, 1.0))

    def _own_trees(self, panel: DemandPanel, context: Context) -> TreePair:
        """Trees of the panel's own history, once it is long enough to beat the pre-trained ones."""
        held_days = len(panel) * panel.step_seconds / DAY_SECONDS
        if self.pretrained.quantiles.inputs and held_days < self.own_after_days:
            return TreePair()
        return TreePair(self.quantiles.trees([panel], context), self.hazard.trees([panel], context))

    def with_threads(self, threads: int) -> "Combined":
        """The same model, fitting with so many threads."""
        return replace(
            self,
            quantiles=replace(self.quantiles, threads=threads),
            hazard=replace(self.hazard, threads=threads),
        )

    def continued_from(self, previous: FittedModel) -> "Combined":
        """The same settings, going on from an earlier fit.

        Raises:
            BadInput: the earlier fit is another model's.
        """
        if not isinstance(previous, FittedCombined):
            raise BadInput("the combined model can only go on from a combined model; train anew")
        return replace(self, previous=previous)

    def _warmed_up(self, panel: DemandPanel, context: Context) -> FittedCombined | None:
        """A fit that began some days ago and has been living and learning since."""
        lived: FittedCombined | None = None
        for days in self.warm_up_days:
            start = len(panel) - int(days * DAY_SECONDS / panel.step_seconds)
            if start > len(panel) // 3:
                young = replace(self, previous=lived, warm_up_days=(), regrow_seconds=0)
                lived = young.fit(panel.before(start), context)
        return lived

    def restore(self, artifact: Mapping[str, bytes]) -> FittedCombined:
        """Read back what was saved.

        Raises:
            BadInput: the files are not a combined model's.
        """
        try:
            state = json.loads(artifact[STATE_FILE])
            return FittedCombined(
                own=TreePair.restored(artifact),
                pretrained=self.pretrained,
                grown_seconds=int(state["grown_seconds"]),
                profiles=RiseProfiles.from_plain(state["profiles"]),
                habits=Habits.from_plain(state["habits"]),
                learned=Learned.from_plain(state["learned"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise BadInput(
                f"the combined model cannot be read ({error}); train the model again"
            ) from error


def _marks(after_seconds: int, panel: DemandPanel, until: int, context: Context) -> IntArray:
    """Rows, a window apart on the clock's own grid, after a moment and up to an origin."""
    window = context.horizon.peak_seconds
    first = (after_seconds // window + 1) * window
    last = panel.start_seconds + until * panel.step_seconds
    seconds = np.arange(max(first, panel.start_seconds), last + 1, window, dtype=np.int64)
    return (seconds - panel.start_seconds) // panel.step_seconds


def _judged_at(marks: IntArray, context: Context) -> IntArray:
    """The origins whose windows and horizons close at the marks."""
    judged = np.union1d(marks - context.horizon.peak_steps, marks - context.horizon.steps)
    return judged[judged >= 1]
