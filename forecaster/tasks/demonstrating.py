"""The whole way on a made-up cluster: import, train, forecast, backtest, report.

It goes through the same tasks as everything else; only the jobs are made up. What it writes stays
in a data directory of its own.
"""

import shutil
from pathlib import Path

from features.baselines import DAY_SECONDS
from features.sources.job_table import JobTable
from forecaster.demo_cluster import (
    DEMO_DAYS,
    DEMO_END_SECONDS,
    demo_calendar,
    demo_jobs,
    demo_outage,
    with_outage,
)
from forecaster.files import replacing
from forecaster.json_shapes import DemoAnswer
from forecaster.settings.groups import CalendarGroup
from forecaster.settings.prometheus import PrometheusSettings
from forecaster.settings.training import MlflowSettings
from forecaster.tasks.backtesting import score_shape, write_report
from forecaster.tasks.forecasting import ForecastOptions, make_forecasts, shape_of
from forecaster.tasks.training import train_models
from forecaster.wiring import Workspace
from models.backtest import Progress, backtest, scores
from models.forecast import Forecast
from models.zoo import models_named

DEMO_DIRECTORY = "demo"
REPORT_NAME = "report.html"
REPLAYED_DAYS = 3
REPLAYED_MODELS = ("seasonal-naive", "periodic-regression", "combined")


def demo_workspace(config: Path | None) -> Workspace:
    """The user's settings, with the demo's own data directory and calendar.

    Raises:
        BadInput: the settings are wrong.
    """
    settings = Workspace.open(config).settings
    calendar = demo_calendar()
    changes = {
        "data_directory": settings.data_directory / DEMO_DIRECTORY,
        "prometheus": PrometheusSettings(),
        "mlflow": MlflowSettings(enabled=False),
        "calendar": CalendarGroup(time_zone=calendar.time_zone, countries=calendar.countries),
    }
    return Workspace(settings.model_copy(update=changes))


def demonstrate(
    workspace: Workspace, seed: int, report: Path | None, now_seconds: int, progress: Progress
) -> DemoAnswer:
    """Make up a cluster, learn from it, forecast, and keep score.

    Args:
        workspace: the demo's own.
        seed: another seed makes another cluster.
        report: where the report goes; into the data directory if None.
        now_seconds: Unix time, for versions and the report.
        progress: told of each stage.

    Raises:
        BadInput: something cannot be written.
    """
    progress("making up 35 days of a cluster", 0, 1)
    _import_made_up_jobs(workspace, seed)
    model = workspace.settings.forecast.model
    progress("training", 0, 1)
    train_models(workspace, [model], now_seconds, lambda *_: None)
    made = make_forecasts(workspace, ForecastOptions(), now_seconds)
    panel = made.panel
    context = workspace.context(panel.step_seconds)
    result = backtest(panel, models_named(REPLAYED_MODELS), context, REPLAYED_DAYS, progress)
    scored = scores(result)
    upcoming = [
        (series, forecast)
        for series in workspace.store.series()
        if isinstance(forecast := made.by_pool[series.pool], Forecast)
    ]
    progress("writing the report", 0, 1)
    place = report or workspace.settings.data_directory / REPORT_NAME
    write_report(place, result, scored, now_seconds, upcoming)
    return DemoAnswer(
        data_directory=str(workspace.settings.data_directory),
        forecasts=[shape_of(pool, made.by_pool[pool]) for pool in sorted(made.by_pool)],
        scores=[score_shape(score) for score in scored],
        report=str(place),
    )


def _import_made_up_jobs(workspace: Workspace, seed: int) -> None:
    """Begin anew with the made-up jobs, less what a scrape outage would have hidden."""
    for directory in (workspace.history_directory, workspace.models_directory):
        shutil.rmtree(directory, ignore_errors=True)
    jobs = workspace.settings.data_directory / "jobs.csv"
    with replacing(jobs) as part:
        demo_jobs(seed, DEMO_END_SECONDS).to_csv(part, index=False)
    table = JobTable(
        jobs,
        since_seconds=DEMO_END_SECONDS - DEMO_DAYS * DAY_SECONDS,
        until_seconds=DEMO_END_SECONDS,
    )
    answer = table.history(workspace.settings.history.step_seconds)
    outage = demo_outage(DEMO_END_SECONDS)
    workspace.store.import_series([with_outage(series, *outage) for series in answer.series])
