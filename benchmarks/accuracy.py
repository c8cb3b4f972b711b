"""How good the champion is on job tables and demand tables, as the tables of docs/results.md.

    python -m benchmarks.accuracy [--days 14] [--models combined,...] TRACE...

A TRACE is `name;file;since;until[;gpu_type_column]` for a job table, or
`name;file;pools=column,column[;until]` for a wide demand table. Pools with a mean demand of 8 GPUs
or less are left out. Everything is judged against the better of the two yardsticks, per pool and
level.
"""

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from features.calendar import CalendarSettings, ClusterCalendar
from features.events import NoKnownEvents
from features.panel import DemandPanel
from features.series import DemandSeries
from features.sources.demand_table import DemandTable
from features.sources.job_table import JobTable
from models.backtest import BacktestResult, backtest, scores
from models.bootstrap import ratio_intervals
from models.forecast import QUANTILE_LEVELS, Horizon
from models.protocol import Context
from models.scores import PoolScore
from models.zoo import models_named

LEAST_MEAN_GPUS = 8.0
SHOWN = (0.5, 0.75, 0.9, 0.95, 0.99)
QUARTERS = 4


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table per trace."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("traces", nargs="+")
    parser.add_argument("--days", type=float, default=14)
    parser.add_argument("--models", default="combined")
    parser.add_argument("--by-day", action="store_true", help="also print each day's coverage")
    chosen = parser.parse_args(arguments)
    for trace in chosen.traces:
        name, series = _read(trace)
        panel = DemandPanel.of(series)
        context = Context(
            Horizon.of(panel.step_seconds), ClusterCalendar(CalendarSettings()), NoKnownEvents()
        )
        names = chosen.models.split(",")
        result = backtest(panel, models_named(names), context, chosen.days, _progress)
        for model in names:
            _print_trace(name, model, result)
            if chosen.by_day:
                _print_days(model, result)


def _progress(model: str, done: int, of: int) -> None:
    if done == of:
        print(f"  {model} done", file=sys.stderr)


def _print_trace(name: str, model: str, result: BacktestResult) -> None:
    own = [one for one in scores(result) if one.model == model]
    head = " | ".join(f"{level:g}" for level in SHOWN)
    print(f"\n**{name}, {model}**\n")
    print(f"| pool | {head} | path WQL | covered 0.75 | 0.9 | 0.95 | 0.99 | worst quarter |")
    print("| --- |" + " --- |" * (len(SHOWN) + 6))
    for index, one in enumerate(own):
        ratios = " | ".join(f"{one.pinball_ratio[level]:.3f}" for level in SHOWN)
        covered = " | ".join(
            f"{one.coverage[level]:.3f} / {one.coverage_below[level]:.3f}"
            for level in (0.75, 0.9, 0.95, 0.99)
        )
        worst = _worst_quarter(result, model, index)
        print(f"| {one.pool} | {ratios} | {one.wql_ratio:.3f} | {covered} | {worst:+.3f} |")
    intervals = ratio_intervals(result, model)
    means = " | ".join(str(intervals[level]) for level in SHOWN)
    print(f"| **geometric mean** | {means} | {_mean([one.wql_ratio for one in own]):.3f} |||||||")
    print(f"| **worst pool** | {_worst(own)} | {max(one.wql_ratio for one in own):.3f} |||||||")


def _print_days(model: str, result: BacktestResult) -> None:
    """Coverage and width day by day, to see what a lasting change of the level does."""
    days = result.panel.seconds_at(result.origins) // 86_400
    chosen = [QUANTILE_LEVELS.index(level) for level in (0.75, 0.9, 0.95)]
    print("\n| pool | day | mean demand | covered 0.75 | 0.9 | 0.95 | median rise at 0.9 |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for index, pool in enumerate(result.panel.pools):
        came, peak = result.actual_peak[index], result.forecasts[model].peak[index]
        for day in np.unique(days):
            here = (days == day) & np.isfinite(came + peak[:, 0])
            now, said, was = result.now_gpus[index][here], peak[here], came[here]
            covered = " | ".join(
                f"{np.mean(was <= said[:, level]):.2f} / {np.mean(was < said[:, level]):.2f}"
                for level in chosen
            )
            rise = np.median(said[:, chosen[1]] - now)
            text = np.datetime64(int(day), "D")
            print(f"| {pool} | {text} | {np.mean(now):.0f} | {covered} | {rise:.0f} |")


def _worst(own: list[PoolScore]) -> str:
    return " | ".join(f"{max(one.pinball_ratio[level] for one in own):.3f}" for level in SHOWN)


def _worst_quarter(result: BacktestResult, model: str, pool: int) -> float:
    """The largest miss of coverage, either side, in any quarter of the day at 0.75 to 0.95."""
    seconds = result.panel.seconds_at(result.origins) % 86_400
    peak, came = result.forecasts[model].peak[pool], result.actual_peak[pool]
    worst = 0.0
    for quarter in range(QUARTERS):
        here = np.isfinite(came + peak[:, 0]) & (seconds * QUARTERS // 86_400 == quarter)
        for level in (0.75, 0.9, 0.95):
            said = peak[here, QUANTILE_LEVELS.index(level)]
            under = level - np.mean(came[here] <= said)
            over = np.mean(came[here] < said) - level
            worst = max(worst, under, over)
    return worst


def _mean(ratios: list[float]) -> float:
    return float(np.exp(np.mean(np.log(ratios))))


def _read(trace: str) -> tuple[str, list[DemandSeries]]:
    name, file, *rest = trace.split(";")
    if rest and rest[0].startswith("pools="):
        columns = tuple(rest[0].removeprefix("pools=").split(","))
        until = int(rest[1]) if len(rest) > 1 else None
        return name, list(DemandTable(Path(file), columns, until_seconds=until).history().series)
    since, until_text, *column = rest
    table = JobTable(
        Path(file),
        gpu_type_column=column[0] if column else "gpu_type",
        since_seconds=_seconds(since),
        until_seconds=_seconds(until_text),
    )
    series = table.history(300).series
    return name, [one for one in series if np.nanmean(one.demand_gpus) > LEAST_MEAN_GPUS]


def _seconds(day: str) -> int:
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp())


if __name__ == "__main__":
    main()
