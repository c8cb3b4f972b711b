"""From the store to a score: what models would have said, against 'the same as now'."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from features.series import DemandSeries
from forecaster.files import replacing
from forecaster.forecast_file import write_forecasts
from forecaster.json_shapes import BacktestAnswer, MaybeByLevel, ScoreOfModel, Span
from forecaster.report import backtest_report
from forecaster.tasks.fleets import replays_with
from forecaster.wiring import Workspace
from models.backtest import BacktestResult, Progress, backtest, scores
from models.forecast import Forecast
from models.scores import PoolScore
from models.zoo import MODELS, models_named


@dataclass(frozen=True)
class BacktestOptions:
    """What to replay, and what to write beside the scores.

    Attributes:
        pool: this pool alone; every pool if None.
        days: how many of the newest days are replayed.
        models: names of models; the whole zoo if empty.
        forecasts: where to write every forecast.
        report: where to write the report.
    """

    pool: str | None = None
    days: float = 7.0
    models: tuple[str, ...] = ()
    forecasts: Path | None = None
    report: Path | None = None


def backtest_history(
    workspace: Workspace, options: BacktestOptions, now_seconds: int, progress: Progress
) -> BacktestAnswer:
    """Replay the newest days of the store's history.

    Args:
        workspace: settings and store.
        options: what to replay and to write.
        now_seconds: Unix time, for the report.
        progress: told of what is under way.

    Raises:
        BadInput: an unknown model or pool, too little history, or a file that cannot be written.
    """
    models = models_named(options.models or tuple(MODELS))
    panel = workspace.panel(options.pool)
    context = workspace.context(panel.step_seconds)
    replays = replays_with(workspace.fan_out)
    result = backtest(panel, models, context, options.days, progress, replays=replays)
    scored = scores(result)
    if options.forecasts:
        write_forecasts(result, options.forecasts)
    if options.report:
        write_report(options.report, result, scored, now_seconds)
    return BacktestAnswer(
        tested=_tested(result),
        scores=[score_shape(score) for score in scored],
        report=str(options.report) if options.report else None,
        forecasts=str(options.forecasts) if options.forecasts else None,
        warnings=workspace.calendar_warnings(panel),
    )


def write_report(
    path: Path,
    result: BacktestResult,
    scored: Sequence[PoolScore],
    now_seconds: int,
    upcoming: Sequence[tuple[DemandSeries, Forecast]] = (),
) -> None:
    """Write the page with the plots.

    Raises:
        BadInput: the file cannot be written.
    """
    made_at = datetime.fromtimestamp(now_seconds, tz=UTC)
    page = backtest_report(result, scored, "Tidecast backtest", made_at, upcoming)
    with replacing(path) as part:
        part.write_text(page, encoding="utf-8")


def score_shape(score: PoolScore) -> ScoreOfModel:
    """A score as it is printed."""
    return ScoreOfModel(
        pool=str(score.pool),
        model_name=score.model,
        origins=score.origins,
        peak_pinball_gpus=_by_level(score.pinball),
        peak_pinball_ratio=_by_level(score.pinball_ratio),
        peak_coverage=_by_level(score.coverage),
        peak_coverage_below=_by_level(score.coverage_below),
        wql=_known(score.wql),
        wql_ratio=_known(score.wql_ratio),
        mae_gpus=_known(score.mae_gpus),
    )


def _tested(result: BacktestResult) -> Span:
    first, last = result.panel.seconds_at(result.origins[[0, -1]])
    return Span(start_seconds=int(first), end_seconds=int(last) + result.panel.step_seconds)


def _by_level(values: Mapping[float, float]) -> MaybeByLevel:
    return {f"{level:g}": _known(value) for level, value in values.items()}


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None
