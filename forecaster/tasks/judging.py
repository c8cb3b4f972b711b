"""Who is put forward to be champion, and whether it may be: candidates on days they have not seen.

Nothing is saved here, and nobody is promoted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from features.errors import BadInput
from features.panel import DemandPanel
from forecaster.tasks.serving import SIMPLEST, SavedFit
from forecaster.wiring import Workspace
from models.backtest import Progress
from models.forecast import QuantileArrays
from models.promotion import (
    Comparison,
    PromotionVerdict,
    compare,
    preferred,
    silent_share,
    verdict_on_challenger,
    verdict_on_first,
)
from models.protocol import Model
from models.trial import Trial, trial_of
from models.zoo import MODELS

BLOCKS = 7
"""A week of daily blocks; shorter ones where fewer days are judged."""

RENEWAL = "the champion's own model, with newer history"

Comparisons = tuple[Comparison, ...]


@dataclass(frozen=True)
class Contest:
    """What came of judging the candidates.

    Attributes:
        challenger: name of the candidate that was put forward.
        verdict: whether it may be champion.
        to_persistence: by candidate, how it compares with persistence; empty without a trial.
        judged: Unix times between which everybody was judged; None where nobody could be.
    """

    challenger: str
    verdict: PromotionVerdict
    to_persistence: Mapping[str, Comparisons]
    judged: tuple[int, int] | None


def hold_contest(
    workspace: Workspace,
    candidates: Sequence[Model],
    incumbent: SavedFit | None,
    newest: DemandPanel,
    progress: Progress,
) -> Contest:
    """Judge candidates on the newest days, against persistence and against the champion.

    Args:
        workspace: settings and store.
        candidates: best liked first.
        incumbent: the champion, if there is one that can be read.
        newest: history up to now.
        progress: told before each model is judged.
    """
    settings = workspace.settings.training
    context = workspace.context(newest.step_seconds)
    panel = workspace.training_panel(newest.step_seconds, newest.end_seconds, settings.judge_days)
    try:
        trial = trial_of(panel, context, settings.judge_days)
    except BadInput as error:
        return _untried(str(error), incumbent)
    said = _unseen(trial, candidates, progress)
    blocks = trial.blocks(BLOCKS)
    to_persistence = {
        name: compare(one, said[SIMPLEST], trial.came, blocks) for name, one in said.items()
    }
    challenger = preferred(to_persistence, settings.margin)
    if incumbent is None:
        challenger, verdict = _first(challenger, to_persistence, settings.margin)
    elif incumbent.manifest.model == challenger and not _is_judged(trial, incumbent):
        verdict = PromotionVerdict(promote=True, reasons=(RENEWAL,))
    else:
        champion = _champion_said(trial, incumbent, said)
        verdict = verdict_on_challenger(
            compare(said[challenger], champion, trial.came, blocks),
            silent_share(said[challenger], champion),
            settings.margin,
        )
    return Contest(
        challenger, verdict, to_persistence, judged=(trial.start_seconds, trial.end_seconds)
    )


def _unseen(
    trial: Trial, candidates: Sequence[Model], progress: Progress
) -> dict[str, QuantileArrays]:
    """What each candidate says of the judged days, persistence last if nobody named it."""
    models = {one.name: one for one in candidates}
    models.setdefault(SIMPLEST, MODELS[SIMPLEST]())
    said = {}
    for done, (name, model) in enumerate(models.items()):
        progress(f"judging {name}", done, 2 * len(models))
        said[name] = trial.unseen(model)
    return said


def _champion_said(
    trial: Trial, incumbent: SavedFit, said: Mapping[str, QuantileArrays]
) -> QuantileArrays:
    """What the champion says of the judged days.

    Where it learned from some of them it would flatter itself; there its model is fitted on what
    lies before them, as the challenger is.
    """
    if _is_judged(trial, incumbent):
        return trial.said_by(incumbent.fitted)
    name = incumbent.manifest.model
    return said[name] if name in said else trial.unseen(MODELS[name]())


def _is_judged(trial: Trial, incumbent: SavedFit) -> bool:
    """Whether the champion itself can be judged: it has seen nothing of the judged days."""
    return incumbent.manifest.last_seconds <= trial.start_seconds


def _first(
    challenger: str, to_persistence: Mapping[str, Comparisons], margin: float
) -> tuple[str, PromotionVerdict]:
    """The first champion: the challenger, or else persistence until there is a better one."""
    verdict = verdict_on_first(to_persistence[challenger], margin)
    if verdict.promote and challenger != SIMPLEST:
        return challenger, verdict
    reasons = (*verdict.reasons, f"{SIMPLEST} serves until a model is not worse")
    if challenger == SIMPLEST:
        reasons = ("no candidate is as good as persistence, so it serves",)
    return SIMPLEST, replace(verdict, promote=True, reasons=reasons)


def _untried(why: str, incumbent: SavedFit | None) -> Contest:
    """Without a trial nothing changes; the first to serve is the simplest."""
    reason = f"{why}, so {'the champion stays' if incumbent else f'{SIMPLEST} serves'}"
    verdict = PromotionVerdict(promote=incumbent is None, reasons=(reason,))
    return Contest(SIMPLEST, verdict, to_persistence={}, judged=None)
